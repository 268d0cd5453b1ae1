import { isLexValue } from '@atproto/lex-data'
import { lexStringify } from '@atproto/lex-json'
import type { Did, Nsid } from '../../atproto/ids.ts'
import type { Reader, ReadRecord } from '../../atproto/reader.ts'
import type { QueueRecord, StateRecord, Stored } from '../../queue/facts.ts'
import type { FreshRead } from '../../queue/overlay.ts'
import { type Usable, usable } from '../validate/usable.ts'

/** Records about the repository that are enough of one account, and records read in all at most (NOT-1). */
const ENOUGH = 25
const MOST = 500
const PAGE = 100
/** The longest that reading one account may take, in milliseconds (NOT-1). */
const PATIENCE_MS = 5_000

export interface About {
  /** The repository's addresses. */
  addresses: ReadonlySet<string>
  /** The key of the oldest queued entry: nothing older decides anything. */
  oldest?: string | undefined
  now: number
}

/** The value of a record of one kind, out of any. */
export const ofKind = {
  pull: (record: Usable) => (record.kind === 'pull' ? record.value : undefined),
  repo: (record: Usable) => (record.kind === 'repo' ? record.value : undefined),
  refs: (record: Usable) => (record.kind === 'refs' ? record.value : undefined),
  queue: (record: Usable) => (record.kind === 'queue' ? record.value : undefined),
  state: (record: Usable) => (record.kind === 'state' ? record.value : undefined),
}

/** A record as its account gave it, typed and with where it lies; undefined for one that counts for nothing by itself (REC-3). */
export function readUsable<T>(read: ReadRecord, pick: (record: Usable) => T | undefined, now: number): Stored<T> | undefined {
  if (!isLexValue(read.value)) return undefined
  const json = lexStringify(read.value)
  const fields: unknown = JSON.parse(json)
  const judged = usable(read, fields, json)
  const value = typeof judged === 'string' ? undefined : pick(judged)
  if (value === undefined) return undefined
  const { uri, did, rkey, cid } = read
  return { uri, did, rkey, cid, value, seenAt: now, backfilled: true }
}

/** An account's newest queue records about a repository, as its own server has them now. Undefined when it does not answer in time (NOT-1). */
export function readQueueAbout(reader: Reader, did: Did, about: About): Promise<FreshRead<QueueRecord> | undefined> {
  return readAbout(reader, { did, collection: 'dev.knotless.queue', about, take: read => readUsable(read, ofKind.queue, about.now) })
}

/** As `readQueueAbout`, of state records. */
export function readStatesAbout(reader: Reader, did: Did, about: About): Promise<FreshRead<StateRecord> | undefined> {
  return readAbout(reader, { did, collection: 'dev.knotless.state', about, take: read => readUsable(read, ofKind.state, about.now) })
}

interface Asked<T> {
  did: Did
  collection: Nsid
  about: About
  take(read: ReadRecord): Stored<T> | undefined
}

async function readAbout<T extends { repo: string }>(reader: Reader, asked: Asked<T>): Promise<FreshRead<T> | undefined> {
  try {
    return await page(reader, asked, AbortSignal.timeout(PATIENCE_MS))
  } catch {
    // Whatever kept it from answering: a read that fails adds nothing, and the index stands for that account.
    return undefined
  }
}

/** Newest first, until there is enough, the keys are older than any that matters, or too much was read. */
async function page<T extends { repo: string }>(reader: Reader, asked: Asked<T>, signal: AbortSignal): Promise<FreshRead<T>> {
  const { did, collection, about, take } = asked
  const records: Stored<T>[] = []
  let from: string | undefined
  let cursor: string | undefined
  for (let read = 0; read < MOST; ) {
    const answer = await reader.listRecords(did, collection, { limit: PAGE, signal, ...(cursor === undefined ? {} : { cursor }) })
    for (const record of answer.records) {
      read++
      from = record.rkey
      const stored = take(record)
      if (stored !== undefined && about.addresses.has(stored.value.repo)) records.push(stored)
    }
    if (answer.cursor === undefined || answer.cursor === cursor || answer.records.length === 0) return { did, records }
    if (records.length >= ENOUGH || (about.oldest !== undefined && from !== undefined && from < about.oldest)) break
    cursor = answer.cursor
  }
  return { did, records, from }
}
