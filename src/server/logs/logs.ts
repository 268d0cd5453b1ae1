import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Did } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { linesOf } from './blocks.ts'
import { type CopyBounds, type CopyIndex, copyBounds, createCopies } from './copies.ts'
import { lastAtMost } from './search.ts'

/** Where a log lies: the runner's account, and its parts in order. */
export interface LogAt {
  did: Did
  /** CIDs of the parts. */
  parts: readonly string[]
}

/** Lines of a log. */
export interface LogPart {
  /** Number of the first, from 1. */
  first: number
  lines: readonly string[]
  /** Some of those before: what they set, such as a colour, may still hold. */
  before: readonly string[]
}

/** A log that this server has a copy of. Its lines are as they were printed, orders to a terminal included. */
export interface OpenLog {
  ok: true
  lines: number
  /** Bytes of its text. */
  bytes: number
  /** `long`: it goes on, past every bound; `damaged`: what comes after this cannot be unpacked. */
  cut?: CopyIndex['cut']
  /** `count` lines from `first` (from 1) on, or fewer: at the end, and where lines are very long. */
  range(first: number, count: number): Promise<LogPart>
  /** The last `count` lines up to the one of number `last`, which is the end unless given; or fewer. */
  tail(count: number, last?: number): Promise<LogPart>
  /** All of it, some lines at a time. */
  all(): AsyncIterable<{ first: number; lines: readonly string[] }>
}

export type ReadLog =
  | OpenLog
  /**
   * `gone`: its account has it no more; `unread`: its server does not answer now; `busy`: too many are being read; `broken`: it is no log; `no-room`:
   * this server's disk takes no copy.
   */
  | { ok: false; why: 'gone' | 'unread' | 'busy' | 'broken' | 'no-room'; host?: string | undefined }
  /** It is long, and so many lines of it were read so far. `done` settles when it is read or cannot be. */
  | { ok: false; why: 'reading'; lines: number; done: Promise<unknown> }

/** Logs of runs, read from their runners' accounts. */
export interface Logs {
  /** `waitMs`: how long a log that is not here yet is waited for. */
  of(at: LogAt, waitMs?: number): Promise<ReadLog>
}

/** Bytes of a log as it lies there, and how long reading it may take. */
const PACKED = 2 ** 28
const PART_BYTES = 52_428_800
const READ_MS = 300_000
const PART_MS = 60_000
const AT_ONCE = 6
/** Of one account's. */
const EACH_AT_ONCE = 2
const WAIT_MS = 3_000
/** Characters of blocks that were read lately, and entries of indexes. */
const KEPT_TEXT = 2 ** 23
const KEPT_INDEXES = 2 ** 17
/** Characters of lines that are given out at once. */
const PART = 2 ** 19

class Gone extends Error {}

interface Reading {
  did: Did
  lines: number
  /** Settles when it is read or cannot be; never rejects. */
  done: Promise<ReadLog>
}

/**
 * A blob never changes, so that a log is read once, into a copy in `folder`, however many ask and however long it is; what is held of it in memory is a
 * block.
 */
export function createLogs(deps: { reader: Pick<Reader, 'getBlob'>; folder: string; bounds?: CopyBounds; packed?: number }): Logs {
  const copies = createCopies(deps.folder, deps.bounds ?? copyBounds)
  const most = deps.packed ?? PACKED
  const indexes = new LRUCache<string, CopyIndex>({ maxSize: KEPT_INDEXES, sizeCalculation: index => 1 + index.blocks.length })
  const texts = new LRUCache<string, readonly string[]>({
    maxSize: KEPT_TEXT,
    sizeCalculation: lines => lines.reduce((sum, line) => sum + line.length + 16, 64),
  })
  const reading = new Map<string, Reading>()

  async function blockOf(key: string, index: CopyIndex, at: number): Promise<readonly string[]> {
    const name = `${at} ${key}`
    const known = texts.get(name)
    if (known !== undefined) return known
    const lines = linesOf(await copies.block(key, index, at))
    texts.set(name, lines)
    return lines
  }

  function opened(key: string, index: CopyIndex): ReadLog {
    if (index.cut === 'damaged' && index.lines === 0) return { ok: false, why: 'broken' }
    return {
      ok: true,
      lines: index.lines,
      bytes: index.bytes,
      ...(index.cut === undefined ? {} : { cut: index.cut }),
      async range(first, count) {
        const at = blockAt(index, first)
        const begun = index.blocks[at]?.[1] ?? 1
        const block = await blockOf(key, index, at)
        const before = block.slice(0, Math.max(0, first - begun))
        const part = bounded(block.slice(before.length), count)
        for (let next = at + 1; part.isWhole && part.taken.length < count && next < index.blocks.length; next++) {
          const more = bounded(await blockOf(key, index, next), count - part.taken.length, part.left)
          part.taken.push(...more.taken)
          part.left = more.left
          part.isWhole = more.isWhole
        }
        return { first: begun + before.length, lines: part.taken, before }
      },
      async tail(count, last = index.lines) {
        const parts: string[][] = []
        let lines = 0
        let before: readonly string[] = []
        let left = PART
        const end = index.blocks.length === 0 ? -1 : blockAt(index, last)
        for (let at = end; at >= 0 && lines < count && left > 0; at--) {
          const whole = await blockOf(key, index, at)
          const block = at === end ? whole.slice(0, last + 1 - (index.blocks[at]?.[1] ?? 1)) : whole
          const more = bounded([...block].reverse(), count - lines, left)
          parts.unshift(more.taken.reverse())
          lines += more.taken.length
          before = block.slice(0, block.length - more.taken.length)
          if (!more.isWhole) break
          left = more.left
        }
        return { first: last - lines + 1, lines: parts.flat(), before }
      },
      async *all() {
        for (const [at, [, first]] of index.blocks.entries()) yield { first, lines: linesOf(await copies.block(key, index, at)) }
      },
    }
  }

  async function read(key: string, at: LogAt, told: (lines: number) => void): Promise<ReadLog> {
    const text = unpacked(deps.reader, at, most)
    try {
      const index = await copies.make(key, text.chunks(), { told, cutBy: error => (text.isLong() ? 'long' : damageOf(error)) })
      indexes.set(key, index)
      return opened(key, index)
    } catch (error) {
      if (error instanceof Gone) return { ok: false, why: 'gone' }
      if (error instanceof UpstreamError) return { ok: false, why: 'unread', host: error.host }
      if (isOfDisk(error)) return { ok: false, why: 'no-room' }
      throw error
    }
  }

  function begin(key: string, at: LogAt): Reading | undefined {
    const own = [...reading.values()].filter(({ did }) => did === at.did).length
    if (reading.size >= AT_ONCE || own >= EACH_AT_ONCE) return undefined
    const asked: Reading = { did: at.did, lines: 0, done: Promise.resolve({ ok: false, why: 'gone' }) }
    asked.done = read(key, at, lines => {
      asked.lines = lines
    }).finally(() => reading.delete(key))
    reading.set(key, asked)
    return asked
  }

  return {
    async of(at, waitMs = WAIT_MS) {
      const key = `${at.did} ${at.parts.join(' ')}`
      const held = indexes.get(key)
      // A copy may have been cleared away since.
      if (held !== undefined && (await copies.touch(key, held))) return opened(key, held)
      const known = reading.has(key) ? undefined : await copies.find(key)
      if (known !== undefined) {
        indexes.set(key, known)
        return opened(key, known)
      }
      const asked = reading.get(key) ?? begin(key, at)
      if (asked === undefined) return { ok: false, why: 'busy' }
      const soon = new AbortController()
      const late = pause(waitMs, 'late' as const, { signal: soon.signal }).catch(() => 'late' as const)
      const first = await Promise.race([asked.done, late]).finally(() => soon.abort())
      if (first !== 'late') return first
      const done = asked.done.catch(() => undefined)
      return { ok: false, why: 'reading', lines: asked.lines, done }
    },
  }
}

/** The first `count` lines, as long as they fit into so many characters; one at least, where these are all there are. */
function bounded(lines: readonly string[], count: number, room = PART): { taken: string[]; left: number; isWhole: boolean } {
  const taken: string[] = []
  let left = room
  for (const line of lines) {
    if (taken.length === count) break
    if (line.length > left && (taken.length > 0 || room < PART)) return { taken, left, isWhole: false }
    taken.push(line)
    left -= line.length
  }
  return { taken, left, isWhole: true }
}

/** The block that holds a line. */
function blockAt({ blocks }: CopyIndex, line: number): number {
  return lastAtMost(blocks.length, at => blocks[at]?.[1] ?? 0, line)
}

/** The text of a log as it is read. Parts are one gzip stream, or each one of its own: both unpack as one. */
function unpacked(reader: Pick<Reader, 'getBlob'>, { did, parts }: LogAt, most: number) {
  let isLong = false
  async function* packed() {
    let size = 0
    const signal = AbortSignal.timeout(READ_MS)
    for (const cid of parts) {
      const blob = await reader.getBlob(did, cid, { maxBytes: PART_BYTES, totalMs: PART_MS, signal })
      if (blob === undefined) throw new Gone()
      for await (const chunk of blob) {
        yield chunk
        size += chunk.length
        isLong = size >= most
        if (isLong) return
      }
    }
  }
  async function* chunks(): AsyncGenerator<Buffer> {
    const gunzip = createGunzip({ chunkSize: 2 ** 16 })
    const source = Readable.from(packed())
    source.on('error', error => gunzip.destroy(error))
    source.pipe(gunzip)
    let damage: unknown
    try {
      try {
        yield* gunzip
      } catch (error) {
        if (damageOf(error) === undefined) throw error
        damage = error
      }
      // What comes behind is read all the same: only at its end is it known that these are the bytes that were asked for.
      for await (const _ of source);
      if (damage !== undefined) throw damage
    } finally {
      source.destroy()
      gunzip.destroy()
    }
  }
  return { chunks, isLong: () => isLong }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function damageOf(error: unknown): CopyIndex['cut'] {
  return codeOf(error).startsWith('Z_') ? 'damaged' : undefined
}

function isOfDisk(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EIO', 'EMFILE', 'ENFILE'].includes(codeOf(error))
}
