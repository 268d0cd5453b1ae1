import { type Did, parseTid } from '../../atproto/ids.ts'
import type { WriteFailure } from '../../atproto/write-outcome.ts'
import { createWriter } from '../../atproto/writer.ts'
import type { QueueRecord } from '../../queue/facts.ts'
import { keysToExceed } from '../../queue/keys-to-exceed.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { Act, Refusal } from '../../queue/words/refusals.ts'
import * as refusals from '../../queue/words/refusals.ts'
import type { ActionContext } from './context.ts'

/** `log-in`: the caller's grant is gone, so that they have to log in again. */
export type WriteOutcome = { ok: true; uri: string } | { ok: false; refusal: Refusal } | { ok: false; refusal?: undefined; why: 'log-in' }

/** What goes into the record; its key, type and date come here. */
export type Entry = Omit<QueueRecord, '$type' | 'createdAt'>

interface Asked {
  act: Act
  caller: Did
  view: RepositoryView
  entry: Entry
  /** The branch whose queue it joins: its key goes past all of that queue's (REC-7). */
  branch?: string | undefined
}

/**
 * Writes a queue record into the caller's own account under a key past every one read (REC-7), and into the index at once. The key is chosen
 * before the first try and kept, so that a write whose answer was lost is settled by reading and made once (STO-7).
 */
export async function writeEntry(ctx: ActionContext, asked: Asked): Promise<WriteOutcome> {
  const { act, caller, view, entry, branch } = asked
  const session = await ctx.restore(caller)
  if (session === undefined) return { ok: false, why: 'log-in' }
  const writer = createWriter({ session, now: ctx.now })
  const rkey = ctx.tids.next(parseTid(keysToExceed(view, entry.subject, branch)))
  const record = { $type: 'dev.knotless.queue', ...entry, createdAt: new Date(ctx.now()).toISOString() }
  const collection = 'dev.knotless.queue'
  const written = await writer.createRecord({ collection, rkey, record })
  if (!written.ok) return failed(ctx, act, caller, written)
  const rev = written.rev ?? (await revNow(ctx, caller))
  if (rev !== undefined) await ctx.indexOwnWrite({ did: caller, collection, rkey, cid: written.cid, rev, record })
  return { ok: true, uri: `at://${caller}/${collection}/${rkey}` }
}

/** Where the account is now; undefined when that cannot be told: the stream brings the record all the same. */
async function revNow(ctx: ActionContext, did: Did): Promise<string | undefined> {
  try {
    return (await ctx.reader.getLatestCommit(did))?.rev
  } catch {
    return undefined
  }
}

async function failed(ctx: ActionContext, act: Act, caller: Did, failure: WriteFailure): Promise<WriteOutcome> {
  if (failure.code === 'session-gone' || failure.code === 'scope-missing') return { ok: false, why: 'log-in' }
  const server = await hostOf(ctx, caller)
  if (failure.code === 'clock') return { ok: false, refusal: refusals.clockApart(act, server, (await skewOf(ctx, caller)) ?? 60_000) }
  if (failure.code === 'rate-limited') return { ok: false, refusal: refusals.rateLimited((failure.retryAfter ?? 60) * 1000) }
  const how = failure.code === 'refused' ? 'refused' : 'silent'
  return { ok: false, refusal: refusals.upstreamFailed(act, server, how, failure.settled) }
}

async function hostOf(ctx: ActionContext, did: Did): Promise<string> {
  try {
    return (await ctx.serverOf(did)) ?? 'your account’s server'
  } catch {
    return 'your account’s server'
  }
}

async function skewOf(ctx: ActionContext, did: Did): Promise<number | undefined> {
  try {
    return await ctx.reader.clockSkew(did)
  } catch {
    return undefined
  }
}
