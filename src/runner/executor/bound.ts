import { runLines } from '../../queue/words/run.ts'
import type { Through } from './mask.ts'

/** Bytes of a run's output: the first that are passed on as they come, the last that are kept, and how much ends the run. */
export interface OutputLimits {
  head: number
  tail: number
  most: number
}

/**
 * Passes the first bytes on as they come and keeps the last ones for the end, the cut said between them (CHK-13). Past `most` it says so once,
 * by `tooMuch`. Its memory is `tail` bytes at most, whatever comes.
 */
export function createBound(limits: OutputLimits, write: (bytes: Buffer) => void, tooMuch: () => void): Through {
  let total = 0
  let passed = 0
  let last: number | undefined
  let ring: Buffer | undefined
  /** Bytes that came after the head. */
  let after = 0

  function keep(bytes: Buffer): void {
    ring ??= Buffer.alloc(limits.tail)
    const end = bytes.subarray(Math.max(0, bytes.length - limits.tail))
    let at = (after + bytes.length - end.length) % limits.tail
    for (let from = 0; from < end.length; ) {
      const n = Math.min(limits.tail - at, end.length - from)
      end.copy(ring, at, from, from + n)
      from += n
      at = (at + n) % limits.tail
    }
    after += bytes.length
  }

  function emit(bytes: Buffer): void {
    if (bytes.length === 0) return
    last = bytes.at(-1)
    write(bytes)
  }

  return {
    write(bytes) {
      const before = total
      total += bytes.length
      const room = Math.min(bytes.length, limits.head - passed)
      if (room > 0) {
        passed += room
        emit(bytes.subarray(0, room))
      }
      if (room < bytes.length) keep(bytes.subarray(Math.max(0, room)))
      if (before <= limits.most && total > limits.most) tooMuch()
    },
    end() {
      if (ring === undefined) return
      const at = after % limits.tail
      const kept = after <= limits.tail ? ring.subarray(0, after) : Buffer.concat([ring.subarray(at), ring.subarray(0, at)])
      const left = after - kept.length
      if (left > 0) {
        // The first line of the tail is not whole.
        const line = kept.subarray(0, 4096).indexOf(0x0a) + 1
        emit(Buffer.from(`${last === 0x0a ? '' : '\n'}${runLines.cut(left + line)}\n`))
        emit(kept.subarray(line))
      } else emit(kept)
      ring = undefined
    },
  }
}
