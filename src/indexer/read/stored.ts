import { lexParse } from '@atproto/lex-json'
import { dev } from '../../lexicons/index.ts'
import type { Stored } from '../../queue/facts.ts'

/** What a row of `record` must give to be read as a record. */
export interface RecordRow {
  uri: string
  did: string
  rkey: string
  cid: string | null
  json: string | null
  seen_at: number
  backfilled: number
}

/** The columns of a RecordRow, for queries that name the table `record`. */
export const recordColumns = [
  'record.uri as uri',
  'record.did as did',
  'record.rkey as rkey',
  'record.cid as cid',
  'record.json as json',
  'record.seen_at as seen_at',
  'record.backfilled as backfilled',
] as const

/** Makes a reader of rows of one collection: undefined for a row that holds no record of that kind (any more). */
function reader<T>(
  parse: (value: unknown) => T | undefined,
  fromText: (text: string) => unknown,
): (row: RecordRow) => Stored<T> | undefined {
  return row => {
    if (row.json === null || row.cid === null) return undefined
    const value = parse(fromText(row.json))
    if (value === undefined) return undefined
    const { uri, did, rkey, cid } = row
    return { uri, did, rkey, cid, value, seenAt: row.seen_at, backfilled: row.backfilled === 1 }
  }
}

const { check, decision, issue, lander, pull, queue, refs, repo, state } = dev.knotless
/** Records without blobs are their own JSON; the others become atproto's data model. */
const plain = (text: string): unknown => JSON.parse(text)
const withBlobs = (text: string): unknown => lexParse(text)

export const readRepo = reader(value => repo.$ifMatches(value), plain)
export const readRefs = reader(value => refs.$ifMatches(value), withBlobs)
export const readPull = reader(value => pull.$ifMatches(value), plain)
export const readIssue = reader(value => issue.$ifMatches(value), plain)
export const readQueueRecord = reader(value => queue.$ifMatches(value), plain)
export const readState = reader(value => state.$ifMatches(value), plain)
export const readCheck = reader(value => check.$ifMatches(value), withBlobs)
export const readDecision = reader(value => decision.$ifMatches(value), plain)
export const readLander = reader(value => lander.$ifMatches(value), plain)

/** The rows that can be read, read. */
export function readRows<T>(rows: readonly RecordRow[], read: (row: RecordRow) => Stored<T> | undefined): Stored<T>[] {
  return rows.flatMap(row => read(row) ?? [])
}
