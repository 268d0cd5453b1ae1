import { type AtUri, type Did, parseDid } from '../../atproto/ids.ts'
import { mayPass } from '../../indexer/read.ts'
import { headRepoOf, judgeQueue } from '../../queue/admission.ts'
import type { MergeResult } from '../../queue/facts.ts'
import { placeOf } from '../../queue/places.ts'
import type { PullView } from '../../queue/view.ts'
import type { Refusal } from '../../queue/words/refusals.ts'
import * as refusals from '../../queue/words/refusals.ts'
import { catchUp } from './catch-up.ts'
import type { ActionContext, NotMerged } from './context.ts'
import { type Fresh, readFresh } from './fresh.ts'
import { serverName } from './server-name.ts'
import { type NotWritten, writeEntry } from './write-record.ts'

/** `position` of `length`, counted from 1 (ADM-9). `already`: it was queued before and nothing was written (ADM-4). */
export type Queued = { ok: true; branch: string; position: number; length: number; already: boolean } | NotWritten

export interface Asked {
  pull: AtUri
  caller: Did
  /** The head that the caller saw: a pull that moved since is not queued unseen. */
  head?: string | undefined
}

/**
 * Puts a pull into its branch's queue, as `caller`: ADM-1 to ADM-7 and ADM-10 over fresh reads, then one record in the caller's own account. Answers with the
 * place at once (ADM-9). Two calls for one pull by one account run one after the other, so that the second finds it queued.
 */
export function queuePull(ctx: ActionContext, input: Asked): Promise<Queued> {
  return ctx.locks.run(`${input.caller} ${input.pull}`, () => queue(ctx, input))
}

async function queue(ctx: ActionContext, { pull, caller, head }: Asked): Promise<Queued> {
  const fresh = await readFresh(ctx, { act: 'queue', pull, caller })
  if (!fresh.ok) return fresh
  const { view } = fresh
  const question = { view, pull, caller, gateway: ctx.gatewayOf(view.roles.owner) }
  // Whoever is refused anyway costs no merge.
  const early = judgeQueue(question)
  if (!early.ok) await catchUp(ctx, fresh.pull)
  if (!early.ok && early.already !== undefined) {
    const { branch, position, length } = early.already
    return { ok: true, branch, position, length, already: true }
  }
  if (!early.ok) return { ok: false, refusal: early.refusal }
  const present = fresh.pull.head
  if (head !== undefined && present !== undefined && head !== present) return { ok: false, refusal: refusals.headMoved('queue', present) }
  const looked = await lookAtMerge(ctx, fresh, pull)
  if (!looked.ok) return looked
  const judged = judgeQueue({ ...question, merge: looked.merge })
  if (!judged.ok) return { ok: false, refusal: judged.refusal }

  const { branch } = fresh.pull
  const entry = { repo: fresh.pull.pull.value.repo, subject: pull, state: 'queued', head: looked.merge.head, branch }
  const written = await writeEntry(ctx, { act: 'queue', caller, view, entry, branch })
  if (!written.ok) return written
  return { ok: true, branch, ...placeNow(ctx, fresh.pull, judged), already: false }
}

/** ADM-5 needs to know where branch and head are: what cannot be told is refused, since such a pull could only be ejected. */
async function lookAtMerge(
  ctx: ActionContext,
  fresh: Fresh,
  pull: AtUri,
): Promise<{ ok: true; merge: MergeResult } | { ok: false; refusal: Refusal }> {
  const { view, target, source } = fresh
  const { branch, head, pull: record } = fresh.pull
  const repo = { owner: view.roles.owner, name: view.name }
  const tip = view.branches.get(branch)?.tip
  if (tip === undefined || target === undefined) return { ok: false, refusal: refusals.branchNotFound(repo, branch, []) }
  const headRepo = headRepoOf(view, fresh.pull)
  if (head === undefined || source === undefined)
    return { ok: false, refusal: refusals.headGone('queue', record.value.head.branch, headRepo) }
  const looked = await ctx.lookAtMerge({ pull, tip, target, head, source })
  return looked.ok ? looked : { ok: false, refusal: await notMerged(ctx, looked, { branch, repo, headRepo }) }
}

/** A server that does not give its packs is named; what was read and does not do is said with what is wrong. */
async function notMerged(
  ctx: ActionContext,
  fault: NotMerged,
  at: { branch: string; repo: { owner: string; name: string }; headRepo: { owner: string; name: string } },
): Promise<Refusal> {
  const repo = fault.of === 'head' ? at.headRepo : at.repo
  if (fault.of === 'merge' || (fault.code !== 'upstream-failed' && fault.code !== 'rate-limited')) {
    return refusals.notMergeable('queue', { ...fault, passing: mayPass(fault.code) }, { branch: at.branch, repo })
  }
  const server = await serverName(ctx, parseDid(repo.owner), 'the account’s server')
  return refusals.upstreamFailed('queue', server, 'unclear', true)
}

/** The place as the index has it now, with the record just written; as judged when the index has not taken it yet. */
function placeNow(ctx: ActionContext, pull: PullView, judged: { position: number; length: number }) {
  const view = ctx.repositories.viewOf(pull.pull.value.repo)?.view
  const now = view?.pulls.get(pull.pull.uri)
  const place = view === undefined || now === undefined ? undefined : placeOf(view, now)
  return place === undefined ? { position: judged.position, length: judged.length } : { position: place.position, length: place.length }
}
