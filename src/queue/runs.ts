/** What runs say: which of several counts, and how its status reads. */
import type { CheckRecord, Stored } from './facts.ts'

export type Run = Stored<CheckRecord>

/** Every way that a run can read; an unknown status is `unknown`, which is not passed (REC-6). */
export type RunState = 'queued' | 'running' | 'passed' | 'failed' | 'no-verdict' | 'cancelled' | 'skipped' | 'reused' | 'unknown'

/** How one run reads. An `error` with a `verdict` gave none (CHK-7); without one it is a failure (CHK-6). */
export function runState(run: CheckRecord): RunState {
  switch (run.status) {
    case 'queued':
      return 'queued'
    case 'running':
      return 'running'
    case 'cancelled':
      return 'cancelled'
    case 'skipped':
      return 'skipped'
    case 'success':
      return run.reusedFrom === undefined ? 'passed' : 'reused'
    case 'failure':
      return 'failed'
    case 'error':
      return run.verdict === undefined ? 'failed' : 'no-verdict'
    default:
      return 'unknown'
  }
}

/** A run that was queued or is running has not ended. */
export function isGoing(run: CheckRecord): boolean {
  return run.status === 'queued' || run.status === 'running'
}

/** The newest run of each workflow, by workflow name (PRE-2's order: start, else filing, then runner; CHK-4). */
export function newestRuns(runs: readonly Run[]): Run[] {
  const newest = new Map<string, Run>()
  for (const run of runs) {
    const other = newest.get(run.value.workflow)
    if (other === undefined || newerRun(run, other) < 0) newest.set(run.value.workflow, run)
  }
  return [...newest.values()].sort((a, b) => order(a.value.workflow, b.value.workflow))
}

/** Order of runs for sorting: the newest first. */
export function newerRun(a: Run, b: Run): number {
  return runTime(b) - runTime(a) || order(b.did, a.did) || order(b.rkey, a.rkey)
}

/** When a run started, else when it was filed, in milliseconds since 1970; 0 for a time that cannot be read. */
export function runTime(run: Run): number {
  return millis(run.value.startedAt) ?? millis(run.value.createdAt) ?? 0
}

/** An ISO 8601 time in milliseconds since 1970; undefined when it is absent or cannot be read. */
export function millis(time: string | undefined): number | undefined {
  if (time === undefined) return undefined
  const ms = Date.parse(time)
  return Number.isNaN(ms) ? undefined : ms
}

/** Order of strings by code unit, the same everywhere. */
export function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
