import type { EventLog } from './log.ts'

/** From here up a cursor is unix microseconds, below it a sequence number. */
const firstTime = 1e15
const lookbackUs = 36 * 3600 * 1e6

/**
 * The sequence number that a consumer with this `cursor` parameter starts at: inclusive, by sequence number or by time; a future one gets the
 * live tail, and one from before the lookback of 36 h starts there without a word. Absent: live tail. Undefined: not a cursor.
 */
export function startFrom(log: EventLog, cursor: string | null, nowUs: number): number | undefined {
  const live = log.tip() + 1
  if (cursor === null || cursor === '') return live
  if (!/^[0-9]{1,18}$/.test(cursor)) return undefined
  const asked = Number(cursor)
  const oldest = log.firstSince(nowUs - lookbackUs) ?? live
  if (asked < firstTime) return asked >= live ? live : Math.max(asked, oldest)
  return Math.max(log.firstSince(asked) ?? live, oldest)
}
