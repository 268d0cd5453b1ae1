/** What happened on a branch: its landings and its ejections (REA-5). */
import { readLanded } from './batches.ts'
import type { QueueRecord, Stored } from './facts.ts'
import { tidMillis } from './tid.ts'
import type { LandedBatch, PullView, RepositoryView } from './view.ts'

export type PastEvent =
  | { kind: 'landed'; at: number; batch: LandedBatch }
  | { kind: 'ejected'; at: number; pull: PullView; record: Stored<QueueRecord> }

/**
 * Landings and ejections of the pulls that a view holds onto a branch, newest first, `most` at most. An ejection counts here whatever became of
 * its pull later. Times are milliseconds since 1970.
 */
export function branchPast(view: RepositoryView, branch: string, most: number): PastEvent[] {
  const pulls = new Map([...view.pulls].filter(([, pull]) => pull.branch === branch))
  const landed = readLanded({ branch, pulls, checks: [], most }).map((batch): PastEvent => ({ kind: 'landed', at: batch.at, batch }))
  const ejected = [...pulls.values()].flatMap(pull => pull.history.flatMap(record => ejection(pull, record)))
  return [...landed, ...ejected].sort((a, b) => b.at - a.at).slice(0, most)
}

function ejection(pull: PullView, record: PullView['history'][number]): PastEvent[] {
  const { value } = record
  if (value.$type !== 'dev.knotless.queue' || value.state !== 'ejected') return []
  return [{ kind: 'ejected', at: tidMillis(record.rkey), pull, record: { ...record, value } }]
}
