/**
 * What the rules are computed from: records as they were read, and what git says about the commits they name. Plain data, made by the
 * index or by fresh reads; nothing here knows a clock, a client or a database.
 */
import type * as knotless from '../lexicons/dev/knotless.ts'

export type RepoRecord = knotless.repo.Main
export type RefsRecord = knotless.refs.Main
export type PullRecord = knotless.pull.Main
export type StateRecord = knotless.state.Main
export type QueueRecord = knotless.queue.Main
export type CheckRecord = knotless.check.Main
export type LanderRecord = knotless.lander.Main
export type DecisionRecord = knotless.decision.Main

/** A record with where it lies and when it was first seen. */
export interface Stored<T> {
  /** AT-URI with a DID. */
  uri: string
  /** The account it lies in: its writer. */
  did: string
  /** Its key. */
  rkey: string
  cid: string
  value: T
  /** When the reader first saw it, in milliseconds since 1970. */
  seenAt: number
  /** True when it was first seen by backfill or a fresh read, which say nothing about lateness (REC-9). */
  backfilled: boolean
}

/** What merging a pull's head onto a branch's tip gives. */
export interface MergeResult {
  pull: string
  /** The branch's tip and the pull's head that were merged. */
  tip: string
  head: string
  applies: boolean
  /** Paths in conflict, at most 100. */
  conflicts: readonly string[]
  /** Paths in conflict that are not listed. */
  moreConflicts: number
  /** The pull changes `.knotless/**` (ADM-11). */
  changesChecks: boolean
  /** The merge changes nothing on the branch. */
  empty: boolean
  /** Paths that the head changes since it left the branch, at most 200; absent where that is not known. */
  touched?: readonly string[] | undefined
}

/** Why git cannot tell something. */
export interface GitFault {
  /** A code of src/git's; `no-refs` where nothing was pushed yet. */
  code: string
  /** A sentence for people. */
  message: string
  /** It may pass, and is tried again. */
  passing: boolean
}

/** Why merging a pull's head onto a branch's tip gives nothing. */
export interface MergeFault extends GitFault {
  tip: string
  head: string
}

/** What a branch's queue settings ask for, `wait` and `timeout` in seconds, or why they cannot be read (STW-8). */
export type AskedSettings =
  | {
      ok: true
      settings: {
        batch?: number | undefined
        depth?: number | undefined
        wait?: number | undefined
        timeout?: number | undefined
      }
    }
  | { ok: false; message: string }

/** What stands at a branch's tip. */
export interface TipFacts {
  branch: string
  tip: string
  /** Paths of the workflow files there (ADM-11). */
  workflows: readonly string[]
  /** Absent while they have not been looked at. */
  settings?: AskedSettings | undefined
  /** Of commits that `merged` states name: whether the branch contains them, as read at this tip (STA-5, HON-8). */
  contains: ReadonlyMap<string, boolean>
}

/** All that is known about one repository. Order and duplicates mean nothing. */
export interface RepositoryFacts {
  repo: Stored<RepoRecord>
  /** The repository record at the other end of a transfer that `repo` names, when it was read (HON-4). */
  transferredFrom?: Stored<RepoRecord> | undefined
  transferredTo?: Stored<RepoRecord> | undefined
  /** Refs records by repository AT-URI: the repository's own and those of the forks that hold heads. */
  refs: ReadonlyMap<string, Stored<RefsRecord>>
  pulls: readonly Stored<PullRecord>[]
  states: readonly Stored<StateRecord>[]
  queue: readonly Stored<QueueRecord>[]
  checks: readonly Stored<CheckRecord>[]
  landers: readonly Stored<LanderRecord>[]
  /** Of the steward, about these pulls. */
  decisions?: readonly Stored<DecisionRecord>[] | undefined
  /** Accounts that were deleted, deactivated or taken down (QUE-2). */
  gone: ReadonlySet<string>
  /** Merge results by pull AT-URI; those for another tip or head than the present ones are passed over. */
  merges: ReadonlyMap<string, MergeResult>
  /** By pull AT-URI; those for another tip or head than the present ones are passed over. */
  mergeFaults?: ReadonlyMap<string, MergeFault> | undefined
  /** Of repositories and forks whose git state could not be taken as their refs records have it now, by repository AT-URI. */
  gitFaults?: ReadonlyMap<string, GitFault> | undefined
  /** By branch name; an entry for another tip than the present one is passed over. */
  tips: ReadonlyMap<string, TipFacts>
}
