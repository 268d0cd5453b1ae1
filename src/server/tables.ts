import type { Generated, Kysely } from 'kysely'
import type { Schema } from '../indexer/schema.ts'

/** The server's own tables. Times are milliseconds since 1970. */
export type ServerTables = {
  web_session: WebSessionRow
  oauth_state: SealedRow
  oauth_session: SealedRow
  delegation: DelegationRow
  lease: LeaseRow
  audit: AuditTable
  lander_pass: PassRow
}

/** The last thing that an owner gave, or took back. Its tokens lie sealed in `oauth_session`. */
export type DelegationRow = {
  did: string
  given_at: number
  /** When its server lets it end at the latest. */
  until: number
  /** When it is to be renewed. */
  due_at: number
  ended_at: number | null
  why: 'withdrawn' | 'revoked' | 'expired' | 'moved' | null
}

/** A line of the audit log; see its migration for what may become of one. */
export type AuditTable = {
  id: Generated<number>
  at: number
  owner: string
  repo: string
  caller: string
  door: string
  ref: string
  from: string | null
  to: string | null
  outcome: 'begun' | 'written' | 'refused' | 'unknown'
  settled_at: number | null
  reason: string
  code: string | null
  note: string | null
  /** Of a line that sums refusals: how many. */
  more: number
}

/** The last pass that a runner told of. */
export type PassRow = { repo: string; did: string; at: number; due_at: number | null; says: string | null }

/** What one process at a time does. */
export type LeaseRow = { name: string; holder: string; until: number }

export type WebSessionRow = {
  /** SHA-256 of the id in the cookie; the id itself is kept nowhere. */
  id_hash: Uint8Array
  /** What the session is called in forms and logs. */
  name: string
  did: string
  handle: string | null
  user_agent: string
  created_at: number
  used_at: number
  expires_at: number
}

export type SealedRow = {
  /** Which OAuth client the row belongs to. */
  client: string
  key: string
  /** Encrypted, bound to table, client and key. */
  sealed: Uint8Array
  written_at: number
}

/** The database with the tables of the index and the server's own. */
export type ServerDb = Kysely<Schema & ServerTables>
