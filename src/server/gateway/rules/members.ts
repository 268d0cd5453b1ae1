/** Whether one commit of a batch is the squash of a pull that may land (GWY-4). */
import { tidMillis } from '../../../queue/tid.ts'
import type { BranchView, PullView } from '../../../queue/view.ts'
import type { MemberFault } from '../../../queue/words/index.ts'
import type { ChainCommit } from '../types.ts'

/** Where a batch is to land. */
export interface Ground {
  branch: string
  /** The branch's rule asks that what lands is what its queuer saw (QUE-9). */
  pinned: boolean
  /** Accounts that may queue: what they change in their own pulls, they may. */
  mayMerge(did: string): boolean
  /** The head that was squashed for a commit, where the push or a check tells; undefined where none does. */
  squashed(pull: PullView, commit: string): string | undefined
}

/** Why a pull may not land on this branch as it stands in the records; undefined when it may. */
export function pullFault(pull: PullView, ground: Ground): MemberFault | undefined {
  if (pull.state !== 'open') {
    return { what: pull.state, at: pull.stateRecord === undefined ? undefined : tidMillis(pull.stateRecord.rkey) }
  }
  if (pull.draft) return { what: 'draft' }
  if (pull.entry === undefined) return { what: 'not-queued', last: lastRemoval(pull) }
  if (pull.branch !== ground.branch) return { what: 'other-branch', queuedFor: pull.branch, branch: ground.branch }
  if (pull.headGone) return { what: 'head-gone' }
  if (pull.head === undefined) return { what: 'unread', message: 'Where its head branch is, is not known.' }
  if (!ground.pinned || ground.mayMerge(pull.pull.did)) return undefined
  const { head, branch } = pull.entry.record.value
  return head === pull.head && branch === pull.branch ? undefined : { what: 'changed', branch: ground.branch }
}

/**
 * Why a commit is not what merging its pull gives; undefined when it is. `parentTree` is the tree that it stands on, where that is known. A tree
 * that differs blames the pull's new commits where it is known that others were squashed, and nobody otherwise (GWY-14).
 */
export function treeFault(commit: ChainCommit, pull: PullView, ground: Ground, parentTree: string | undefined): MemberFault | undefined {
  const { merged } = commit
  const head = pull.head ?? ''
  const parent = commit.parents[0] ?? ''
  if (merged === undefined) return { what: 'unread', message: 'It was not tried.' }
  if (merged.kind === 'unread') return { what: 'unread', message: merged.message }
  if (merged.kind === 'clean' && merged.tree === commit.tree) {
    return commit.tree === parentTree ? { what: 'empty', commit: commit.id, parent } : undefined
  }
  const squashed = ground.squashed(pull, commit.id) ?? head
  if (squashed !== head) return { what: 'head-moved', head }
  if (merged.kind === 'conflict') return { what: 'conflict', head, parent, files: merged.files }
  return { what: 'tree-differs', commit: commit.id, head, parent }
}

/** The head that a batch's checks name for a commit (CHK-3). */
export function headInBatches(branch: BranchView | undefined, pull: string, commit: string): string | undefined {
  return branch?.batches.flatMap(batch => batch.members).find(member => member.pull === pull && member.commit === commit)?.head
}

function lastRemoval(pull: PullView): { what: 'ejected' | 'left'; at: number } | undefined {
  const { lastQueue } = pull
  if (lastQueue === undefined) return undefined
  return { what: lastQueue.value.state === 'ejected' ? 'ejected' : 'left', at: tidMillis(lastQueue.rkey) }
}
