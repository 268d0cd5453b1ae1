import type { RepositoryView } from '../../queue/view.ts'
import type { RunnerContext } from '../context.ts'
import type { OwnRuns } from '../runs/runs.ts'
import type { Builder, Ejector, Ground, KeptLine, LanderBook, Landing, Reads } from '../types.ts'

/** What a pass works with. */
export interface Parts {
  ctx: RunnerContext
  reads: Reads
  builder: Builder
  runs: OwnRuns
  book: LanderBook
  landing: Landing
  ejector: Ejector
  /** How far this clock is from that of the account's server, in milliseconds; 0 where that is not known (REC-8). */
  clockSkew(): Promise<number>
  /** Whether this runner lands a branch's queue; `first` lands it instead (WHO-1 to WHO-3, WHO-7, GWY-9). */
  mayLand(view: RepositoryView, branch: string): { lands: true } | { lands: false; first?: string | undefined }
  others: OtherRuns
  /** Milliseconds between two looks at an account now (NOT-6). */
  lookEvery(): number
  /** Looks up the handles that sentences about this repository say; waits, but not for long. */
  learnNames(ground: Ground): Promise<void>
}

/** What runs beside queues. */
export interface OtherRuns {
  /** Files and begins what is due: reruns, pushes, pulls (RUN-1 to RUN-6). */
  take(ground: Ground): Promise<void>
  /** The tip of a batch that was landed here: that push may take its results over (RUN-4). */
  landed(tip: string): void
}

/** What is kept of a repository between passes; all of it may be lost (MOV-6). */
export interface Memory {
  /** By branch. */
  lines: Map<string, KeptLine>
  /** Pulls' heads merged with tips, by `head tip`: trees, or that they do not apply. */
  merged: Map<string, { applies: true; tree: string } | { applies: false }>
  /** Checks that an earlier process left were put right (MOV-6). */
  recovered: boolean
}

export function emptyMemory(): Memory {
  return { lines: new Map(), merged: new Map(), recovered: false }
}
