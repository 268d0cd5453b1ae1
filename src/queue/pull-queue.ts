/** What a pull's queue records say: its entry, or how the last one ended (HON-7, REC-10, QUE-7, QUE-8). */
import type { QueueRecord, StateRecord, Stored } from './facts.ts'
import { byPosition, type Position, positionOfEntry } from './positions.ts'

export interface QueueReading {
  /** The record that queued it, which gives place and key while the pull is open; absent when it is out. */
  entry?: Stored<QueueRecord> | undefined
  /** The latest record that counts and did not end an older entry only. */
  last?: Stored<QueueRecord> | undefined
}

/**
 * Reads the honoured queue records of one pull, oldest first, with the honoured records that closed or merged it, oldest first. Queued ones
 * older than `reopenedAt` do not count (QUE-8).
 *
 * Which removals count is decided by removals and closings alone, never by who queued: those go on counting when an account is taken out
 * (HON-5), so that what remains of the queued records can only shrink, and nothing that was out comes back in.
 */
export function readQueue(
  records: readonly Stored<QueueRecord>[],
  closings: readonly Stored<StateRecord>[],
  reopenedAt: Position | undefined,
): QueueReading {
  let reading: QueueReading = {}
  let endedAt: Position | undefined
  let passed = 0
  for (const record of records) {
    for (let closing = closings[passed]; closing !== undefined && byPosition(closing, record) <= 0; closing = closings[passed]) {
      endedAt = closing
      passed++
    }
    if (record.value.state === 'queued') {
      const counts = reopenedAt === undefined || byPosition(record, reopenedAt) >= 0
      if (counts) reading = { entry: reading.entry ?? record, last: record }
    } else if (endsPresent(record, endedAt)) {
      endedAt = record
      reading = { last: record }
    }
  }
  return reading
}

/**
 * REC-10: a removal names the entry that it ends. Whatever ended that entry before, it was before the present one began, so a removal that
 * names something from before the last end is about an older entry.
 */
function endsPresent(record: Stored<QueueRecord>, endedAt: Position | undefined): boolean {
  const named = record.value.ends === undefined ? undefined : positionOfEntry(record.value.ends)
  return named === undefined || endedAt === undefined || byPosition(named, endedAt) > 0
}
