import { isCommitId, isRefName } from './ref-names.ts'
import { namesFault, type PackRow, type RefRow, type RefsRecord, recordBytes, refsBounds } from './refs-record.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { words } from './words.ts'

/** A ref to set, or to delete with `commit: null`. */
export interface RefUpdate {
  /** Full ref name. */
  name: string
  commit: string | null
  /** Where it must be at now (`null`: nowhere); by default where the first read finds it. */
  old?: string | null
  /** Allow a move that is no fast-forward. */
  force?: boolean
}

const mostUpdates = 1000

/** Refuses updates that name no ref, no commit, or one ref twice. */
export function updatesFault(updates: readonly RefUpdate[]): GitRefusal | undefined {
  if (updates.length > mostUpdates) return refuse('too-large', words.tooManyUpdates(mostUpdates))
  for (const { name, commit } of updates) {
    if (!isRefName(name)) return refuse('bad-ref', words.badRefName(name))
    if (commit !== null && !isCommitId(commit)) return refuse('bad-ref', words.badCommit(name))
  }
  const double = updates.find(({ name }, at) => updates.findIndex(other => other.name === name) !== at)
  return double === undefined ? undefined : refuse('bad-ref', words.doubleRef(double.name))
}

/**
 * The record after a push: `updates` applied to `before` (undefined: the first push) and `pack` added, unless it is listed already. A branch made
 * again gets a generation that no branch of its name had. Refused: names that cannot stand side by side, and what is over the bounds (STO-1).
 */
export function updatedRecord(
  before: RefsRecord | undefined,
  change: { repo: string; updates: readonly RefUpdate[]; pack?: PackRow | undefined; updatedAt: string },
): { ok: true; record: RefsRecord } | GitRefusal {
  const refs = new Map((before?.refs ?? []).map(row => [row.name, row]))
  const gone = new Map((before?.gone ?? []).map(row => [row.name, row.generation]))
  const floor = before?.floor ?? 0
  for (const { name, commit } of change.updates) {
    const present = refs.get(name)
    if (commit !== null) {
      const generation = present?.generation ?? (gone.get(name) ?? floor) + 1
      refs.set(name, { name, commit, generation })
      gone.delete(name)
    } else if (present !== undefined) {
      refs.delete(name)
      gone.delete(name)
      gone.set(name, present.generation)
    }
  }
  const packs = [...(before?.packs ?? [])]
  if (change.pack !== undefined && !packs.some(row => row.id === change.pack?.id)) packs.push(change.pack)
  const rows = [...refs.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const record: RefsRecord = { $type: 'dev.knotless.refs', repo: change.repo, refs: rows, packs, updatedAt: change.updatedAt }
  remember(record, gone, floor)
  const fault = recordFault(record)
  return fault ?? { ok: true, record }
}

/** Writes down the generations of deleted refs, the newest 200; of those that it forgets, the highest is the floor of all later ones. */
function remember(record: RefsRecord, gone: ReadonlyMap<string, number>, floor: number): void {
  const all = [...gone].map(([name, generation]) => ({ name, generation }))
  const kept = all.slice(-refsBounds.gone)
  const forgotten = all.slice(0, all.length - kept.length)
  const lowest = Math.max(floor, ...forgotten.map(row => row.generation))
  if (kept.length > 0) record.gone = kept
  if (lowest > 0) record.floor = lowest
}

/** Refuses a record that readers would refuse. */
export function recordFault(record: RefsRecord): GitRefusal | undefined {
  const { refs, packs } = record
  if (refs.length > refsBounds.refs) return refuse('too-large', words.tooManyRefs(refs.length, refsBounds.refs))
  const parts = packs.reduce((sum, row) => sum + row.parts.length, 0)
  if (parts > refsBounds.parts) return refuse('too-large', words.tooManyParts(parts, refsBounds.parts))
  const bytes = recordBytes(record)
  if (bytes > refsBounds.bytes) return refuse('too-large', words.recordTooBig(bytes, refsBounds.bytes))
  return namesFault(refs.map((row: RefRow) => row.name))
}
