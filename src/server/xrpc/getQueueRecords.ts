import { type HandlerContext, InvalidRequestError } from '@atproto/xrpc-server'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { repoNotFound } from '../../queue/words/refusals.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import { answerHeaders } from './front.ts'
import { refused, withDid } from './queries.ts'
import { createRecordSnapshots, type Snapshot } from './record-snapshots.ts'

const LIMIT = 500
/** Where a page ends before its limit, in characters: bodies of pulls may be long. */
const PAGE = 4 * 2 ** 20

/**
 * dev.knotless.getQueueRecords: what the index has about a repository, for runners (NOT-1). Who has the present version already is answered without
 * its records being read.
 */
export function getQueueRecords(ctx: Context) {
  const snapshots = createRecordSnapshots(ctx.database)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.getQueueRecords'),
    async handler({ params }: HandlerContext<Caller, knotless.getQueueRecords.$Params>) {
      const { repo: asked, since, limit = LIMIT, cursor } = params
      const repo = (await withDid(ctx, asked)) ?? ''
      const version = snapshots.versionOf(repo)
      if (version !== undefined && version === since) return answer(JSON.stringify({ version, unchanged: true, records: [] }))
      const from = cursor === undefined ? 0 : placeIn(cursor, version)
      const snapshot = snapshots.of(repo)
      if (snapshot === undefined) throw refused(repoNotFound(asked.split('/').at(-1) ?? asked), ctx.now(), () => undefined)
      return answer(pageOf(snapshot, from, limit))
    },
  }
}

function answer(text: string) {
  return { encoding: 'application/json' as const, buffer: Buffer.from(text), headers: answerHeaders }
}

/** Where a page of the present version starts. Throws for a cursor of another one. */
function placeIn(cursor: string, version: string | undefined): number {
  const [, of, at] = /^([\w-]+)\.(\d{1,9})$/.exec(cursor) ?? []
  if (of !== undefined && of === version) return Number(at)
  throw new InvalidRequestError('The cursor is of a version that is no longer the present one: begin again.', 'VersionChanged')
}

/** A page as JSON; its records are JSON already. */
function pageOf({ version, records, gone, issues }: Snapshot, from: number, limit: number): string {
  let end = from
  for (let size = 0; end < Math.min(from + limit, records.length); end++) {
    size += records[end]?.length ?? 0
    if (size > PAGE && end > from) break
  }
  const cursor = end < records.length ? { cursor: `${version}.${end}` } : {}
  const open = from === 0 ? { issues: issues.map(uri => ({ uri })) } : {}
  const rest = JSON.stringify({ version, gone: gone.map(did => ({ did })), ...open, ...cursor })
  return `{"records":[${records.slice(from, end).join(',')}],${rest.slice(1)}`
}
