/** Whether a chain of commits is a batch of queued pulls, each as the gateway merges it itself (GWY-4). The first commit that is wrong is named. */
import type { PullView, RepositoryView } from '../../../queue/view.ts'
import { type BatchFault, batchRefused, memberRefused, notKnown } from '../../../queue/words/index.ts'
import type { ChainCommit, MoveFacts, MoveVerdict, RefMove } from '../types.ts'
import { titled } from './force.ts'
import { type Ground, pullFault, treeFault } from './members.ts'

/** As many pulls as a batch may hold (BLD-1). */
export const MOST_IN_BATCH = 50

/** A pull, and the commit that brings it. */
export interface Brought {
  pull: PullView
  commit: string
}

export type Refused = Extract<MoveVerdict, { ok: false }>

/** Judges the commits that a move brings to a branch, as a batch on its tip. */
export function judgeChain(
  view: RepositoryView,
  move: RefMove,
  facts: MoveFacts,
  ground: Ground,
): { ok: true; brought: readonly Brought[] } | Refused {
  const { chain } = facts
  const tip = move.old ?? ''
  if (chain === undefined) return { ok: false, refusal: notKnown('land', 'what it brings') }
  if (chain === 'none') return refused({ what: 'off-the-tip', branch: ground.branch, tip })
  if (chain === 'too-long' || chain.length > MOST_IN_BATCH) return refused({ what: 'too-long', most: MOST_IN_BATCH })
  if (chain.length === 0) return refused({ what: 'no-commits' })
  const brought = new Map<PullView, string>()
  let parent = tip
  let parentTree = facts.baseTree
  for (const commit of chain) {
    const form = formFault(commit, parent)
    if (form !== undefined) return { ...refused(form), commit: commit.id, pull: blamed(view, commit, form) }
    const pull = pullOf(view, commit)
    if ('what' in pull) return { ...refused(pull), commit: commit.id }
    const first = brought.get(pull)
    if (first !== undefined) return { ...refused({ what: 'twice', commit: commit.id, first }), commit: commit.id }
    const fault = pullFault(pull, ground) ?? treeFault(commit, pull, ground, parentTree)
    if (fault !== undefined) {
      // Nobody is turned away for what two versions of git disagree on (GWY-14).
      const blame = fault.what === 'tree-differs' ? undefined : pull.pull.uri
      return { ok: false, refusal: memberRefused(titled(pull), fault), commit: commit.id, pull: blame }
    }
    brought.set(pull, commit.id)
    parent = commit.id
    parentTree = commit.tree
  }
  if (parent !== move.new) return { ok: false, refusal: notKnown('land', 'the whole of what it brings') }
  return { ok: true, brought: [...brought].map(([pull, commit]) => ({ pull, commit })) }
}

/** The pull that a commit names on its last line, which has to be its address and nothing more (BLD-10). */
export function pullOf(view: RepositoryView, { id, lastLine, elsewhere }: ChainCommit): PullView | BatchFault {
  if (!/^at:\/\/did:[a-z]+:[^/\s]+\/dev\.knotless\.pull\/[a-z2-7]{13}$/.test(lastLine)) return { what: 'no-pull', commit: id }
  if (elsewhere !== undefined) return { what: 'other-repository', commit: id }
  return view.pulls.get(lastLine) ?? { what: 'unknown-pull', commit: id }
}

function formFault({ id, parents, clean }: ChainCommit, parent: string): BatchFault | undefined {
  if (parents.length !== 1) return { what: 'not-one-parent', commit: id, parents: parents.length }
  if (parents[0] !== parent) return { what: 'out-of-line', commit: id, parent }
  return clean ? undefined : { what: 'unclean', commit: id }
}

/** A message is made of its pull, so what makes it unclean is the pull's; for the rest whoever built the batch is to blame. */
function blamed(view: RepositoryView, commit: ChainCommit, fault: BatchFault): string | undefined {
  return fault.what === 'unclean' && view.pulls.has(commit.lastLine) ? commit.lastLine : undefined
}

function refused(fault: BatchFault): Refused {
  return { ok: false, refusal: batchRefused(fault) }
}
