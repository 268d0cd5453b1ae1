/** What is kept of a batch's checks past their pruning (REA-4): plain data, made from check records and read by the figures. */
import type { CheckRecord, Stored } from '../facts.ts'
import { commitsHold } from '../records.ts'
import { isGoing, millis, order, runState } from '../runs.ts'

/** A batch of one runner. Times in milliseconds since 1970. */
export interface KeptBatch {
  branch: string
  generation: number
  base: string
  tip: string
  members: readonly { pull: string; head: string; commit: string }[]
  /** How many checks it has; 0 where they do not say (CHK-12). */
  of: number
}

/** A run of it that ended. Times in milliseconds since 1970. */
export interface KeptRun {
  /** AT-URI of its check, which may be gone. */
  uri: string
  workflow: string
  /** As `runState` says. */
  state: string
  verdict?: string | undefined
  filedAt: number
  startedAt?: number | undefined
  endedAt: number
  /** Why it was cancelled, as its check says. */
  cause?: string | undefined
  /** Tests of it that passed on a retry. */
  retried: readonly string[]
}

/** How a batch went, by its own runs alone, and when. Times in milliseconds since 1970. */
export interface Ending {
  outcome: 'passed' | 'failed' | 'no-verdict' | 'cancelled'
  /** When its first check was filed. */
  startedAt: number
  endedAt: number
  /** The longest of its runs that ran to an end (REA-3), in milliseconds; absent when none did. */
  longestMs?: number | undefined
}

const MOST_RETRIED = 50

/** What is kept of a batch's check that ended; undefined for any other check. `now` bounds what it says of its end. */
export function keptOf(check: Stored<CheckRecord>, now: number): { batch: KeptBatch; run: KeptRun } | undefined {
  const { value } = check
  const { batch: members, baseCommit, commit, ref, generation, of = 0 } = value
  if (isGoing(value) || members === undefined || members.length === 0 || baseCommit === undefined) return undefined
  if (!commitsHold(commit, baseCommit)) return undefined
  const filedAt = Math.min(millis(value.createdAt) ?? check.seenAt, now)
  const endedAt = Math.max(Math.min(millis(value.finishedAt) ?? filedAt, now), filedAt)
  const started = millis(value.startedAt)
  const branch = ref.replace(/^refs\/heads\//, '')
  return {
    batch: { branch, generation, base: baseCommit, tip: commit, members, of },
    run: {
      uri: check.uri,
      workflow: value.workflow,
      state: runState(value),
      verdict: value.verdict,
      filedAt,
      startedAt: started === undefined || started > endedAt ? undefined : started,
      endedAt,
      cause: value.cause?.slice(0, 300),
      retried: (value.retried ?? []).slice(0, MOST_RETRIED).map(({ test }) => test.slice(0, 300)),
    },
  }
}

/**
 * How a batch went by the newest run of each workflow (CHK-4): undefined while one of them goes, or while some of the checks that it has were not
 * filed and nothing says that it was dropped. `going`: some check of it has not ended.
 */
export function endingOf(runs: readonly KeptRun[], { of, going }: { of: number; going: boolean }): Ending | undefined {
  const newest = newestOf(runs)
  if (going || newest.length === 0) return undefined
  const states = newest.map(run => run.state)
  const outcome = outcomeOf(states, newest.length >= of)
  if (outcome === undefined) return undefined
  const ran = newest.flatMap(run => (ranToItsEnd(run) ? [run.endedAt - (run.startedAt ?? run.endedAt)] : []))
  return {
    outcome,
    startedAt: Math.min(...runs.map(run => run.filedAt)),
    endedAt: Math.max(...newest.map(run => run.endedAt)),
    longestMs: ran.length === 0 ? undefined : Math.max(...ran),
  }
}

/** The newest run of each workflow, by name (PRE-2's order: start, else filing). */
export function newestOf(runs: readonly KeptRun[]): KeptRun[] {
  const newest = new Map<string, KeptRun>()
  for (const run of runs) {
    const other = newest.get(run.workflow)
    if (other === undefined || timeOf(run) - timeOf(other) > 0 || (timeOf(run) === timeOf(other) && run.uri > other.uri))
      newest.set(run.workflow, run)
  }
  return [...newest.values()].sort((a, b) => order(a.workflow, b.workflow))
}

function outcomeOf(states: readonly string[], whole: boolean): Ending['outcome'] | undefined {
  if (states.some(state => state === 'failed' || state === 'unknown')) return 'failed'
  if (states.includes('no-verdict')) return 'no-verdict'
  if (states.includes('cancelled')) return 'cancelled'
  return whole ? 'passed' : undefined
}

function ranToItsEnd({ state, startedAt }: KeptRun): boolean {
  return startedAt !== undefined && (state === 'passed' || state === 'failed')
}

function timeOf(run: KeptRun): number {
  return run.startedAt ?? run.filedAt
}
