/** Whether somebody may close a pull, open it again, or say whether it is a draft (HON-6, HON-8, QUE-5), from a view. */
import { peopleOf } from './admission.ts'
import { tidMillis } from './tid.ts'
import type { PullView, RepositoryView } from './view.ts'
import { authorGone, landedAlready } from './words/changing.ts'
import type { ChangeAct, Refusal } from './words/refusals.ts'
import * as refusals from './words/refusals.ts'

/** `already`: it is so, and there is nothing to write. */
export type ChangeJudgement = { ok: true; already: boolean } | { ok: false; refusal: Refusal }

export interface ChangeInput {
  view: RepositoryView
  /** AT-URI of the pull. */
  pull: string
  /** DID of whoever asks; absent for nobody logged in. */
  caller?: string | undefined
}

/** Every change, in no order. */
export const changeActs: readonly ChangeAct[] = ['close', 'reopen', 'ready', 'draft']

/**
 * States count from owner, collaborators and the author (HON-6); what was marked merged is opened by the first two only, while its commit is not on
 * the branch (HON-8). Whether it is a draft stands in the pull's own record, so that only its author can say so.
 */
export function judgeChange(act: ChangeAct, { view, pull: uri, caller }: ChangeInput): ChangeJudgement {
  const pull = view.pulls.get(uri)
  if (pull === undefined) return no(refusals.pullNotFound())
  const refusal = notNow(act, pull) ?? notThey(act, view, pull, caller)
  return refusal === undefined ? { ok: true, already: isSo(act, pull) } : no(refusal)
}

/** What somebody may do to a pull and would change it. */
export function changesOf(input: ChangeInput): ReadonlySet<ChangeAct> {
  return new Set(
    changeActs.filter(act => {
      const judged = judgeChange(act, input)
      return judged.ok && !judged.already
    }),
  )
}

function no(refusal: Refusal): ChangeJudgement {
  return { ok: false, refusal }
}

function isSo(act: ChangeAct, pull: PullView): boolean {
  return { close: pull.state === 'closed', reopen: pull.state === 'open', ready: !pull.draft, draft: pull.draft }[act]
}

/** Where the pull stands. One that is closed without any record is so since its author's account is gone (QUE-2). */
function notNow(act: ChangeAct, pull: PullView): Refusal | undefined {
  const { state, stateRecord, branch, mergedThere } = pull
  if (act === 'reopen') {
    if (state === 'closed' && stateRecord === undefined) return authorGone()
    return state === 'merged' && mergedThere !== false ? landedAlready(branch, mergedThere) : undefined
  }
  if (state === 'open' || (act === 'close' && state === 'closed')) return undefined
  return refusals.pullNotOpen(act, state, stateRecord === undefined ? undefined : tidMillis(stateRecord.rkey))
}

function notThey(act: ChangeAct, view: RepositoryView, pull: PullView, caller: string | undefined): Refusal | undefined {
  const author = pull.pull.did
  const isOfRecord = act === 'ready' || act === 'draft'
  const mayAuthor = isOfRecord || pull.state !== 'merged'
  const may = (did: string) => (mayAuthor && did === author) || (!isOfRecord && view.roles.mayMerge(did))
  if (caller !== undefined && may(caller)) return undefined
  const people = isOfRecord ? [author] : [...new Set([...peopleOf(view), ...(mayAuthor ? [author] : [])])]
  return caller === undefined ? refusals.signedOut(act, people) : refusals.notAllowed(act, people)
}
