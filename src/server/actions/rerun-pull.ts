import { LRUCache } from 'lru-cache'
import { type AtUri, type Did, makeAtUri, parseAtUri, type RecordKey } from '../../atproto/ids.ts'
import type { WriteFailure } from '../../atproto/write-outcome.ts'
import { createWriter } from '../../atproto/writer.ts'
import type { RepositoryView } from '../../queue/view.ts'
import * as refusals from '../../queue/words/refusals.ts'
import { noRunnerToAsk } from '../../queue/words/rerun.ts'
import type { ActionContext } from './context.ts'
import { serverName } from './server-name.ts'

export type Rerun =
  | { ok: true }
  | { ok: false; refusal: refusals.Refusal }
  /** `log-in`: the grant is gone; `no-right`: it does not hold the right to write reruns yet. */
  | { ok: false; refusal?: undefined; why: 'log-in' | 'no-right' }

interface Attempt {
  rkey: RecordKey
  record: { $type: string; repo: AtUri; pull: AtUri; createdAt: string }
  /** When it was written; absent while that is not known. */
  at?: number
}

/** What was asked for lately, by account and pull. */
export type LateReruns = LRUCache<string, Attempt>

export function createLateReruns(): LateReruns {
  return new LRUCache({ max: 10_000, ttl: 60 * 60_000 })
}

/** A second click within this time asks for the same. */
const SAME_MS = 10_000
const collection = 'dev.knotless.rerun'

/**
 * RUN-6: asks that a pull's workflows run again, as `caller`, by one record in their own account. Runners read again who asks, so that the index is
 * enough here. The key is kept until it is known what became of the write (STO-7).
 */
export function rerunPull(
  ctx: ActionContext,
  late: LateReruns,
  asked: { view: RepositoryView; pull: AtUri; caller: Did; mayWrite: boolean },
): Promise<Rerun> {
  return ctx.locks.run(`rerun ${asked.caller} ${asked.pull}`, () => rerun(ctx, late, asked))
}

/** Whether a pull's workflows may be asked for again by somebody, as far as the index says. */
export function judgeRerun(
  view: RepositoryView,
  uri: string,
  caller: string | undefined,
): { ok: true } | { ok: false; refusal: refusals.Refusal } {
  const pull = view.pulls.get(uri)
  const { owner, collaborators, runners } = view.roles
  if (pull === undefined) return { ok: false, refusal: refusals.pullNotFound() }
  if (pull.state !== 'open') return { ok: false, refusal: refusals.pullNotOpen('rerun', pull.state) }
  if (runners.length === 0) return { ok: false, refusal: noRunnerToAsk(owner, view.name) }
  if (caller === undefined || !view.roles.mayMerge(caller))
    return { ok: false, refusal: refusals.notAllowed('rerun', [owner, ...collaborators]) }
  return { ok: true }
}

async function rerun(
  ctx: ActionContext,
  late: LateReruns,
  { view, pull, caller, mayWrite }: { view: RepositoryView; pull: AtUri; caller: Did; mayWrite: boolean },
): Promise<Rerun> {
  const judged = judgeRerun(view, pull, caller)
  if (!judged.ok) return judged
  if (!mayWrite) return { ok: false, why: 'no-right' }
  const about = `${caller} ${pull}`
  const before = late.get(about)
  if (before?.at !== undefined && ctx.now() - before.at < SAME_MS) return { ok: true }
  const session = await ctx.restore(caller).catch(() => 'unknown' as const)
  if (session === undefined) return { ok: false, why: 'log-in' }
  if (session === 'unknown') return unclear(ctx, caller, true)
  const home = parseAtUri(view.record.uri)
  if (home === undefined) return { ok: false, refusal: refusals.pullNotFound() }
  const attempt: Attempt =
    before !== undefined && before.at === undefined
      ? before
      : {
          rkey: ctx.tids.next(),
          record: {
            $type: collection,
            repo: makeAtUri(home.did, home.collection, home.rkey),
            pull,
            createdAt: new Date(ctx.now()).toISOString(),
          },
        }
  late.set(about, attempt)
  const { rkey, record } = attempt
  const written = await createWriter({ session, now: ctx.now }).createRecord({ collection, rkey, record })
  if (!written.ok) {
    if (written.settled) late.delete(about)
    return failed(ctx, caller, written)
  }
  late.set(about, { ...attempt, at: ctx.now() })
  if (written.rev !== undefined) await ctx.indexOwnWrite({ did: caller, collection, rkey, cid: written.cid, rev: written.rev, record })
  return { ok: true }
}

async function failed(ctx: ActionContext, caller: Did, failure: WriteFailure): Promise<Rerun> {
  if (failure.code === 'session-gone') return { ok: false, why: 'log-in' }
  if (failure.code === 'scope-missing') return { ok: false, why: 'no-right' }
  if (failure.code === 'rate-limited') return { ok: false, refusal: refusals.rateLimited((failure.retryAfter ?? 60) * 1000) }
  return unclear(ctx, caller, failure.settled, failure.code === 'refused' ? 'refused' : 'unclear')
}

async function unclear(ctx: ActionContext, caller: Did, settled: boolean, how: 'refused' | 'unclear' = 'unclear'): Promise<Rerun> {
  const server = await serverName(ctx, caller, 'your account’s server')
  return { ok: false, refusal: refusals.upstreamFailed('rerun', server, how, settled) }
}
