/** This account's own checks, as its server has them now. */
import { readUsable } from '../../indexer/sources/read-about.ts'
import type { CheckRecord, Stored } from '../../queue/facts.ts'
import type { RunnerContext } from '../context.ts'
import { checks, ofCheck } from './saver.ts'

const page = 100

type OwnContext = Pick<RunnerContext, 'did' | 'reader' | 'now'>

/**
 * Own checks in the order of their keys, up to `max` records read; with `prefix` those whose keys start so. Records that are no checks are passed
 * over. `whole` is false when there may be more. Rejects with an UpstreamError where the server does not answer.
 */
export async function readOwnChecks(
  ctx: OwnContext,
  { prefix, max }: { prefix?: string | undefined; max: number },
): Promise<{ found: Stored<CheckRecord>[]; whole: boolean }> {
  const found: Stored<CheckRecord>[] = []
  let cursor = prefix
  for (let read = 0; read < max; ) {
    const limit = Math.min(page, max - read)
    const answer = await ctx.reader.listRecords(ctx.did, checks, { limit, reverse: true, ...(cursor === undefined ? {} : { cursor }) })
    for (const record of answer.records) {
      read++
      if (prefix !== undefined && !record.rkey.startsWith(prefix)) {
        if (record.rkey > prefix) return { found, whole: true }
        continue
      }
      const check = readUsable(record, ofCheck, ctx.now())
      if (check !== undefined) found.push(check)
    }
    if (answer.cursor === undefined || answer.cursor === cursor || answer.records.length === 0) return { found, whole: true }
    cursor = answer.cursor
  }
  return { found, whole: false }
}
