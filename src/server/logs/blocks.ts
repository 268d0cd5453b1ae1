/** A text of any length cut into blocks of whole lines, so that any of its lines is found by reading one block. */

/** A piece of a text. */
export interface Block {
  /** Whole lines, each with its line feed, but the last of the text where that has none. */
  bytes: Buffer
  lines: number
}

/** `block`: bytes after which a block ends with the line. `line`: bytes kept of one line; of what was written over only the last is counted. */
export interface BlockBounds {
  block: number
  line: number
}

export interface Blocks {
  /** The blocks that are whole with these bytes. */
  add(bytes: Uint8Array): Block[]
  /** What is left, if anything. */
  end(): Block | undefined
}

const FEED = 0x0a
const RETURN = 0x0d
/** Said in place of what is over the bound of a line. */
const more = Buffer.from(' …')

/** Holds one block and never more, whatever comes in. */
export function createBlocks({ block, line }: BlockBounds): Blocks {
  const held = Buffer.allocUnsafe(block + line + more.length + 2)
  let length = 0
  let lines = 0
  let lineAt = 0
  let isCut = false
  /** Of what was cut the last byte. */
  let last: number | undefined

  function put(piece: Uint8Array): void {
    if (piece.length <= line - (length - lineAt)) {
      held.set(piece, length)
      length += piece.length
      return
    }
    // A line that is written over again and again, as progress is, counts as it stood at the end.
    const over = piece.lastIndexOf(RETURN, piece.length - 2)
    if (over >= 0 || (isCut && last === RETURN)) {
      length = lineAt
      isCut = false
    } else if (!isCut) {
      const back = held.subarray(lineAt, length).lastIndexOf(RETURN)
      held.copyWithin(lineAt, lineAt + back + 1, length)
      length -= back + 1
    }
    last = piece.at(-1)
    const rest = piece.subarray(over + 1)
    const taken = rest.subarray(0, line - (length - lineAt))
    held.set(taken, length)
    length += taken.length
    isCut ||= taken.length < rest.length
  }

  function endLine(feed: boolean): void {
    if (isCut) {
      held.set(more, length)
      length += more.length
      isCut = false
    }
    if (feed) held[length++] = FEED
    lineAt = length
    lines++
  }

  function take(): Block {
    const taken = { bytes: Buffer.from(held.subarray(0, length)), lines }
    length = 0
    lineAt = 0
    lines = 0
    return taken
  }

  return {
    add(bytes) {
      const whole: Block[] = []
      let at = 0
      for (let feed = bytes.indexOf(FEED); feed >= 0; feed = bytes.indexOf(FEED, at)) {
        put(bytes.subarray(at, feed))
        endLine(true)
        at = feed + 1
        if (length >= block) whole.push(take())
      }
      if (at < bytes.length) put(bytes.subarray(at))
      return whole
    },
    end() {
      if (length > lineAt || isCut) endLine(false)
      return lines === 0 ? undefined : take()
    },
  }
}

/** The lines of a block's bytes. */
export function linesOf(bytes: Buffer): string[] {
  const lines = bytes.toString('utf8').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
