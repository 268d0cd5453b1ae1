/** Whether the next batch is let fill before it is built (BLD-9), as far as the lander's record says how it is set. */
import { tidMillis } from './tid.ts'
import type { BranchView, RepositoryView } from './view.ts'

/**
 * How long the lander lets a batch fill, and how much of that is left, in milliseconds; undefined where it does not, where the batch is full, where
 * another is in flight, or once its time is over.
 */
export function fillsFor(view: RepositoryView, branch: BranchView, now: number): { wait: number; left: number } | undefined {
  const settings = view.lander?.record?.value
  const oldest = branch.queue[0]?.entry
  const wait = (settings?.wait ?? 0) * 1000
  if (settings === undefined || oldest === undefined || wait === 0) return undefined
  if (branch.batches.length > 0 || branch.queue.length >= settings.batch) return undefined
  const left = tidMillis(oldest.key) + wait - now
  return left > 0 ? { wait, left } : undefined
}
