/** How far two clocks may lie apart before a program stops writing (REC-8), in milliseconds. */
export const MAX_CLOCK_SKEW_MS = 60_000

/**
 * How far another clock is ahead of `now` (milliseconds) by an answer's Date header, in milliseconds, negative when it is behind; undefined
 * without a readable one. The header counts in whole seconds, so up to a second is noise.
 */
export function clockSkewMs(dateHeader: string | null | undefined, now: number): number | undefined {
  const theirs = Date.parse(dateHeader ?? '')
  return Number.isNaN(theirs) ? undefined : theirs - now
}
