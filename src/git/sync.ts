import { type FetchBlob, fetchPack, indexPack, oversized, type Pace } from './incoming.ts'
import { type Mirror, packsOf } from './mirror.ts'
import { objectTypes } from './objects.ts'
import { readRefs, sameRefs, writeRefs } from './packed-refs.ts'
import { admit, openQuarantine, type Quarantine, sweepQuarantines } from './quarantine.ts'
import { badTarget } from './ref-targets.ts'
import { checkRefsRecord, type PackRow, type RefRow, type RefsRecord } from './refs-record.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { words } from './words.ts'

/** Bounds of a sync. */
export interface SyncLimits {
  /** Bytes of all packs fetched in one sync; default 2 GiB. */
  bytes?: number
  /** Bytes of one object; default 100 MiB (STO-2). */
  objectBytes?: number
  /** Milliseconds without a byte from a blob; default 30 s. */
  idleMs?: number
  /** Milliseconds for the whole sync; default 10 min. */
  totalMs?: number
}

export interface SyncOptions extends SyncLimits {
  /** The AT-URI that the record must name. */
  repo?: string
  /** Fetch every pack that the mirror lacks, also those whose objects it has by other packs. */
  allPacks?: boolean
  signal?: AbortSignal
}

export interface SyncDone {
  ok: true
  /** True when a pack came in or a ref moved. */
  changed: boolean
  refs: RefRow[]
}

type Job = Required<SyncLimits> & {
  mirror: Mirror
  record: RefsRecord
  fetchBlob: FetchBlob
  allPacks: boolean
  signal: AbortSignal
  pace: Pace
}

/**
 * Brings a mirror to what a refs record says (STO-1, STO-2, STO-11): the packs that it needs and lacks come through a quarantine, then the refs
 * move all at once. Whatever is wrong is refused and leaves the mirror as it was; a crash leaves at most packs that no ref leads to, and the next
 * sync goes on from there. One at a time per mirror; one that is called off while it waits for its turn waits no longer.
 */
export function syncMirror(
  mirror: Mirror,
  record: unknown,
  fetchBlob: FetchBlob,
  options: SyncOptions = {},
): Promise<SyncDone | GitRefusal> {
  let begun = false
  const mine = mirror.exclusive(async () => {
    begun = true
    if (options.signal?.aborted) return refuse('upstream-failed', words.syncTimeout())
    const checked = checkRefsRecord(record, options.repo)
    if (!checked.ok) return checked
    const timeout = AbortSignal.timeout(options.totalMs ?? 600_000)
    const job: Job = {
      mirror,
      record: checked.record,
      fetchBlob,
      allPacks: options.allPacks ?? false,
      signal: options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]),
      bytes: options.bytes ?? 2 * 2 ** 30,
      objectBytes: options.objectBytes ?? 100 * 2 ** 20,
      idleMs: options.idleMs ?? 30_000,
      totalMs: options.totalMs ?? 600_000,
      pace: { waited: 0, bytes: 0, parts: 0 },
    }
    return await sync(job)
  })
  return options.signal === undefined ? mine : unlessCalledOff(mine, options.signal, () => begun)
}

/** The outcome of a sync, or a refusal when it is called off before it had its turn: another one of the same mirror may take long. */
function unlessCalledOff<T>(mine: Promise<T>, signal: AbortSignal, begun: () => boolean): Promise<T | GitRefusal> {
  const { promise, resolve } = Promise.withResolvers<T | GitRefusal>()
  const callOff = () => {
    if (!begun()) resolve(refuse('upstream-failed', words.syncTimeout()))
  }
  signal.addEventListener('abort', callOff, { once: true })
  if (signal.aborted) callOff()
  const end = () => signal.removeEventListener('abort', callOff)
  mine.finally(end).catch(() => undefined)
  return Promise.race([mine, promise])
}

async function sync(job: Job): Promise<SyncDone | GitRefusal> {
  const { mirror, record } = job
  const held = await packsOf(mirror)
  const missing = record.packs.filter(pack => !held.has(pack.id))
  const same = sameRefs(await readRefs(mirror), record.refs)
  if (same && (missing.length === 0 || !job.allPacks)) return { ok: true, changed: false, refs: record.refs }
  await sweepQuarantines(mirror, Date.now())
  const quarantine = await openQuarantine(mirror)
  try {
    const packs = await bringIn(job, quarantine, missing, held.size === 0)
    if (!packs.ok) return packs
    const fault = await refsFault(job, quarantine)
    if (fault !== undefined) return fault
    const big = packs.ids.length === 0 ? undefined : await oversized(mirror.dir, quarantine, job.objectBytes, job.signal)
    if (big !== undefined) return big.refusal
    for (const id of packs.ids) await admit(mirror, quarantine, id)
    if (!same) await writeRefs(mirror, record.refs)
    return { ok: true, changed: packs.ids.length > 0 || !same, refs: record.refs }
  } finally {
    await quarantine.close()
  }
}

/**
 * Fetches and indexes what the refs need. Everything in a mirror passed the strict check, so a commit that is there has its whole history there,
 * and packs whose objects came earlier by other packs (before a consolidation, STO-3) need not be fetched: a mirror that has something tries the
 * newest packs first and stops once every ref is there. Answers the ids that came in, in the record's order.
 */
async function bringIn(
  job: Job,
  quarantine: Quarantine,
  missing: PackRow[],
  empty: boolean,
): Promise<{ ok: true; ids: string[] } | GitRefusal> {
  const order = empty || job.allPacks ? missing : missing.toReversed()
  const waiting = new Set<PackRow>()
  const done = new Set<PackRow>()
  let bytes = 0
  let tries = 0
  async function index(pack: PackRow): Promise<GitRefusal | undefined> {
    // Bounds what a record made to fail again and again can cost; two tries each are enough for an honest one.
    tries += 1
    if (tries > 4 * missing.length) return refuse('bad-pack', words.packLinks(pack.id))
    const fault = await indexPack(job.mirror.dir, quarantine, pack, job)
    if (fault === undefined) done.add(pack)
    return fault
  }
  for (const pack of order) {
    if (!empty && !job.allPacks && waiting.size === 0 && (await refsThere(job, quarantine))) break
    bytes += pack.bytes
    if (bytes > job.bytes) return refuse('too-large', words.packsTooBig(job.bytes))
    const fault = (await fetchPack(pack, quarantine, job.fetchBlob, job)) ?? (await index(pack))
    if (fault?.code === 'missing-object') waiting.add(pack)
    else if (fault !== undefined) return fault
    else {
      const late = await indexWaiting(missing, waiting, index)
      if (late !== undefined) return late
    }
  }
  const left = missing.find(pack => waiting.has(pack))
  if (left !== undefined) return refuse('missing-object', words.packLinks(left.id))
  return { ok: true, ids: missing.filter(pack => done.has(pack)).map(pack => pack.id) }
}

/** Packs that led to one not fetched yet get their next try, oldest first, for as long as one passes. */
async function indexWaiting(
  missing: readonly PackRow[],
  waiting: Set<PackRow>,
  index: (pack: PackRow) => Promise<GitRefusal | undefined>,
): Promise<GitRefusal | undefined> {
  for (let passed = true; passed && waiting.size > 0; ) {
    passed = false
    for (const pack of missing.filter(row => waiting.has(row))) {
      const fault = await index(pack)
      if (fault === undefined) passed = waiting.delete(pack)
      else if (fault.code !== 'missing-object') return fault
    }
  }
  return undefined
}

async function refsThere(job: Job, quarantine: Quarantine): Promise<boolean> {
  const place = { dir: job.mirror.dir, env: quarantine.env, signal: job.signal }
  const found = await objectTypes(place, [...new Set(job.record.refs.map(row => row.commit))])
  return found.every(object => object !== undefined)
}

async function refsFault(job: Job, quarantine: Quarantine): Promise<GitRefusal | undefined> {
  const place = { dir: job.mirror.dir, env: quarantine.env, signal: job.signal }
  const bad = await badTarget(place, job.record.refs)
  if (bad === undefined) return undefined
  const { name, commit } = bad.row
  if (bad.type === undefined) return refuse('missing-object', words.refMissing(name, commit))
  return refuse('bad-ref', words.refNoCommit(name, commit, bad.type))
}
