import type { Did, Nsid } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import type { AccountSession } from '../../atproto/session.ts'
import type { TidClock } from '../../atproto/tid.ts'
import type { IndexDatabase } from '../../indexer/database.ts'
import type { RepositoryCache } from '../../indexer/read.ts'
import type { GatewayFacts } from '../../queue/asking.ts'
import type { MergeResult, RefsRecord, Stored } from '../../queue/facts.ts'
import type { KeyedLock } from './keyed-lock.ts'
import type { UnsettledWrites } from './unsettled.ts'

/** A pull and the git states it lies between, as read at their sources. */
export interface MergeQuestion {
  pull: string
  /** The branch's tip, and the refs record of the repository that says so. */
  tip: string
  target: Stored<RefsRecord>
  /** The pull's head, and the refs record of the repository that holds it: the same one, or a fork. */
  head: string
  source: Stored<RefsRecord>
}

/** What kept a merge from being looked at: the state of the repository that the pull is onto, that of its head's, or what the two come to. */
export interface NotMerged {
  ok: false
  of: 'target' | 'head' | 'merge'
  code: string
  message: string
}

/** Merges a pull's head onto a tip in the mirrors, which are brought up to date first (ADM-5). */
export type LookAtMerge = (question: MergeQuestion) => Promise<{ ok: true; merge: MergeResult } | NotMerged>

/** A record that this server wrote for somebody, or read at its source: indexed at once, so that they read what they wrote. */
export interface OwnWrite {
  did: Did
  collection: Nsid
  rkey: string
  cid: string
  rev: string
  record: unknown
}

/** What queueing and leaving take of the server's context. */
export interface ActionContext {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly reader: Reader
  readonly database: IndexDatabase
  readonly repositories: RepositoryCache
  readonly tids: TidClock
  /** One action at a time for each account and pull: a second click finds what the first wrote. */
  readonly locks: KeyedLock
  readonly unsettled: UnsettledWrites
  readonly lookAtMerge: LookAtMerge
  indexOwnWrite(write: OwnWrite): void | Promise<void>
  /** This server before an owner (ADM-10). */
  gatewayOf(owner: string): GatewayFacts
  /** Host of the server that keeps an account, for people; undefined when it has none. Throws when that cannot be told now. */
  serverOf(did: Did): Promise<string | undefined>
  /** The right to act for an account; undefined when its grant is gone. */
  restore(did: Did): Promise<AccountSession | undefined>
}
