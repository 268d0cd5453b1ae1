import { parseTid, type Tid } from './ids.ts'

const ALPHABET = '234567abcdefghijklmnopqrstuvwxyz'
const MAX_MICROS = 2 ** 53 - 1

export interface TidClock {
  /** A key never given before and greater than every one given before, and than `after`. Throws RangeError when `after` leaves no room above it. */
  next(after?: Tid): Tid
}

/**
 * Keys for new records (REC-7). They follow `now` (milliseconds) in microseconds, and go on upward when that clock stands still or goes back.
 * `clockId` (0 to 1023) keeps two programs of one account apart; pick it at random, once a process.
 */
export function createTidClock(ctx: { now: () => number; clockId: number }): TidClock {
  let last = 0
  return {
    next(after) {
      const micros = Math.max(ctx.now() * 1000, last + 1, after === undefined ? 0 : tidMicros(after) + 1)
      if (micros > MAX_MICROS) throw new RangeError('no key is left above the one given')
      last = Math.floor(micros)
      return formatTid(last, ctx.clockId)
    },
  }
}

/** The time that a TID carries, in microseconds since 1970: exact, since it has 53 bits. */
function tidMicros(tid: Tid): number {
  let micros = 0
  for (const character of tid.slice(0, 11)) micros = micros * 32 + ALPHABET.indexOf(character)
  return micros
}

function formatTid(micros: number, clockId: number): Tid {
  const tid = parseTid(base32(micros, 11) + base32(clockId, 2))
  if (tid === undefined) throw new RangeError(`no key can be made of ${micros} and ${clockId}`)
  return tid
}

function base32(value: number, length: number): string {
  let text = ''
  let rest = value
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}
