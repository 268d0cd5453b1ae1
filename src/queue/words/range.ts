/** Ranges of time, which are never said more exactly than they are known. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A range of spans in milliseconds: "8–10 min", "under 3 min", "50 min to 2 h", "5–7 h". The browser's script says the same. */
export function rangeText(from: number, to: number): string {
  if (to < 90 * MINUTE) return range(from, to, MINUTE, 'min')
  if (to < 2 * DAY) {
    const isShort = from >= MINUTE && from < HOUR
    return isShort ? `${Math.floor(from / MINUTE)} min to ${Math.ceil(to / HOUR)} h` : range(from, to, HOUR, 'h')
  }
  return to > 14 * DAY ? 'more than a week' : range(from, to, DAY, 'days')
}

function range(from: number, to: number, unit: number, name: string): string {
  const [low, high] = [Math.max(0, Math.floor(from / unit)), Math.max(1, Math.ceil(to / unit))]
  const one = name.replace(/s$/, '')
  if (low === 0) return `under ${high} ${high === 1 ? one : name}`
  return low === high ? `about ${low} ${low === 1 ? one : name}` : `${low}–${high} ${name}`
}
