/** What happened to a queue's pulls, from the records about them that count: what figures are made of (REA-3). */
import type { Deed, Honour } from '../honour.ts'
import { byPosition, type Position, positionOfEntry } from '../positions.ts'
import { isAfterCreated, wakesAt } from '../records.ts'
import { tidMillis } from '../tid.ts'

/** A queue or state record about a pull, as far as figures need it. */
export interface StoryRow extends Position {
  pull: string
  /** Whose pull it is. */
  author: string
  /** The branch that the pull is onto. */
  branch: string
  state: string
  createdAt: string
  /** Of ejections: what sort of reason. */
  kind?: string | undefined
  /** Of removals: the queue record that they end (REC-10). */
  ends?: string | undefined
  /** Of `merged`: false when its commit is known not to be on the branch (STA-5). */
  there?: boolean | undefined
}

/** Why pulls are turned away, as figures tell them apart. */
export type EjectedFor = 'conflict' | 'checks' | 'preflight' | 'branch-gone' | 'other'

/** Times in milliseconds since 1970. */
export type QueueEvent = { at: number; pull: string; branch: string } & (
  | { kind: 'queued' }
  | { kind: 'ejected'; why: EjectedFor }
  /** `waitedMs`: since its first queue record, past any ejections. */
  | { kind: 'landed'; waitedMs: number }
)

const DEEDS: ReadonlySet<string> = new Set(['queued', 'left', 'ejected', 'closed', 'merged'] satisfies Deed[])
const KINDS: ReadonlySet<string> = new Set(['conflict', 'checks', 'preflight', 'branch-gone'] satisfies EjectedFor[])

/**
 * The story that records tell, oldest first: queueings of pulls that were not queued, ejections of pulls that were, and the landing of pulls that
 * had been. What somebody queued while they might still counts after they were taken out: it is about then. `now` in milliseconds.
 */
export function readStory(rows: readonly StoryRow[], honour: Honour, now: number): QueueEvent[] {
  const byPull = new Map<string, StoryRow[]>()
  for (const row of rows) {
    if (!counts(row, honour, now)) continue
    const group = byPull.get(row.pull)
    if (group === undefined) byPull.set(row.pull, [row])
    else group.push(row)
  }
  return [...byPull.values()].flatMap(group => storyOf(group.sort(byPosition))).sort((a, b) => a.at - b.at)
}

function counts(row: StoryRow, honour: Honour, now: number): boolean {
  const time = tidMillis(row.rkey)
  if (!isDeed(row.state) || Number.isNaN(time) || isAfterCreated(time, row.createdAt) || wakesAt(time, now) !== undefined) return false
  const judged = honour.judge(row.state, row, row.author)
  if ('ground' in judged) return true
  const removal = row.state === 'queued' ? honour.judge('left', row, row.author) : judged
  return 'ground' in removal && removal.ground === 'former'
}

function storyOf(rows: readonly StoryRow[]): QueueEvent[] {
  const events: QueueEvent[] = []
  let firstQueued: number | undefined
  let isIn = false
  let landed = false
  let endedAt: Position | undefined
  for (const row of rows) {
    const { pull, branch, state, ends } = row
    const about = { at: tidMillis(row.rkey), pull, branch }
    if (state === 'queued') {
      if (!isIn) events.push({ ...about, kind: 'queued' })
      firstQueued ??= about.at
      isIn = true
      continue
    }
    if (state === 'merged') {
      if (row.there === false || landed) continue
      if (firstQueued !== undefined) events.push({ ...about, kind: 'landed', waitedMs: Math.max(0, about.at - firstQueued) })
      landed = true
    } else if (state !== 'closed' && !endsPresent(ends, endedAt)) {
      continue
    } else if (state === 'ejected' && isIn) {
      events.push({ ...about, kind: 'ejected', why: ejectedFor(row.kind) })
    }
    isIn = false
    endedAt = row
  }
  return events
}

/** REC-10: a removal that names something from before the last end is about an older entry. */
function endsPresent(ends: string | undefined, endedAt: Position | undefined): boolean {
  const named = ends === undefined ? undefined : positionOfEntry(ends)
  return named === undefined || endedAt === undefined || byPosition(named, endedAt) > 0
}

function ejectedFor(kind: string | undefined): EjectedFor {
  return kind !== undefined && isKind(kind) ? kind : 'other'
}

function isDeed(state: string): state is Deed {
  return DEEDS.has(state)
}

function isKind(kind: string): kind is EjectedFor {
  return KINDS.has(kind)
}
