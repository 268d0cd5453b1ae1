/** Which records can count at all, whoever wrote them (REC-3, REC-6, REC-12). */
import type { PullRecord, QueueRecord, StateRecord, Stored } from './facts.ts'
import type { Deed } from './honour.ts'
import { order } from './runs.ts'
import type { IgnoredReason } from './view.ts'

const MINUTE = 60_000
/** A key may lie this far past what its record says of its making. */
const PAST_CREATED = 24 * 60 * MINUTE
/** A key may lie this far in the reader's future. */
const AHEAD = 5 * MINUTE
const DEEDS = { queue: ['queued', 'left', 'ejected'], state: ['open', 'closed', 'merged'] } as const
const COMMIT = /^[0-9a-f]{40}$/

/** Records that stand for changes: those whose key is their time. */
export type Change = Stored<QueueRecord> | Stored<StateRecord> | Stored<PullRecord>

/**
 * One of each record, by address. Of several readings of one version the first says when it was seen (REC-9); of several versions the one
 * that came last stands.
 */
export function once<T>(records: readonly Stored<T>[]): Stored<T>[] {
  const kept = new Map<string, Stored<T>>()
  const others = new Map<string, Stored<T>[]>()
  for (const record of records) {
    const first = kept.get(record.uri)
    if (first === undefined) kept.set(record.uri, record)
    else if (first !== record) addReading(others, first, record)
  }
  for (const [uri, readings] of others) {
    const versions = new Map<string, Stored<T>>()
    for (const reading of readings.sort(bySeen)) if (!versions.has(reading.cid)) versions.set(reading.cid, reading)
    const last = [...versions.values()].sort((a, b) => bySeen(a, b) || order(a.cid, b.cid)).at(-1)
    if (last !== undefined) kept.set(uri, last)
  }
  return [...kept.values()]
}

function addReading<T>(others: Map<string, Stored<T>[]>, first: Stored<T>, record: Stored<T>): void {
  const readings = others.get(record.uri)
  if (readings === undefined) others.set(record.uri, [first, record])
  else readings.push(record)
}

/** The first seen first; at one time a reading by backfill, which says nothing about lateness, before another. */
function bySeen(a: Stored<unknown>, b: Stored<unknown>): number {
  return a.seenAt - b.seenAt || Number(b.backfilled) - Number(a.backfilled)
}

/** Why a key of this time (milliseconds) keeps its record from counting ever (REC-3); undefined when it does not. */
export function keyFault(record: Change, time: number): IgnoredReason | undefined {
  if (Number.isNaN(time)) return 'key-not-tid'
  return isAfterCreated(time, record.value.createdAt) ? 'key-after-created' : undefined
}

/** Whether a key of this time (milliseconds) lies more than a day past what its record says of its making (REC-3). */
export function isAfterCreated(time: number, createdAt: string): boolean {
  return !(time - Date.parse(createdAt) <= PAST_CREATED)
}

/** When a record whose key is of this time starts to count; undefined when it does already at `now` (REC-3). All in milliseconds. */
export function wakesAt(time: number, now: number): number | undefined {
  return time - AHEAD > now ? time - AHEAD : undefined
}

/** What a queue record does, or why it does nothing: a state that is not known (REC-6), or a commit that is none. */
export function queueDeed({ state, head, commit, requeue }: QueueRecord): Deed | { ignored: IgnoredReason } {
  const deed = DEEDS.queue.find(known => known === state)
  if (deed === undefined) return { ignored: 'unknown-state' }
  return commitsHold(head, commit, requeue?.head) ? deed : { ignored: 'void' }
}

/** What a state record does, or why it does nothing, as for queue records. */
export function stateDeed({ state, commit, batch }: StateRecord): Deed | { ignored: IgnoredReason } {
  const deed = DEEDS.state.find(known => known === state)
  if (deed === undefined) return { ignored: 'unknown-state' }
  return commitsHold(commit, batch) ? deed : { ignored: 'void' }
}

/** Whether each of these that is there is a commit: 40 hexadecimal digits, as git writes them. */
export function commitsHold(...commits: readonly (string | undefined)[]): boolean {
  return commits.every(commit => commit === undefined || COMMIT.test(commit))
}
