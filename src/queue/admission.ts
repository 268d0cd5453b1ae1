/** Whether somebody may queue, leave or merge a pull now (ADM, PRO-3, PRO-4), from a view that was folded from fresh reads. */
import type { GatewayFacts } from './asking.ts'
import { failedAtHead } from './at-head.ts'
import { lacksDelegation, namesOther } from './delegated.ts'
import type { CheckRecord, MergeResult, QueueRecord, Stored } from './facts.ts'
import { placeOf } from './places.ts'
import { tidMillis } from './tid.ts'
import type { PullView, RepositoryView } from './view.ts'
import { nothingToLand, wrongGateway } from './words/gateway.ts'
import type { Act, Refusal } from './words/refusals.ts'
import * as refusals from './words/refusals.ts'

export interface AdmissionInput {
  view: RepositoryView
  /** AT-URI of the pull. */
  pull: string
  /** DID of whoever asks; absent for nobody logged in. */
  caller?: string | undefined
  /** The pull merged onto the branch's tip; the view's own result when absent. One of another tip or head is passed over. */
  merge?: MergeResult | undefined
  /** Checks beside those that the view shows, such as those of a lander that is not named (ADM-6). */
  checks?: readonly Stored<CheckRecord>[] | undefined
  /** The server that is asked; absent where none stands between, and delegation is not asked for. */
  gateway?: GatewayFacts | undefined
}

/** `position` of `length` is the place that it would get, counted from 1 (ADM-9). */
export type QueueJudgement =
  | { ok: true; branch: string; position: number; length: number }
  | { ok: false; refusal: Refusal; already?: { branch: string; position: number; length: number; record: Stored<QueueRecord> } | undefined }

/** `entry` is the record that leaving ends (REC-10). */
export type LeaveJudgement = { ok: true; branch: string; entry: Stored<QueueRecord> } | { ok: false; refusal: Refusal }

export type MergeJudgement = { ok: true; branch: string } | { ok: false; refusal: Refusal }

/**
 * ADM-1 to ADM-6 and ADM-10, in the order in which the merge box speaks: what the pull is, where it is, what is against it, then what the repository
 * lacks and who asks. Where `merge` is not known a conflict refuses nothing, so whoever writes has it looked at first.
 */
export function judgeQueue(input: AdmissionInput): QueueJudgement {
  const { view } = input
  const pull = view.pulls.get(input.pull)
  if (pull === undefined) return no(refusals.pullNotFound())
  const early = notOpen('queue', pull) ?? (pull.draft ? refusals.isDraft('queue') : undefined)
  if (early !== undefined) return no(early)
  const place = placeOf(view, pull)
  if (place !== undefined && pull.entry !== undefined) {
    return {
      ok: false,
      refusal: refusals.alreadyQueued(place.position, place.length),
      already: { branch: pull.branch, ...place, record: pull.entry.record },
    }
  }
  const refusal =
    doesNotApply('queue', input, pull) ?? failedChecks(input, pull) ?? notDelegated(input) ?? noRunners(view) ?? stranger('queue', input)
  if (refusal !== undefined) return no(refusal)
  const length = (view.branches.get(pull.branch)?.queue.length ?? 0) + 1
  return { ok: true, branch: pull.branch, position: length, length }
}

/** ADM-1 and ADM-8. A draft that is held may be taken out too: its latest record says queued. */
export function judgeLeave(input: AdmissionInput): LeaveJudgement {
  const pull = input.view.pulls.get(input.pull)
  if (pull === undefined) return no(refusals.pullNotFound())
  const entry = pull.entry ?? pull.heldEntry
  if (entry === undefined) return no(refusals.notQueued(whatEnded(pull)))
  const refusal = stranger('leave', input)
  return refusal === undefined ? { ok: true, branch: pull.branch, entry: entry.record } : no(refusal)
}

/**
 * PRO-3, PRO-4, GWY-1 and GWY-12: merged through the server that is asked, whoever lands the queues. As `judgeQueue` in the order in which the
 * merge box speaks; checks that failed keep nobody from merging by hand.
 */
export function judgeMerge(input: AdmissionInput): MergeJudgement {
  const { view, gateway } = input
  const pull = view.pulls.get(input.pull)
  if (pull === undefined) return no(refusals.pullNotFound())
  const early = notOpen('merge', pull) ?? (pull.draft ? refusals.isDraft('merge') : undefined)
  if (early !== undefined) return no(early)
  if (view.branches.get(pull.branch)?.queueOnly === true) {
    return no(view.roles.runners.length === 0 ? refusals.noRunners(repoOf(view), pull.branch) : refusals.queueOnly(pull.branch))
  }
  const refusal = doesNotApply('merge', input, pull) ?? changesNothing(input, pull) ?? mayNotWrite(view, gateway, input.caller)
  const last = refusal ?? stranger('merge', input)
  return last === undefined ? { ok: true, branch: pull.branch } : no(last)
}

/** Owner and collaborators, as often as the record names them but once each (ADM-1). */
export function peopleOf(view: RepositoryView): string[] {
  return [...new Set([view.roles.owner, ...view.roles.collaborators])]
}

export function repoOf(view: RepositoryView): { owner: string; name: string } {
  return { owner: view.roles.owner, name: view.name }
}

/** The repository that the head branch lies in, its own or a fork, from the address that the pull gives. */
export function headRepoOf(view: RepositoryView, pull: PullView): { owner: string; name: string } {
  const [, owner, name] = /^at:\/\/([^/]+)\/[^/]+\/([^/]+)$/.exec(pull.pull.value.head.repo) ?? []
  return owner === undefined || name === undefined ? repoOf(view) : { owner, name }
}

/** The branch is not among those that the repository is known to have. */
export function lacksBranch(view: RepositoryView, branch: string): boolean {
  return view.present?.has(branch) === false
}

/** The repository whose state git could not take: the one that the pull is onto, or its head's. */
export function faultyRepoOf(view: RepositoryView, pull: PullView): { owner: string; name: string } {
  return pull.fault?.of === 'head' ? headRepoOf(view, pull) : repoOf(view)
}

function no(refusal: Refusal): { ok: false; refusal: Refusal } {
  return { ok: false, refusal }
}

/** ADM-3. */
function notOpen(act: Act, pull: PullView): Refusal | undefined {
  if (pull.state === 'open') return undefined
  return refusals.pullNotOpen(act, pull.state, pull.stateRecord === undefined ? undefined : tidMillis(pull.stateRecord.rkey))
}

/** What git has against it: its branches, and ADM-5. */
function doesNotApply(act: Act, input: AdmissionInput, pull: PullView): Refusal | undefined {
  const { view } = input
  if (pull.headGone) return refusals.headGone(act, pull.pull.value.head.branch, headRepoOf(view, pull))
  if (lacksBranch(view, pull.branch)) {
    return refusals.branchNotFound(repoOf(view), pull.branch, [...(view.present ?? [])])
  }
  const merge = presentMerge(input, pull)
  if (merge?.applies === false) {
    return refusals.conflict(act, { branch: pull.branch, tip: merge.tip, files: merge.conflicts, more: merge.moreConflicts })
  }
  // What was just merged says more than what was found before.
  if (input.merge !== undefined || pull.fault === undefined || pull.fault.passing) return undefined
  return refusals.notMergeable(act, pull.fault, { branch: pull.branch, repo: faultyRepoOf(view, pull) })
}

/** ADM-6. */
function failedChecks(input: AdmissionInput, pull: PullView): Refusal | undefined {
  const failed = failedAtHead(input.view, pull, input.checks)
  if (failed.length === 0 || pull.head === undefined) return undefined
  return refusals.checksFailed({ workflows: failed.map(run => run.value.workflow), head: pull.head, branch: pull.branch })
}

function presentMerge(input: AdmissionInput, pull: PullView): MergeResult | undefined {
  const { merge } = input
  if (merge === undefined) return pull.merge
  const isPresent = merge.pull === pull.pull.uri && merge.head === pull.head && merge.tip === input.view.branches.get(pull.branch)?.tip
  return isPresent ? merge : pull.merge
}

/** ADM-2. */
function noRunners(view: RepositoryView): Refusal | undefined {
  return view.roles.runners.length === 0 ? refusals.noRunners(repoOf(view)) : undefined
}

/** ADM-10. */
function notDelegated({ view, gateway, caller }: AdmissionInput): Refusal | undefined {
  const delegation = lacksDelegation(view, gateway)
  if (delegation === undefined) return undefined
  const { owner } = view.roles
  return refusals.notDelegated('queue', owner, caller === owner, { delegation, settingsUrl: gateway?.settingsUrl })
}

/** GWY-1, GWY-12. */
function mayNotWrite(view: RepositoryView, gateway: GatewayFacts | undefined, caller: string | undefined): Refusal | undefined {
  const { owner } = view.roles
  const other = namesOther(view, gateway)
  if (other !== undefined) return wrongGateway('merge', repoOf(view), other)
  if (gateway === undefined || gateway.delegation.state === 'given') return undefined
  const { delegation, settingsUrl } = gateway
  return refusals.notDelegated('merge', owner, caller === owner, { delegation, settingsUrl })
}

/** BLD-8. */
function changesNothing(input: AdmissionInput, pull: PullView): Refusal | undefined {
  const merge = presentMerge(input, pull)
  return merge?.empty === true ? nothingToLand('merge', pull.branch, merge.tip) : undefined
}

/** ADM-1. */
function stranger(act: Act, input: AdmissionInput): Refusal | undefined {
  const people = peopleOf(input.view)
  if (input.caller === undefined) return refusals.signedOut(act, people)
  return input.view.roles.mayMerge(input.caller) ? undefined : refusals.notAllowed(act, people)
}

function whatEnded(pull: PullView): Parameters<typeof refusals.notQueued>[0] {
  const { stateRecord, lastQueue } = pull
  const stateAt = stateRecord === undefined ? undefined : tidMillis(stateRecord.rkey)
  if (lastQueue === undefined) return undefined
  if (lastQueue.value.state === 'left') return { what: 'left', at: tidMillis(lastQueue.rkey) }
  if (lastQueue.value.state === 'ejected') return { what: 'ejected', at: tidMillis(lastQueue.rkey) }
  if (pull.state === 'merged') return { what: 'landed', at: stateAt }
  return { what: 'closed', at: pull.state === 'closed' ? stateAt : undefined }
}
