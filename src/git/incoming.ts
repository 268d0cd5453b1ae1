import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { createCid, RAW_DATA_CODEC, SHA256_HASH_CODE } from '@atproto/lex-data'
import { packFile, type Quarantine } from './quarantine.ts'
import type { BlobRef, PackRow } from './refs-record.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { type GitRun, runGit } from './run.ts'
import { splitLines } from './split-stream.ts'
import { words } from './words.ts'

/** What a blob read answers instead of bytes. */
export interface BlobRefusal {
  code: 'blob-missing' | 'upstream-failed'
  message: string
}

/**
 * Reads one blob: its CID, the size that the record says, a signal that ends the read. Answers the bytes, or a refusal. An error thrown while
 * iterating counts as `upstream-failed`, unless its `code` is `blob-missing`. Bytes are checked against the CID here.
 */
export type FetchBlob = (
  cid: string,
  size: number,
  signal: AbortSignal,
) => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array> | BlobRefusal>

/** Bytes a millisecond that an account's server has to give, on the whole. */
const slowest = 16
/** What each part is given on top of that for being asked for, in milliseconds. */
const perPart = 1_000

/** Waits for bytes as one download has taken them up to now. A server may not trickle: one that does would keep others out for hours. */
export interface Pace {
  /** Milliseconds that were waited. */
  waited: number
  bytes: number
  parts: number
}

/** Whether the bytes came too slowly so far: after the first `idleMs` there has to be something to show for the wait. */
function isSlow({ waited, bytes, parts }: Pace, idleMs: number): boolean {
  return waited > idleMs + bytes / slowest + parts * Math.min(perPart, idleMs)
}

/**
 * Fetches a pack's parts into the quarantine as one file (STO-2), no byte more than the record says, each part checked against its CID, the
 * whole against its header and its trailer. Nothing of it is parsed yet. Answers a refusal, or nothing when all is well.
 */
export async function fetchPack(
  pack: PackRow,
  quarantine: Quarantine,
  fetchBlob: FetchBlob,
  options: { idleMs: number; signal: AbortSignal; pace: Pace },
): Promise<GitRefusal | undefined> {
  const path = packFile(quarantine, pack.id)
  const file = await open(path, 'w')
  let head = Buffer.alloc(0)
  let tail = Buffer.alloc(0)
  const take = async (chunk: Uint8Array) => {
    if (head.length < 12) head = Buffer.concat([head, chunk.subarray(0, 12)])
    tail = Buffer.concat([tail, chunk.subarray(-20)]).subarray(-20)
    await file.writeFile(chunk)
  }
  let fault: GitRefusal | undefined
  try {
    for (const part of pack.parts) {
      fault = await fetchPart(pack.id, part, fetchBlob, options, take)
      if (fault !== undefined) break
    }
    await file.sync()
  } finally {
    await file.close()
  }
  fault ??= shapeFault(pack, head, tail)
  if (fault !== undefined) await rm(path, { force: true })
  return fault
}

function shapeFault(pack: PackRow, head: Buffer, tail: Buffer): GitRefusal | undefined {
  const isPack = head.length >= 12 && head.toString('latin1', 0, 4) === 'PACK' && head.readUInt32BE(4) === 2
  if (!isPack || head.readUInt32BE(8) !== pack.objects) return refuse('bad-pack', words.packHeader(pack.id))
  if (tail.toString('hex') !== pack.id) return refuse('bad-pack', words.packTrailer(pack.id))
  return undefined
}

async function fetchPart(
  id: string,
  part: BlobRef,
  fetchBlob: FetchBlob,
  options: { idleMs: number; signal: AbortSignal; pace: Pace },
  take: (chunk: Uint8Array) => Promise<void>,
): Promise<GitRefusal | undefined> {
  const done = new AbortController()
  const signal = AbortSignal.any([done.signal, options.signal])
  const hash = createHash('sha256')
  const { pace, idleMs } = options
  let size = 0
  try {
    pace.parts += 1
    const body = await within(Promise.resolve(fetchBlob(part.ref.$link, part.size, signal)), options)
    if (!(Symbol.asyncIterator in body)) return blobFault(id, body)
    const reader = body[Symbol.asyncIterator]()
    for (;;) {
      const asked = performance.now()
      const step = await within(reader.next(), options)
      if (step.done) break
      size += step.value.length
      pace.bytes += step.value.length
      pace.waited += performance.now() - asked
      if (isSlow(pace, idleMs)) {
        reader.return?.().catch(() => undefined)
        return refuse('upstream-failed', words.blobSlow(id))
      }
      if (size > part.size) {
        reader.return?.().catch(() => undefined)
        return refuse('bad-pack', words.blobWrongSize(id))
      }
      hash.update(step.value)
      await take(step.value)
    }
  } catch (error) {
    return error instanceof Stalled ? refuse('upstream-failed', words.blobStalled(id)) : blobFault(id, error)
  } finally {
    done.abort()
  }
  if (size !== part.size) return refuse('bad-pack', words.blobWrongSize(id))
  const cid = createCid(RAW_DATA_CODEC, SHA256_HASH_CODE, hash.digest()).toString()
  return cid === part.ref.$link ? undefined : refuse('bad-pack', words.blobWrongHash(id))
}

function blobFault(id: string, error: unknown): GitRefusal {
  const missing = typeof error === 'object' && error !== null && 'code' in error && error.code === 'blob-missing'
  return missing ? refuse('blob-missing', words.blobMissing(id)) : refuse('upstream-failed', words.blobFailed(id))
}

class Stalled extends Error {}

/** The promise's outcome, unless it takes longer than `idleMs` or the signal comes first: then it throws `Stalled`. */
async function within<T>(promise: Promise<T>, options: { idleMs: number; signal: AbortSignal }): Promise<T> {
  promise.catch(() => undefined)
  const stalled = Promise.withResolvers<never>()
  const stop = () => stalled.reject(new Stalled())
  const timer = setTimeout(stop, options.idleMs)
  options.signal.addEventListener('abort', stop, { once: true })
  if (options.signal.aborted) stop()
  try {
    return await Promise.race([promise, stalled.promise])
  } finally {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', stop)
  }
}

/**
 * Indexes a fetched pack where it lies, under git's strict check and with bounded memory and CPU (STO-11): every object well formed, every link
 * leading to an object of the quarantine or of what it stands before. On a refusal the pack stays, unindexed; `missing-object` may pass later.
 * `index`: where to write the index instead, of a pack that has one.
 */
export async function indexPack(
  gitDir: string,
  quarantine: Quarantine,
  pack: Pick<PackRow, 'id' | 'bytes'>,
  options: { signal?: AbortSignal; index?: string },
): Promise<GitRefusal | undefined> {
  const path = packFile(quarantine, pack.id)
  const out = options.index === undefined ? [] : ['-o', options.index]
  const run = await runGit(['index-pack', '--strict', '--threads=2', ...out, path], {
    dir: gitDir,
    env: quarantine.env,
    ulimit: { memoryKiB: 1_500_000, cpuSeconds: 30 + Math.ceil(pack.bytes / 2 ** 22) },
    timeoutMs: 600_000,
    signal: options.signal,
  })
  if (run.code === 0) {
    return run.stdout.toString('latin1').trim() === pack.id ? undefined : refuse('bad-pack', words.packTrailer(pack.id))
  }
  if (options.index === undefined) await Promise.all(['idx', 'rev'].map(end => rm(path.replace(/pack$/, end), { force: true })))
  return run.ended === 'aborted' ? refuse('upstream-failed', words.syncTimeout()) : indexFault(run, pack.id)
}

/** What a failed run of index-pack says of its pack: it leads nowhere, is too much for the limits, or is corrupt. */
export function indexFault(run: GitRun, id: string | undefined): GitRefusal {
  if (run.ended === 'not-started' || run.code === 125) return refuse('failed', words.gitFailed('index a pack'))
  if (run.ended !== 'exit' || /out of memory|cannot allocate|mmap failed|unable to create thread/i.test(run.stderr)) {
    return refuse('too-large', words.packBomb(id))
  }
  if (/did not receive expected object|unresolved delta|missing (blob|tree|commit|tag)/.test(run.stderr)) {
    return refuse('missing-object', words.packLinks(id))
  }
  return refuse('bad-pack', words.packRefused(id, reason(run.stderr)))
}

/** The first complaint that git printed, without its prefix; a complaint that holds a path is not passed on. */
function reason(stderr: string): string {
  const line = stderr.split('\n').find(text => /^(error|fatal): /.test(text)) ?? ''
  const text = line.replace(/^(error|fatal): /, '').replace(/\.$/, '')
  return text === '' || /\/.*\//.test(text) ? 'it is corrupt' : text.slice(0, 200).replace(/[^\x20-\x7e]/g, '?')
}

/**
 * An object of the quarantine that is larger than `most` bytes, as its header says it; or that the objects could not be listed. `note` is told of
 * each object.
 */
export async function oversized(
  gitDir: string,
  quarantine: Quarantine,
  most: number,
  signal?: AbortSignal,
  note?: (id: string, type: string) => void,
): Promise<{ refusal: GitRefusal; object?: { id: string; bytes: number } } | undefined> {
  let object: { id: string; bytes: number } | undefined
  const run = await runGit(['cat-file', '--batch-all-objects', '--unordered', '--batch-check=%(objectname) %(objecttype) %(objectsize)'], {
    dir: gitDir,
    env: quarantine.alone,
    timeoutMs: 120_000,
    signal,
    onOutput: splitLines(80, line => {
      const [id = '', type = '', size] = line.toString('latin1').split(' ')
      note?.(id, type)
      if (Number(size) > most) object = { id, bytes: Number(size) }
      return object === undefined
    }),
  })
  if (object !== undefined) return { refusal: refuse('too-large', words.objectTooBig(object.id, object.bytes, most)), object }
  return run.code === 0 ? undefined : { refusal: refuse('failed', words.gitFailed('list the objects of a pack')) }
}
