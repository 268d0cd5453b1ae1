import { isDeepStrictEqual } from 'node:util'
import { type Did, parseTid } from '../../atproto/ids.ts'
import type { AccountSession } from '../../atproto/session.ts'
import type { WriteFailure } from '../../atproto/write-outcome.ts'
import { createWriter } from '../../atproto/writer.ts'
import { keysToExceed } from '../../queue/keys-to-exceed.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { Act, Refusal } from '../../queue/words/refusals.ts'
import * as refusals from '../../queue/words/refusals.ts'
import type { ActionContext } from './context.ts'
import { serverName } from './server-name.ts'
import type { Entry, Unsettled } from './unsettled.ts'

/**
 * `log-in`: the caller's grant is gone, or lacks what every log-in gives, so that they have to log in again; `no-right`: it lacks a right that is asked
 * for when it is first needed.
 */
export type WriteOutcome =
  | { ok: true; uri: string }
  | { ok: false; refusal: Refusal }
  | { ok: false; refusal?: undefined; why: 'log-in' | 'no-right' }

export type NotWritten = Exclude<WriteOutcome, { ok: true }>

interface Asked {
  act: Act
  /** Queue records when absent. */
  collection?: 'dev.knotless.queue' | 'dev.knotless.state'
  caller: Did
  view: RepositoryView
  entry: Entry
  /** The branch whose queue it joins: its key goes past all of that queue's (REC-7). */
  branch?: string | undefined
}

/**
 * Writes a queue or state record into the caller's own account under a key past every one read (REC-7), and into the index at once. The key is chosen
 * before the first try and kept, so that a write whose answer was lost is settled by reading and made once (STO-7).
 */
export async function writeEntry(ctx: ActionContext, asked: Asked): Promise<WriteOutcome> {
  const { act, caller, view, entry, branch, collection = 'dev.knotless.queue' } = asked
  const session = await restoreFor(ctx, act, caller)
  if (!('fetchHandler' in session)) return session
  const writer = createWriter({ session, now: ctx.now })
  const about = `${collection} ${caller} ${entry.subject}`
  const earlier = again(ctx.unsettled.get(about), asked)
  const attempt = earlier ?? {
    rkey: ctx.tids.next(parseTid(keysToExceed(view, entry.subject, branch))),
    entry,
    createdAt: new Date(ctx.now()).toISOString(),
  }
  const { rkey } = attempt
  const record = { $type: collection, ...attempt.entry, createdAt: attempt.createdAt }
  const written = await writer.createRecord({ collection, rkey, record })
  // That this try wrote nothing does not settle an earlier one, which may still be under way.
  const settled = written.ok || written.code === 'key-taken' || (written.settled && earlier === undefined)
  if (settled) ctx.unsettled.delete(about)
  else ctx.unsettled.set(about, attempt)
  if (!written.ok && written.code === 'scope-missing' && collection !== 'dev.knotless.queue') return { ok: false, why: 'no-right' }
  if (!written.ok) return failedWrite(ctx, act, caller, { ...written, settled })
  const rev = written.rev ?? (await revNow(ctx, caller))
  if (rev !== undefined) await ctx.indexOwnWrite({ did: caller, collection, rkey, cid: written.cid, rev, record })
  return { ok: true, uri: `at://${caller}/${collection}/${rkey}` }
}

/** The right to write as the caller; or that they have to log in, or that their server, which renews it, cannot be had now. */
export async function restoreFor(ctx: ActionContext, act: Act, caller: Did): Promise<AccountSession | NotWritten> {
  try {
    return (await ctx.restore(caller)) ?? { ok: false, why: 'log-in' }
  } catch {
    return { ok: false, refusal: refusals.upstreamFailed(act, await serverName(ctx, caller, yours), 'unclear', true) }
  }
}

/** An earlier try of the same that nothing is known of, as long as its key still lies past every other (REC-7). */
function again(before: Unsettled | undefined, { view, entry, branch }: Asked): Unsettled | undefined {
  if (before === undefined || before.rkey <= (keysToExceed(view, entry.subject, branch) ?? '')) return undefined
  return isDeepStrictEqual(before.entry, entry) ? before : undefined
}

/** Where the account is now; undefined when that cannot be told: the stream brings the record all the same. */
export async function revNow(ctx: ActionContext, did: Did): Promise<string | undefined> {
  try {
    return (await ctx.reader.getLatestCommit(did))?.rev
  } catch {
    return undefined
  }
}

const yours = 'your account’s server'

/** A write that failed, for people. */
export async function failedWrite(ctx: ActionContext, act: Act, caller: Did, failure: WriteFailure): Promise<NotWritten> {
  if (failure.code === 'session-gone' || failure.code === 'scope-missing') return { ok: false, why: 'log-in' }
  if (failure.code === 'rate-limited') return { ok: false, refusal: refusals.rateLimited((failure.retryAfter ?? 60) * 1000) }
  const server = await serverName(ctx, caller, yours)
  if (failure.code === 'clock') return { ok: false, refusal: refusals.clockApart(act, server, (await skewOf(ctx, caller)) ?? 60_000) }
  const how = failure.code === 'refused' ? 'refused' : 'unclear'
  return { ok: false, refusal: refusals.upstreamFailed(act, server, how, failure.settled) }
}

async function skewOf(ctx: ActionContext, did: Did): Promise<number | undefined> {
  try {
    return await ctx.reader.clockSkew(did)
  } catch {
    return undefined
  }
}
