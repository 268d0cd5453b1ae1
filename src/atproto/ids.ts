/** The names of things on atproto, as types, and their parsers: a parser takes anything and gives the value or undefined, never an exception. */
import {
  type AtUriString,
  type DidString,
  type HandleString,
  INVALID_HANDLE,
  isValidDid,
  isValidHandle,
  isValidNsid,
  isValidRecordKey,
  isValidTid,
  isValidTld,
  type NsidString,
  normalizeHandle,
  parseAtUriString,
  type RecordKeyString,
  type TidString,
} from '@atproto/syntax'

export type Did = DidString
export type Handle = HandleString
export type AtUri = AtUriString
export type Tid = TidString
export type Nsid = NsidString
export type RecordKey = RecordKeyString

/** The parts of a record's address. The authority is always a DID: a handle can change hands (REC-12). */
export interface RecordAddress {
  did: Did
  collection: Nsid
  rkey: RecordKey
}

/** A DID of the methods that atproto accounts use (plc, web); undefined for everything else. */
export function parseDid(value: unknown): Did | undefined {
  if (!isValidDid(value)) return undefined
  if (value.startsWith('did:plc:')) return /^did:plc:[a-z2-7]{24}$/.test(value) ? value : undefined
  return /^did:web:[A-Za-z0-9._%-]+$/.test(value) && value.length <= 253 ? value : undefined
}

/** A handle in lower case, without a leading @; undefined for `handle.invalid` and for names that can belong to nobody (.local, .invalid). */
export function parseHandle(value: unknown): Handle | undefined {
  if (typeof value !== 'string') return undefined
  const handle = normalizeHandle(value.startsWith('@') ? value.slice(1) : value)
  return isValidHandle(handle) && isValidTld(handle) && handle !== INVALID_HANDLE ? handle : undefined
}

export function parseTid(value: unknown): Tid | undefined {
  return isValidTid(value) ? value : undefined
}

export function parseNsid(value: unknown): Nsid | undefined {
  return isValidNsid(value) ? value : undefined
}

export function parseRecordKey(value: unknown): RecordKey | undefined {
  return isValidRecordKey(value) ? value : undefined
}

/** The parts of a record's AT-URI. Undefined unless it names account (by DID), collection and key, and nothing more. */
export function parseAtUri(value: unknown): RecordAddress | undefined {
  const parsed = parseAtUriString(value)
  if (!parsed.success) return undefined
  const { authority, collection, rkey, query, hash } = parsed.value
  const did = parseDid(authority)
  if (did === undefined || collection === undefined || rkey === undefined || query !== undefined || hash !== undefined) return undefined
  return { did, collection, rkey }
}

export function makeAtUri(did: Did, collection: Nsid, rkey: RecordKey): AtUri {
  return `at://${did}/${collection}/${rkey}`
}

/** The address of a repository's record, from its owner and its name. */
export function repoUri(did: Did, name: RecordKey): AtUri {
  return makeAtUri(did, 'dev.knotless.repo', name)
}
