import { order } from './runs.ts'
import type { RepositoryView } from './view.ts'

/**
 * The greatest honoured key that a writer of a record about `pull` must exceed (REC-7): of the pull, and, given the branch it is queued for,
 * of every pull on that branch. Undefined when there is none.
 */
export function keysToExceed(view: RepositoryView, pull: string, branch?: string): string | undefined {
  let greatest: string | undefined
  for (const other of view.pulls.values()) {
    if (other.pull.uri !== pull && other.branch !== branch) continue
    const key = other.history.at(-1)?.rkey
    if (key !== undefined && (greatest === undefined || order(key, greatest) > 0)) greatest = key
  }
  return greatest
}
