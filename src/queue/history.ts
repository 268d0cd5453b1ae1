/** What is kept of batches and runs that ended, past their checks' pruning (REA-4): plain data, read by one store. */

/** A run of a batch that ended. Times in milliseconds since 1970. */
export interface PastRun {
  workflow: string
  /** As `runState` says of its check; one that was taken over did not run. */
  state: string
  startedAt?: number | undefined
  finishedAt?: number | undefined
}

/** A batch that ended. */
export interface PastBatch {
  branch: string
  base: string
  tip: string
  runner: string
  /** How many pulls it held. */
  size: number
  outcome: 'passed' | 'failed' | 'no-verdict' | 'cancelled'
  /** From when its first check was filed until its last run ended. Times in milliseconds since 1970. */
  startedAt: number
  endedAt: number
  runs: readonly PastRun[]
}

/** What estimates go by: the last batches of a branch that ended with a verdict, newest first, 20 at most. */
export interface BranchHistory {
  batches: readonly PastBatch[]
}
