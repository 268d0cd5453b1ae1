/** Gets a field, cut at the bound, and its full length in bytes; answers false when it has enough. */
type Take = (field: Buffer, length: number) => boolean

/**
 * Splits a stream into fields that each end in NUL, cut at `most` bytes. The function made takes the stream's chunks in order and answers what
 * `take` answered: what `onOutput` of a git run wants.
 */
export function nulFields(most: number, take: Take): (chunk: Buffer) => boolean {
  return split(0, most, take)
}

/** The same for lines, each ended by a newline. */
export function splitLines(most: number, take: Take): (chunk: Buffer) => boolean {
  return split(0x0a, most, take)
}

function split(mark: number, most: number, take: Take): (chunk: Buffer) => boolean {
  let kept: Buffer[] = []
  let keptSize = 0
  let length = 0
  function add(piece: Buffer): void {
    length += piece.length
    if (keptSize >= most) return
    const part = piece.subarray(0, most - keptSize)
    kept.push(part)
    keptSize += part.length
  }
  return chunk => {
    let start = 0
    for (let end = chunk.indexOf(mark); end >= 0; end = chunk.indexOf(mark, start)) {
      add(chunk.subarray(start, end))
      const field = Buffer.concat(kept)
      const whole = length
      kept = []
      keptSize = 0
      length = 0
      start = end + 1
      if (!take(field, whole)) return false
    }
    add(chunk.subarray(start))
    return true
  }
}
