/** What the runs of a batch say of it (CHK-6, CHK-7, FAI-1). */
import type { Batch, FailedRun, RunNow } from './types.ts'

/**
 * `failed`: some run gave its verdict, and it is red; the rest does not matter. `timed-out`, `trouble`: all ended, none is red, some gave no verdict.
 * `going`: not all have ended, or they are not known.
 */
export type Outcome = 'going' | 'passed' | 'failed' | 'timed-out' | 'trouble'

/** FAI-1: one failure decides at once; for all else every run has to have ended. */
export function outcomeOf({ filed, of }: Batch, runs: readonly RunNow[] | undefined): Outcome {
  if (!filed || runs === undefined) return 'going'
  const counted = runs.filter(({ state }) => state !== 'reused' && state !== 'skipped')
  if (counted.some(({ state }) => state === 'failed')) return 'failed'
  if (counted.some(({ state }) => isGoing(state))) return 'going'
  // CHK-12: of a batch that is not whole nobody knows whether it passes; a run that a stop dropped is such a hole.
  if (runs.length < (of ?? 0)) return 'trouble'
  const silent = counted.filter(({ state }) => state !== 'passed')
  if (silent.length === 0) return 'passed'
  return silent.every(isTimeout) ? 'timed-out' : 'trouble'
}

/** Filed or running. */
export function isGoing(state: RunNow['state']): boolean {
  return state === 'filed' || state === 'running'
}

/** CHK-7: it ran out of time, which is no verdict. */
export function isTimeout({ state, verdict }: RunNow): boolean {
  return state === 'no-verdict' && verdict === 'timeout'
}

/** Runs that ended red, and those that ended without a verdict, for an ejection's `checks` (REC-2). */
export function evidence(runs: readonly RunNow[]): FailedRun[] {
  return runs.flatMap(({ workflow, state, status, check }) => {
    if (state === 'failed') return [{ workflow, check, status: status ?? 'failure' }]
    return state === 'no-verdict' ? [{ workflow, check, status: status ?? 'error' }] : []
  })
}
