import { deflateRawSync } from 'node:zlib'

/** Bytes that a line's number and anchors come to on a page, packed. */
const FRAME = 14

/**
 * How many of these lines, from the first on, a page can carry within `room` bytes as they go over the line, packed; at least one. They are as the page
 * has them, with what colours them: what a program printed may be mostly written over, or change its colour at each letter. It packs tenfold or not at
 * all, so that neither its lines nor its letters tell what a page will weigh.
 */
export function fitting(lines: readonly string[], room: number): number {
  let count = Math.min(lines.length, Math.max(1, Math.floor(room / FRAME)))
  while (count > 1) {
    const weight = deflateRawSync(lines.slice(0, count).join('\n'), { level: 1 }).length + count * FRAME
    if (weight <= room) break
    count = Math.max(1, Math.min(count - 1, Math.floor((count * room) / weight)))
  }
  return count
}
