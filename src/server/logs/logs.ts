import { createGunzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Did } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { logLines } from './lines.ts'

/** Where a log lies: the runner's account, and its parts in order. */
export interface LogAt {
  did: Did
  /** CIDs of the parts. */
  parts: readonly string[]
}

export type ReadLog =
  | {
      ok: true
      lines: readonly string[]
      /** The log is longer than what is shown here: it was cut at its end. */
      cut: boolean
    }
  /** `gone`: its account has it no more; `unread`: its server does not answer now; `busy`: too many are being read; `broken`: it is no log. */
  | { ok: false; why: 'gone' | 'unread' | 'busy' | 'broken'; host?: string | undefined }

/** Logs of runs, read from their runners' accounts. */
export interface Logs {
  of(at: LogAt): Promise<ReadLog>
}

/** Bytes of a log as it lies there, and unpacked: a small file can hold a very long text. */
const PACKED = 24 * 2 ** 20
const UNPACKED = 16 * 2 ** 20
/** Characters kept of all logs together. */
const KEPT = 64 * 2 ** 20
const AT_ONCE = 4
const READ_MS = 20_000

/** A blob never changes, so that a log that was read is kept; each is read once however many ask. */
export function createLogs({ reader }: { reader: Pick<Reader, 'getBlob'> }): Logs {
  const kept = new LRUCache<string, Extract<ReadLog, { ok: true }>>({
    max: 500,
    maxSize: KEPT,
    sizeCalculation: log => 100 + log.lines.reduce((all, line) => all + line.length + 20, 0),
  })
  const reading = new Map<string, Promise<ReadLog>>()

  async function read(key: string, at: LogAt): Promise<ReadLog> {
    try {
      const text = await readText(reader, at)
      if (text === undefined) return { ok: false, why: 'gone' }
      const log = { ok: true as const, lines: logLines(text.text), cut: text.cut }
      kept.set(key, log)
      return log
    } catch (error) {
      if (error instanceof UpstreamError) return { ok: false, why: 'unread', host: error.host }
      if (isZlibError(error)) return { ok: false, why: 'broken' }
      throw error
    } finally {
      reading.delete(key)
    }
  }

  return {
    async of(at) {
      const key = `${at.did} ${at.parts.join(' ')}`
      const known = kept.get(key) ?? reading.get(key)
      if (known !== undefined) return await known
      if (reading.size >= AT_ONCE) return { ok: false, why: 'busy' }
      const asked = read(key, at)
      reading.set(key, asked)
      return await asked
    },
  }
}

/** The text of a log, bounded; undefined when a part of it is not there. */
async function readText(reader: Pick<Reader, 'getBlob'>, { did, parts }: LogAt): Promise<{ text: string; cut: boolean } | undefined> {
  const packed: Uint8Array[] = []
  let size = 0
  const signal = AbortSignal.timeout(READ_MS)
  for (const cid of parts) {
    if (size >= PACKED) break
    const blob = await reader.getBlob(did, cid, { maxBytes: PACKED, totalMs: READ_MS, signal })
    if (blob === undefined) return undefined
    for await (const chunk of blob) {
      packed.push(chunk)
      size += chunk.length
    }
  }
  return await unpack(packed)
}

/** Parts are one gzip stream, or each one of its own: both unpack as one. What comes after the bound is left. */
function unpack(packed: readonly Uint8Array[]): Promise<{ text: string; cut: boolean }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ text: string; cut: boolean }>()
  const gunzip = createGunzip()
  const out: Buffer[] = []
  let size = 0
  const end = (cut: boolean) => resolve({ text: new TextDecoder().decode(Buffer.concat(out).subarray(0, UNPACKED)), cut })
  gunzip.on('data', (chunk: Buffer) => {
    out.push(chunk)
    size += chunk.length
    if (size <= UNPACKED) return
    gunzip.destroy()
    end(true)
  })
  gunzip.on('end', () => end(false))
  gunzip.on('error', reject)
  for (const chunk of packed) gunzip.write(chunk)
  gunzip.end()
  return promise
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_')
}
