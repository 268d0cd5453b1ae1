import { LRUCache } from 'lru-cache'

/** The end of a log that is still being written. */
export interface LiveLog {
  text: string
  /** Where the text starts in the log, in bytes: what came before it is not kept. */
  from: number
}

/** Output of runs while they go on, as their runners send it: bounded, in memory, gone once the whole log lies in the runner's account. */
export interface LiveLogs {
  /** Takes a piece; one that was sent before changes nothing, one after a gap starts anew. */
  add(check: string, piece: { offset: number; text: string }): void
  of(check: string): LiveLog | undefined
  /** Where it ends, in bytes; 0 where nothing is kept of it. */
  endOf(check: string): number
  drop(check: string): void
  /** Every check that has one. */
  checks(): string[]
  /** Tells of a check whose log can be read now, as if it grew. */
  tell(check: string): void
  /** Tells of each check whose log grew. */
  onGrown(listener: (check: string) => void): () => void
}

/** Bytes kept of one log, from its end, and of all together. */
const KEPT = 256 * 1024
const KEPT_IN_ALL = 32 * 2 ** 20
const MOST_LOGS = 2_000
/** A runner that says nothing for this long does not come back to the same run. */
const FORGET_AFTER = 60 * 60_000

export function createLiveLogs(): LiveLogs {
  const kept = new LRUCache<string, { bytes: Buffer; from: number }>({
    max: MOST_LOGS,
    maxSize: KEPT_IN_ALL,
    ttl: FORGET_AFTER,
    sizeCalculation: log => log.bytes.length + 1_000,
  })
  const listeners = new Set<(check: string) => void>()

  return {
    add(check, { offset, text }) {
      const piece = Buffer.from(text)
      const known = kept.get(check)
      const end = known === undefined ? 0 : known.from + known.bytes.length
      const follows = known !== undefined && offset <= end
      const rest = follows ? piece.subarray(end - offset) : piece
      if (follows && rest.length === 0) return
      const all = follows ? Buffer.concat([known.bytes, rest]) : rest
      const cut = Math.max(0, all.length - KEPT)
      kept.set(check, { bytes: all.subarray(cut), from: (follows ? known.from : offset) + cut })
      for (const listener of listeners) listener(check)
    },
    of(check) {
      const log = kept.get(check)
      if (log === undefined) return undefined
      return { text: new TextDecoder().decode(log.bytes), from: log.from }
    },
    endOf(check) {
      const log = kept.get(check)
      return log === undefined ? 0 : log.from + log.bytes.length
    },
    tell(check) {
      for (const listener of listeners) listener(check)
    },
    drop: check => void kept.delete(check),
    checks: () => [...kept.keys()],
    onGrown(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
