/** What leaving the queue would cost others, said before anybody leaves. */
import { batchesAbove, batchOf, placeOf } from './places.ts'
import type { PullView, RepositoryView } from './view.ts'
import { type LeaveParts, type LeaveWords, leavePageWords, leaveWords } from './words/leave.ts'
import type { Phrase } from './words/phrase.ts'

export interface Leaving extends LeaveWords {
  /** The sentence of the page that asks without scripts. */
  page: Phrase
}

/** Undefined for a pull that is not queued. */
export function leaving(view: RepositoryView, pull: PullView): Leaving | undefined {
  const parts = leaveParts(view, pull)
  if (parts === undefined) return undefined
  return { ...leaveWords(parts), page: leavePageWords({ title: pull.pull.value.title, pull: pull.pull.uri }, parts) }
}

/** What leaving would cost; undefined for a pull that is not queued. */
export function leaveParts(view: RepositoryView, pull: PullView): LeaveParts | undefined {
  if (pull.heldEntry !== undefined) return { key: 'held' }
  const place = placeOf(view, pull)
  if (place === undefined) return undefined
  const batch = batchOf(view, pull)
  if (batch === undefined) return { key: 'queued', position: place.position }
  const above = batchesAbove(view, batch)
  const size = batch.members.length
  const others = size - 1 + above.reduce((sum, other) => sum + other.members.length, 0)
  return { key: 'in-batch', size, others, ahead: above.length > 0 }
}
