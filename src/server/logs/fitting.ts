import { deflateRawSync } from 'node:zlib'

/** Bytes that a line's number and anchors come to on a page, packed. */
const FRAME = 14
/** Characters of a line that a page shows. */
const SHOWN = 4_000

/**
 * How many of these lines, from the first on, a page can carry within `room` bytes as they go over the line, packed; at least one. Output of programs
 * packs tenfold or not at all, so that neither its lines nor its letters tell what a page will weigh.
 */
export function fitting(lines: readonly string[], room: number): number {
  let count = Math.min(lines.length, Math.max(1, Math.floor(room / FRAME)))
  while (count > 1) {
    const text = lines.slice(0, count).map(line => line.slice(0, SHOWN))
    const weight = deflateRawSync(text.join('\n'), { level: 1 }).length + count * FRAME
    if (weight <= room) break
    count = Math.max(1, Math.min(count - 1, Math.floor((count * room) / weight)))
  }
  return count
}
