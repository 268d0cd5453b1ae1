import { type Did, parseTid } from '../../atproto/ids.ts'
import type { AccountSession } from '../../atproto/session.ts'
import type { WriteFailure } from '../../atproto/write-outcome.ts'
import { createWriter } from '../../atproto/writer.ts'
import type { QueueRecord } from '../../queue/facts.ts'
import { keysToExceed } from '../../queue/keys-to-exceed.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { Act, Refusal } from '../../queue/words/refusals.ts'
import * as refusals from '../../queue/words/refusals.ts'
import type { ActionContext } from './context.ts'
import { serverName } from './server-name.ts'
import type { Unsettled } from './unsettled.ts'

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
  const session = await restore(ctx, act, caller)
  if (!('fetchHandler' in session)) return session
  const writer = createWriter({ session, now: ctx.now })
  const about = `${caller} ${entry.subject}`
  const earlier = again(ctx.unsettled.get(about), asked)
  const attempt = earlier ?? {
    rkey: ctx.tids.next(parseTid(keysToExceed(view, entry.subject, branch))),
    record: { $type: 'dev.knotless.queue', ...entry, createdAt: new Date(ctx.now()).toISOString() },
  }
  const { rkey, record } = attempt
  const collection = 'dev.knotless.queue'
  const written = await writer.createRecord({ collection, rkey, record })
  // That this try wrote nothing does not settle an earlier one, which may still be under way.
  const settled = written.ok || written.code === 'key-taken' || (written.settled && earlier === undefined)
  if (settled) ctx.unsettled.delete(about)
  else ctx.unsettled.set(about, attempt)
  if (!written.ok) return failed(ctx, act, caller, { ...written, settled })
  const rev = written.rev ?? (await revNow(ctx, caller))
  if (rev !== undefined) await ctx.indexOwnWrite({ did: caller, collection, rkey, cid: written.cid, rev, record })
  return { ok: true, uri: `at://${caller}/${collection}/${rkey}` }
}

/** The right to write as the caller; or that they have to log in, or that their server, which renews it, cannot be had now. */
async function restore(ctx: ActionContext, act: Act, caller: Did): Promise<AccountSession | Exclude<WriteOutcome, { ok: true }>> {
  try {
    return (await ctx.restore(caller)) ?? { ok: false, why: 'log-in' }
  } catch {
    return { ok: false, refusal: refusals.upstreamFailed(act, await serverName(ctx, caller, yours), 'unclear', true) }
  }
}

/** An earlier try of the same that nothing is known of, as long as its key still lies past every other (REC-7). */
function again(before: Unsettled | undefined, { view, entry, branch }: Asked): Unsettled | undefined {
  if (before === undefined || before.rkey <= (keysToExceed(view, entry.subject, branch) ?? '')) return undefined
  const { record } = before
  const same = (['repo', 'subject', 'state', 'head', 'branch', 'ends'] as const).every(field => record[field] === entry[field])
  return same ? before : undefined
}

/** Where the account is now; undefined when that cannot be told: the stream brings the record all the same. */
async function revNow(ctx: ActionContext, did: Did): Promise<string | undefined> {
  try {
    return (await ctx.reader.getLatestCommit(did))?.rev
  } catch {
    return undefined
  }
}

const yours = 'your account’s server'

async function failed(ctx: ActionContext, act: Act, caller: Did, failure: WriteFailure): Promise<WriteOutcome> {
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
