import type { Mirror } from './mirror.ts'
import type { GitRefusal } from './refusal.ts'

/** What merging a head onto a tip gives. `conflicts`: at most 100 paths; `moreConflicts`: how many are not listed. */
export type MergeOutcome =
  | { ok: true; applies: true; tree: string; changesChecks: boolean; nothingToLand: boolean }
  | { ok: true; applies: false; conflicts: string[]; moreConflicts: number; changesChecks: boolean }

/** Merges `head` (in `source`) onto `tip` (in `target`); writes into neither mirror (ADM-5, GWY-14). */
export function mergeOnto(_input: {
  target: Mirror
  tip: string
  source: Mirror
  head: string
  signal?: AbortSignal
}): Promise<MergeOutcome | GitRefusal> {
  throw new Error('not written yet')
}
