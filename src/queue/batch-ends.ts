/** How a batch went and ended, as its checks say. */
import { countRuns } from './places.ts'
import { isGoing, millis } from './runs.ts'
import type { BatchView } from './view.ts'
import { type DropSaid, readDrop } from './words/runner.ts'

/** When the last of its runs ended, in milliseconds since 1970; infinity while one goes. */
export function endOf(batch: BatchView): number {
  const ends = batch.checks.map(({ value }) => millis(value.finishedAt) ?? (isGoing(value) ? Number.POSITIVE_INFINITY : 0))
  return Math.max(batch.since, ...ends)
}

/** Whether it was built before the batch that it stands on was decided; `every`: the batches of its branch. */
export function wasAhead(batch: Pick<BatchView, 'base' | 'since'>, every: readonly BatchView[]): boolean {
  return every.some(other => other.tip === batch.base && endOf(other) > batch.since)
}

/** Why a batch was dropped, as its checks say, and where they do not, what became of the one that it stood on. `every`: the batches of its branch. */
export function dropOf(batch: BatchView, every: readonly BatchView[]): DropSaid | undefined {
  const said = batch.checks.map(({ value }) => readDrop(value.cause)).find(cause => cause !== undefined)
  if (said !== undefined) return said
  const under = every.find(other => other.tip === batch.base)?.state
  if (under === 'failed' || under === 'cancelled') return 'batch-failed'
  const { passed, of } = countRuns(batch)
  return of > 0 && passed === of ? 'not-landed' : undefined
}

/** The workflows that made it red: those that failed, or, where none did, those that ended without a verdict. */
export function redOf(batch: BatchView): { names: readonly string[]; verdict: boolean } {
  const { failed, noVerdict } = countRuns(batch)
  return failed.length > 0 ? { names: failed, verdict: true } : { names: noVerdict, verdict: false }
}
