/** What the planner remembers between passes beside the batches in flight. */
import type { FailedRun } from './types.ts'

export interface Memory {
  /** The id that the next batch has. */
  nextId: number
  /** What was landed or ejected, by the key that queued it, until the queue as read stops listing that key (FAI-6). */
  done: readonly { key: string; how: 'landed' | 'ejected' }[]
  /** The halving under way (FAI-3). */
  suspects?: Suspects | undefined
}

export interface Suspects {
  /** Keys in queue order. */
  keys: readonly string[]
  /** Runs of the batch that failed first. */
  checks: readonly FailedRun[]
}
