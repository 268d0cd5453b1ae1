/** What accounts' servers answer, parsed: what has another shape is an UpstreamError `bad-answer`, or left out where it is one of many. */
import { l } from '@atproto/lex'
import type { LexValue } from '@atproto/lex-data'
import { type AtUri, type Did, makeAtUri, type Nsid, parseAtUri, parseDid, parseNsid, type RecordKey } from './ids.ts'
import { UpstreamError } from './upstream-error.ts'

/** A record as its account's server gave it. The value has its links as CIDs and its bytes as bytes; it has not been held against its lexicon. */
export interface ReadRecord {
  uri: AtUri
  did: Did
  collection: Nsid
  rkey: RecordKey
  cid: string
  value: unknown
}

export interface RecordPage {
  records: ReadRecord[]
  cursor?: string
}

/** `gone`: deleted, or never there. `unknown`: inactive, and the server does not say why. */
export type AccountState = 'active' | 'deactivated' | 'suspended' | 'takendown' | 'gone' | 'unknown'

const recordSchema = l.object({ uri: l.string(), cid: l.string({ format: 'cid' }), value: l.unknown() })
const pageSchema = l.object({ records: l.array(l.unknown()), cursor: l.optional(l.string()) })
const commitSchema = l.object({ cid: l.string({ format: 'cid' }), rev: l.string({ format: 'tid' }) })
const repoSchema = l.object({ collections: l.array(l.string()) })
const stateSchema = l.object({ active: l.boolean(), status: l.optional(l.string()) })
const reposSchema = l.object({ repos: l.array(l.object({ did: l.string() })), cursor: l.optional(l.string()) })

export function readRecord(body: LexValue, asked: { host: string; did: Did; collection: Nsid; rkey: RecordKey }): ReadRecord {
  const record = recordOf(body)
  if (record?.uri !== makeAtUri(asked.did, asked.collection, asked.rkey)) throw badAnswer(asked.host, 'not the record asked for')
  return record
}

/** Entries that are no records of this account and collection are left out. */
export function readPage(body: LexValue, asked: { host: string; did: Did; collection: Nsid }): RecordPage {
  const page = pageSchema.safeParse(body)
  if (!page.success) throw badAnswer(asked.host, 'no list of records')
  const records = page.value.records.flatMap(one => {
    const record = recordOf(one)
    return record?.did === asked.did && record.collection === asked.collection ? [record] : []
  })
  return { records, ...cursorOf(page.value.records.length === 0 ? undefined : page.value.cursor) }
}

function recordOf(body: unknown): ReadRecord | undefined {
  const parsed = recordSchema.safeParse(body)
  const address = parsed.success ? parseAtUri(parsed.value.uri) : undefined
  if (!parsed.success || address === undefined) return undefined
  return { ...address, uri: makeAtUri(address.did, address.collection, address.rkey), cid: parsed.value.cid, value: parsed.value.value }
}

export function readCommit(body: LexValue, host: string): { cid: string; rev: string } {
  const parsed = commitSchema.safeParse(body)
  if (!parsed.success) throw badAnswer(host, 'no commit')
  return { cid: parsed.value.cid, rev: parsed.value.rev }
}

export function readRepo(body: LexValue, host: string): { collections: Nsid[] } {
  const parsed = repoSchema.safeParse(body)
  if (!parsed.success) throw badAnswer(host, 'no description of an account')
  return { collections: parsed.value.collections.flatMap(name => parseNsid(name) ?? []) }
}

export function readState(body: LexValue, host: string): AccountState {
  const parsed = stateSchema.safeParse(body)
  if (!parsed.success) throw badAnswer(host, 'no state of an account')
  if (parsed.value.active) return 'active'
  const { status } = parsed.value
  if (status === 'deleted') return 'gone'
  return status === 'deactivated' || status === 'suspended' || status === 'takendown' ? status : 'unknown'
}

export function readRepos(body: LexValue, host: string): { dids: Did[]; cursor?: string } {
  const parsed = reposSchema.safeParse(body)
  if (!parsed.success) throw badAnswer(host, 'no list of accounts')
  return { dids: parsed.value.repos.flatMap(({ did }) => parseDid(did) ?? []), ...cursorOf(parsed.value.cursor) }
}

function cursorOf(cursor: string | undefined): { cursor?: string } {
  return cursor === undefined || cursor === '' ? {} : { cursor }
}

function badAnswer(host: string, detail: string): UpstreamError {
  return new UpstreamError('bad-answer', host, detail)
}
