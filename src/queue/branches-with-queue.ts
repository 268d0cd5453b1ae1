import type { BranchView, RepositoryView } from './view.ts'

/** Branches with a queue, the default one first: those that anything is queued, checked, landed or turned away on, and those with the rule. */
export function branchesWithQueue(view: RepositoryView): BranchView[] {
  const worth = (branch: BranchView) =>
    branch.isDefault || branch.queueOnly || branch.queue.length + branch.batches.length + branch.landed.length + branch.ejected.length > 0
  return [...view.branches.values()]
    .filter(worth)
    .sort((a, b) => Number(b.isDefault) - Number(a.isDefault) || (a.branch < b.branch ? -1 : 1))
}
