import type { RepositoryView } from '../../queue/view.ts'
import type { RunnerContext } from '../context.ts'
import type { Builder, Ejector, Ground, KeptLine, LanderBook, Landing, Reads, Runs } from '../types.ts'

/** What a pass works with. */
export interface Parts {
  ctx: RunnerContext
  reads: Reads
  builder: Builder
  runs: Runs
  book: LanderBook
  landing: Landing
  ejector: Ejector
  /** How far this clock is from that of the account's server, in milliseconds; 0 where that is not known (REC-8). */
  clockSkew(): Promise<number>
  /** Whether this runner lands a branch's queue; `first` lands it instead (WHO-1 to WHO-3, WHO-7, GWY-9). */
  mayLand(view: RepositoryView, branch: string): { lands: true } | { lands: false; first?: string | undefined }
  /** Files and begins what is due beside queues: reruns, pushes, pulls (RUN-1 to RUN-6). */
  others(ground: Ground): Promise<void>
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
