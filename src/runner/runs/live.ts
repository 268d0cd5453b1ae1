/** A run's output while it runs, in pieces of text: bounded, so that one that prints without end costs as little as another. */

/** `piece`: bytes of a piece at most. `held`: bytes that wait for the next sending; of what comes faster the oldest is passed over. `everyMs`: between two sendings. */
export const liveBounds = { piece: 16_000, held: 64 * 2 ** 10, everyMs: 500 } as const

export interface Live {
  add(bytes: Uint8Array): void
  /** Sends what is held. */
  end(): void
}

/** Sends output on. `offset` is where a piece starts in the log, in bytes; what came faster than it could be sent is missing between two pieces. */
export function createLive(
  send: (offset: number, text: string) => void,
  bounds: Record<keyof typeof liveBounds, number> = liveBounds,
): Live {
  let held: Buffer = Buffer.alloc(0)
  let offset = 0
  let timer: NodeJS.Timeout | undefined

  function flush(all: boolean): void {
    clearTimeout(timer)
    timer = undefined
    const end = all ? held.length : wholeUpTo(held, held.length)
    for (let from = 0; from < end; ) {
      const to = end - from <= bounds.piece ? end : Math.max(from + 1, wholeUpTo(held, from + bounds.piece))
      send(offset + from, held.toString('utf8', from, to))
      from = to
    }
    held = held.subarray(end)
    offset += end
  }

  return {
    add(bytes) {
      const skipped = Math.max(0, held.length + bytes.length - bounds.held)
      held = Buffer.concat([held, bytes]).subarray(skipped)
      offset += skipped
      timer ??= setTimeout(flush, bounds.everyMs, false).unref()
    },
    end: () => flush(true),
  }
}

/** The last place up to `end` where no character of UTF-8 is cut in two. */
function wholeUpTo(bytes: Buffer, end: number): number {
  for (let at = end - 1; at >= Math.max(0, end - 4); at--) {
    const byte = bytes[at] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return at + length > end ? at : end
  }
  return end
}
