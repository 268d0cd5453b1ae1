/**
 * Record keys as times. A TID is 13 characters of a base 32 whose letters sort as its digits do: 54 bits of microseconds since 1970, then
 * 10 bits that keep writers apart. Two keys compare as strings.
 */

const ALPHABET = '234567abcdefghijklmnopqrstuvwxyz'
/** What each digit stands for, by its character code. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, ALPHABET.indexOf(String.fromCharCode(code))))
const SHAPE = /^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/
/** The last time that a key can carry, in the year 2255. */
export const MAX_MILLIS = Math.floor((2 ** 53 - 1) / 1000)

/** Whether a record key is a TID; one that is not never counts (REC-3). */
export function isTid(key: string): boolean {
  return SHAPE.test(key)
}

/** The time that a TID carries, in whole milliseconds since 1970; NaN when `key` is no TID, so that no comparison with it holds. */
export function tidMillis(key: string): number {
  if (!isTid(key)) return Number.NaN
  let micros = 0
  for (let i = 0; i < 11; i++) micros = micros * 32 + (VALUES[key.charCodeAt(i)] ?? 0)
  return Math.floor(micros / 1000)
}

/**
 * The TID of a time in milliseconds since 1970 (fractions count as microseconds), with a writer's number from 0 to 1023.
 * Throws RangeError for a time before 1970 or past the year 2255, and for a number out of its range.
 */
export function tidAt(ms: number, clockId = 0): string {
  if (!(ms >= 0 && ms <= MAX_MILLIS)) throw new RangeError(`no key can carry the time ${ms}`)
  if (!Number.isInteger(clockId) || clockId < 0 || clockId > 1023) throw new RangeError(`a writer's number is 0 to 1023, not ${clockId}`)
  return digits(Math.round(ms * 1000), 11) + digits(clockId, 2)
}

function digits(value: number, length: number): string {
  let text = ''
  let rest = value
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}
