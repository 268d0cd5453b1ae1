/** A pull's place: in its branch's queue, and in a batch (STA-2). */
import { isGoing, runState } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { BatchView, PullView, RepositoryView } from './view.ts'

export interface Place {
  /** From 1, over the whole queue, what is in flight included. */
  position: number
  length: number
}

/** Where a queued pull is; undefined for one that is not in the queue. */
export function placeOf(view: RepositoryView, pull: PullView): Place | undefined {
  const queue = view.branches.get(pull.branch)?.queue ?? []
  const index = queue.findIndex(other => other.pull.uri === pull.pull.uri)
  return index < 0 ? undefined : { position: index + 1, length: queue.length }
}

/** STA-2: the batch in flight that contains it and started after it was queued; of several one that lands, else the lowest. */
export function batchOf(view: RepositoryView, pull: PullView): BatchView | undefined {
  const { entry } = pull
  if (entry === undefined) return undefined
  const queuedAt = tidMillis(entry.key)
  const batches = view.branches.get(pull.branch)?.batches ?? []
  const own = batches.filter(batch => batch.since >= queuedAt && batch.members.some(member => member.pull === pull.pull.uri))
  return own.find(batch => batch.state === 'landing') ?? own[0]
}

/** The batch in flight that this one stands on. */
export function batchUnder(view: RepositoryView, batch: BatchView): BatchView | undefined {
  return view.branches.get(batch.branch)?.batches.find(other => other.tip === batch.base)
}

/** Batches in flight that stand on this one, and on those, lowest first. */
export function batchesAbove(view: RepositoryView, batch: BatchView): BatchView[] {
  const above: BatchView[] = []
  const tips = new Set([batch.tip])
  for (const other of view.branches.get(batch.branch)?.batches ?? []) {
    if (other.tip === batch.tip || !tips.has(other.base)) continue
    above.push(other)
    tips.add(other.tip)
  }
  return above
}

export interface RunCounts {
  passed: number
  of: number
  /** Passes that were taken over; not counted among `of`. */
  reused: number
  /** Workflow names. */
  running: readonly string[]
  failed: readonly string[]
  noVerdict: readonly string[]
}

/** A batch's runs in figures; skipped and reused ones are not counted (CHK-6). */
export function countRuns(batch: BatchView): RunCounts {
  const counted = batch.checks.map(({ value }) => ({ name: value.workflow, state: runState(value), going: isGoing(value) }))
  const runs = counted.filter(({ state }) => state !== 'skipped' && state !== 'reused')
  const names = (...states: string[]) => runs.filter(({ state }) => states.includes(state)).map(({ name }) => name)
  return {
    passed: names('passed').length,
    of: runs.length,
    reused: counted.filter(({ state }) => state === 'reused').length,
    running: runs.filter(({ going }) => going).map(({ name }) => name),
    failed: names('failed', 'unknown'),
    noVerdict: names('no-verdict'),
  }
}
