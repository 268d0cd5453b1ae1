import { isLexMap, type LexMap } from '@atproto/lex-data'
import { type AtUri, type Did, parseAtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { createWriter } from '../../atproto/writer.ts'
import { pullChanged } from '../../queue/words/changing.ts'
import * as refusals from '../../queue/words/refusals.ts'
import type { ActionContext } from './context.ts'
import { upstreamFault } from './upstream-fault.ts'
import { failedWrite, type NotWritten, restoreFor, revNow, type WriteOutcome } from './write-record.ts'

interface Asked {
  act: 'ready' | 'draft'
  pull: AtUri
  /** The pull's author. */
  caller: Did
}

/** How often the record is read again when something else edited it in between. */
const TRIES = 3

/** Edits the author's own pull record, all else in it as it stands there (STO-6), and the index at once. */
export async function writeDraft(ctx: ActionContext, asked: Asked): Promise<WriteOutcome> {
  const { act, pull, caller } = asked
  const address = parseAtUri(pull)
  if (address === undefined) return { ok: false, refusal: refusals.pullNotFound() }
  const session = await restoreFor(ctx, act, caller)
  if (!('fetchHandler' in session)) return session
  const writer = createWriter({ session, now: ctx.now })
  const { collection, rkey } = address
  for (let tries = 0; tries < TRIES; tries++) {
    const read = await readOwn(ctx, asked)
    if ('ok' in read) return read
    const { draft: _, ...rest } = read.value
    const record = act === 'draft' ? { ...rest, draft: true } : rest
    const written = await writer.putRecord({ collection, rkey, record, swapRecord: read.cid })
    if (written.ok) {
      const rev = written.rev ?? (await revNow(ctx, caller))
      if (rev !== undefined) await ctx.indexOwnWrite({ did: caller, collection, rkey, cid: written.cid, rev, record })
      return { ok: true, uri: pull }
    }
    if (written.code === 'scope-missing') return { ok: false, why: 'no-right' }
    if (written.code !== 'swap-lost') return failedWrite(ctx, act, caller, written)
  }
  return { ok: false, refusal: pullChanged(act) }
}

/** The record as it stands at its source, fields that nobody here knows included. */
async function readOwn(ctx: ActionContext, { act, pull }: Asked): Promise<{ cid: string; value: LexMap } | NotWritten> {
  const address = parseAtUri(pull)
  try {
    const read = address && (await ctx.reader.getRecord(address.did, address.collection, address.rkey))
    const value = isLexMap(read?.value) ? read.value : undefined
    return read === undefined || value === undefined ? { ok: false, refusal: refusals.pullNotFound() } : { cid: read.cid, value }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return { ok: false, refusal: refusals.upstreamFailed(act, error.host, upstreamFault(error), true) }
  }
}
