import type { EventLog } from './log.ts'

/**
 * `com.atproto.sync.listReposByCollection` over the log, as a relay answers it: the accounts that wrote records of a collection, in pages.
 * Gives the HTTP status and the JSON body.
 */
export function listReposByCollection(log: EventLog, params: URLSearchParams): { status: number; body: unknown } {
  const collection = params.get('collection')
  const limit = Number(params.get('limit') ?? 500)
  if (collection === null || collection === '') return invalid('collection is required')
  if (!Number.isInteger(limit) || limit < 1 || limit > 2000) return invalid('limit is 1 to 2000')
  const dids = log.accountsIn(collection, params.get('cursor') ?? '', limit)
  const cursor = dids.length === limit ? { cursor: dids.at(-1) } : {}
  return { status: 200, body: { repos: dids.map(did => ({ did })), ...cursor } }
}

function invalid(message: string): { status: number; body: unknown } {
  return { status: 400, body: { error: 'InvalidRequest', message } }
}
