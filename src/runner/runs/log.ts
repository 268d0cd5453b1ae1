/** The log of one run: its head and its tail are kept, and what lies between is counted (CHK-13). */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { runLines } from '../../queue/words/run.ts'

const pack = promisify(gzip)

/** Bytes that are kept of a log's head, and of its tail. */
export const logBounds = { head: 4 * 2 ** 20, tail: 4 * 2 ** 20 } as const

export interface RunLog {
  add(bytes: Uint8Array): void
  /** A line of the runner's own, on a line of its own. */
  line(text: string): void
  /** Bytes that came in so far. */
  readonly bytes: number
  /** What is kept, as gzip, and its size before. Undefined when nothing was written. */
  packed(): Promise<{ log: Uint8Array; logBytes: number } | undefined>
}

/** A log within bounds; where it is cut it is cut between two lines, and the cut is said. */
export function createRunLog(bounds: { head: number; tail: number } = logBounds): RunLog {
  const head: Uint8Array[] = []
  const tail: Uint8Array[] = []
  let headBytes = 0
  let tailBytes = 0
  let bytes = 0
  let last = 0x0a

  function add(piece: Uint8Array): void {
    if (piece.length === 0) return
    bytes += piece.length
    last = piece[piece.length - 1] ?? last
    const room = bounds.head - headBytes
    const first = tail.length === 0 ? piece.subarray(0, Math.max(0, room)) : piece.subarray(0, 0)
    if (first.length > 0) {
      // Copied: a piece may be a window into a buffer that is used again.
      head.push(Uint8Array.from(first))
      headBytes += first.length
    }
    const rest = piece.subarray(Math.max(first.length, piece.length - bounds.tail))
    if (rest.length === 0) return
    tail.push(Uint8Array.from(rest))
    tailBytes += rest.length
    for (let oldest = tail[0]; oldest !== undefined && tailBytes - oldest.length >= bounds.tail; oldest = tail[0]) {
      tail.shift()
      tailBytes -= oldest.length
    }
  }

  function text(): Buffer {
    const kept = Buffer.concat(tail)
    if (headBytes + tailBytes === bytes) return Buffer.concat([...head, kept])
    const begin = Buffer.concat(head)
    const upTo = begin.lastIndexOf(0x0a) + 1
    const cut = kept.indexOf(0x0a) + 1
    const shown = begin.subarray(0, upTo === 0 ? begin.length : upTo)
    const end = kept.subarray(cut)
    const said = `${upTo === 0 ? '\n' : ''}${runLines.cut(bytes - shown.length - end.length)}\n`
    return Buffer.concat([shown, Buffer.from(said), end])
  }

  return {
    add,
    line(said) {
      add(Buffer.from(`${last === 0x0a ? '' : '\n'}${said}\n`))
    },
    get bytes() {
      return bytes
    },
    async packed() {
      if (bytes === 0) return undefined
      const whole = text()
      return { log: await pack(whole), logBytes: whole.length }
    },
  }
}
