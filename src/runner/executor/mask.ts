const stars = Buffer.from('***')
/** What is shorter is no secret, and would be found everywhere. */
const shortest = 4

/** A stream of bytes that passes through. */
export interface Through {
  write(bytes: Buffer): void
  /** Lets out what is held back. */
  end(): void
}

/**
 * Replaces secrets by stars in all that passes, wherever the chunks break: what may be the beginning of one is held back until more comes. A
 * secret of several lines is masked line by line as well, and each also as base64.
 */
export function createMask(secrets: Iterable<string>, write: (bytes: Buffer) => void): Through {
  const needles = needlesOf(secrets)
  if (needles.length === 0) return { write, end() {} }
  let held: Buffer = Buffer.alloc(0)

  function pass(bytes: Buffer, more: boolean): void {
    let from = 0
    for (;;) {
      const stop = more ? beginningOfHeld(bytes, from, needles) : bytes.length
      const match = firstMatch(bytes, from, stop, needles)
      if (match === undefined) {
        if (stop > from) write(bytes.subarray(from, stop))
        // A copy: what is held must not keep the whole chunk.
        held = Buffer.from(bytes.subarray(stop))
        return
      }
      if (match.at > from) write(bytes.subarray(from, match.at))
      write(stars)
      from = match.at + match.length
    }
  }
  return {
    write(bytes) {
      pass(held.length === 0 ? bytes : Buffer.concat([held, bytes]), true)
    },
    end() {
      pass(held, false)
    },
  }
}

/** Longest first, so that of two that begin together the longer is taken. */
function needlesOf(secrets: Iterable<string>): Buffer[] {
  const texts = new Set<string>()
  for (const secret of secrets) {
    for (const text of [secret, secret.trim(), ...secret.split(/\r?\n/).map(line => line.trim())]) {
      texts.add(text)
      texts.add(Buffer.from(text).toString('base64'))
    }
  }
  return [...texts]
    .filter(text => text.length >= shortest)
    .map(text => Buffer.from(text))
    .sort((a, b) => b.length - a.length)
}

/** The first needle that begins in `from..stop`; it may end behind it. */
function firstMatch(bytes: Buffer, from: number, stop: number, needles: readonly Buffer[]): { at: number; length: number } | undefined {
  let best: { at: number; length: number } | undefined
  for (const needle of needles) {
    const end = Math.min(bytes.length, (best?.at ?? stop) + needle.length)
    const at = bytes.subarray(from, end).indexOf(needle)
    if (at >= 0 && from + at < (best?.at ?? stop)) best = { at: from + at, length: needle.length }
  }
  return best
}

/** Where the longest end of the bytes begins that a needle may begin with. */
function beginningOfHeld(bytes: Buffer, from: number, needles: readonly Buffer[]): number {
  let begin = bytes.length
  for (const needle of needles) {
    for (let at = Math.max(from, bytes.length - needle.length + 1); at < begin; at++) {
      if (bytes[at] !== needle[0]) continue
      if (bytes.compare(needle, 0, bytes.length - at, at) === 0) begin = at
    }
  }
  return begin
}
