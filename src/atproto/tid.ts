import { tidAt, tidMillis } from '../queue/tid.ts'
import { parseTid, type Tid } from './ids.ts'

export interface TidClock {
  /** A key never given before and greater than every one given before, and than `after`. Throws RangeError when `after` leaves no room above it. */
  next(after?: Tid): Tid
}

/**
 * Keys for new records (REC-7). They follow `now` (milliseconds since 1970) in microseconds, and go on upward when that clock stands still or
 * goes back. `clockId` (0 to 1023) keeps two programs of one account apart; pick it at random, once a process.
 */
export function createTidClock(ctx: { now: () => number; clockId: number }): TidClock {
  let lastMicros = 0
  return {
    next(after) {
      const above = after === undefined ? 0 : (tidMillis(after) + 1) * 1000
      const micros = Math.max(Math.floor(ctx.now() * 1000), lastMicros + 1, above)
      const tid = parseTid(tidAt(micros / 1000, ctx.clockId))
      if (tid === undefined) throw new RangeError(`no key can be made above ${after}`)
      lastMicros = micros
      return tid
    },
  }
}
