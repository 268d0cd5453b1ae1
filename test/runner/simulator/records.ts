/** What people and runners put on record about pulls, and how a queue is read from it (HON, QUE, REC-10). */
import type { HeadCommit } from './trees.ts'
import type { FlightRun } from './world.ts'

export type What = 'queued' | 'left' | 'ejected' | 'closed' | 'open' | 'merged' | 'draft' | 'ready' | 'target'

export interface Rec {
  /** Counts up over everything written: what a reader that lags has not seen yet. */
  seq: number
  key: string
  at: number
  by: string
  what: What
  ends?: string | undefined
  /** The new target; or, of what the lander writes, the branch. */
  branch?: string | undefined
  /** Where it landed; of one that is opened again after it landed, the commit that is no longer on the branch (HON-8). */
  commit?: string | undefined
  sawHead?: string | undefined
  sawBranch?: string | undefined
}

export interface Pull {
  uri: string
  author: string
  headBranch: string
  headRepo: string
  title: string
  head: HeadCommit
  where: 'at' | 'gone' | 'unreadable' | 'account-gone'
  unreadableSince: number
  /** When a pass read where its head is. */
  readAt: number
  /** Runs of pre-flights at its heads, oldest first. */
  flights: FlightRun[]
  /** A head and tip of which somebody found out that they clash (PRE-9). */
  knownClash: string | undefined
  /** By key. */
  records: Rec[]
  /** How it stands for who reads everything; kept until a record is written or somebody's rights change. */
  truth: Stands | undefined
}

/** How a pull stands by the records that were read. */
export interface Stands {
  open: boolean
  merged: boolean
  draft: boolean
  branch: string
  /** The record that has it queued. */
  entry: Rec | undefined
}

export interface Person {
  did: string
  mayQueue: boolean
  /** The index has this account's records up to here. */
  indexed: number
}

/** Reads a pull: `seen` says up to which record each account was read, `may` who may queue now. */
export function fold(pull: Pull, seen: ((rec: Rec) => boolean) | undefined, may: (did: string) => boolean): Stands {
  const stands: Stands = { open: true, merged: false, draft: false, branch: 'main', entry: undefined }
  for (const rec of pull.records) {
    if (seen !== undefined && !seen(rec)) continue
    switch (rec.what) {
      case 'queued':
        if (stands.open && stands.entry === undefined && may(rec.by)) stands.entry = rec
        break
      case 'left':
      case 'ejected':
        if (stands.entry !== undefined && (rec.ends === undefined || rec.ends === stands.entry.key)) stands.entry = undefined
        break
      case 'closed':
        stands.open = false
        stands.entry = undefined
        break
      case 'merged':
        stands.open = false
        stands.merged = true
        stands.entry = undefined
        break
      case 'open':
        if (stands.open || (stands.merged && rec.commit === undefined)) break
        stands.open = true
        stands.merged = false
        stands.entry = undefined
        break
      case 'draft':
        stands.draft = true
        break
      case 'ready':
        stands.draft = false
        break
      case 'target':
        stands.branch = rec.branch ?? stands.branch
        break
    }
  }
  return stands
}
