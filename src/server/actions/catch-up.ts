import { parseAtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { recordAt } from '../../indexer/read.ts'
import type { PullView } from '../../queue/view.ts'
import type { ActionContext } from './context.ts'

/**
 * Indexes what decides a pull's place and was read fresh where the stream has not brought it yet, so that the page agrees with the answer. A source
 * that does not answer adds nothing: the stream brings the record in its time.
 */
export async function catchUp(ctx: ActionContext, pull: PullView): Promise<void> {
  for (const record of [pull.lastQueue, pull.stateRecord]) {
    const known = record === undefined ? undefined : recordAt(ctx.database, record.uri)
    if (record !== undefined && known?.cid !== record.cid) await take(ctx, record.uri)
  }
}

/** The account's revision is read before the record: what is deleted in between is deleted by a later one. */
async function take(ctx: ActionContext, uri: string): Promise<void> {
  const address = parseAtUri(uri)
  if (address === undefined) return
  const { did, collection, rkey } = address
  try {
    const commit = await ctx.reader.getLatestCommit(did)
    const read = await ctx.reader.getRecord(did, collection, rkey)
    if (commit === undefined || read === undefined) return
    await ctx.indexOwnWrite({ did, collection, rkey, cid: read.cid, rev: commit.rev, record: read.value })
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
  }
}
