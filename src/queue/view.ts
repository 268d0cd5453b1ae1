/** What the fold of a repository's facts gives: who may what, where each pull stands, what each branch's queue is. */
import type {
  AskedSettings,
  CheckRecord,
  DecisionRecord,
  GitFault,
  LanderRecord,
  MergeResult,
  PullRecord,
  QueueRecord,
  RepoRecord,
  StateRecord,
  Stored,
} from './facts.ts'

/** Why a record counts for nothing; counted per reason (REC-3). */
export type IgnoredReason =
  | 'key-not-tid'
  | 'key-after-created'
  | 'unknown-state'
  | 'stranger'
  | 'runner-may-not'
  | 'wrong-repository'
  | 'not-while-named'
  | 'void'
  | 'unknown-pull'
  | 'over-bound'

/** Who the repository names, in the order of its record. */
export interface Roles {
  owner: string
  collaborators: readonly string[]
  runners: readonly string[]
  /** Owner and collaborators: who may queue, leave and merge (HON-1). */
  mayMerge(did: string): boolean
  namedRunner(did: string): boolean
}

/** The honoured record that queued a pull and gives it place and key (QUE-7). */
export interface QueueEntry {
  record: Stored<QueueRecord>
  key: string
  by: string
  /** REC-9: set when the record was first seen more than 10 minutes after its key's time. */
  backdated?: { keyTime: number; seenAt: number } | undefined
}

export type PullState = 'open' | 'closed' | 'merged'

/** Where one pull stands, from records alone. */
export interface PullView {
  pull: Stored<PullRecord>
  branch: string
  state: PullState
  /** The honoured state record that says so; absent for a pull that nobody closed, or that is closed since its account is gone (QUE-2). */
  stateRecord?: Stored<StateRecord> | undefined
  draft: boolean
  /** Set while the latest honoured queue record is `queued` and the pull is open and no draft (QUE-1, QUE-2, QUE-5). */
  entry?: QueueEntry | undefined
  /** Set while the latest honoured queue record is `queued` but the pull is held out of the reading as a draft (QUE-5). */
  heldEntry?: QueueEntry | undefined
  /** The latest honoured queue record, whatever it says. */
  lastQueue?: Stored<QueueRecord> | undefined
  /** Set while the latest honoured queue record is `ejected` and the pull is open. */
  ejection?: Stored<QueueRecord> | undefined
  /** Every honoured queue and state record about it, oldest key first (the timeline). */
  history: readonly (Stored<QueueRecord> | Stored<StateRecord>)[]
  /** What the steward decided about its ejections, oldest first (STW-10). */
  decisions?: readonly Stored<DecisionRecord>[] | undefined
  /** Present commit of its head branch by the refs records known; absent when that is not known or the branch is gone. */
  head?: string | undefined
  /** True when the head's refs record is known and lacks the branch. */
  headGone: boolean
  /** The merge result at the present tip and head, when there is one. */
  merge?: MergeResult | undefined
  /** Why it cannot be told whether it applies: the state of the repository that it is onto, that of its head's, or what the two come to. */
  fault?: (GitFault & { of: 'target' | 'head' | 'merge' }) | undefined
  /** False when its merged commit is not on the branch as read at the present tip (STA-5); absent while that is not known. */
  mergedThere?: boolean | undefined
}

export type BatchState = 'checking' | 'ahead' | 'passed-waiting' | 'red-undecided' | 'landing' | 'landed' | 'cancelled' | 'failed'

/** A batch as its checks and merged states say (CHK-4, CHK-5, CHK-12). */
export interface BatchView {
  branch: string
  base: string
  tip: string
  state: BatchState
  runner: string
  trusted: boolean
  isolated: boolean
  members: readonly { pull: string; head: string; commit: string }[]
  /** The newest run of each workflow, by name. */
  checks: readonly Stored<CheckRecord>[]
  /** When its first check was filed, in milliseconds since 1970. */
  since: number
}

/** A failed batch that is being checked in halves (FAI-3). */
export interface Halving {
  /** How many pulls it held. */
  size: number
  /** In milliseconds since 1970. */
  failedAt: number
  /** Those of its pulls that still wait. */
  suspects: readonly string[]
}

/** Pulls that landed together, from merged records (REA-5). */
export interface LandedBatch {
  tip: string
  by: string
  at: number
  members: readonly { pull: string; commit: string }[]
  /** The newest run of each workflow on it, by whoever landed it, as far as they are kept and shown (STA-7, CHK-12). */
  checks: readonly Stored<CheckRecord>[]
  /** ADM-11: no workflow ran on it. */
  nothingRan: boolean
}

export interface BranchView {
  branch: string
  /** Where the branch is by the refs record known; absent when there is none. */
  tip?: string | undefined
  generation: number
  isDefault: boolean
  queueOnly: boolean
  pinned: boolean
  /** The queue: open pulls whose latest honoured record is `queued`, oldest key first (QUE-1). Batches' pulls are counted in. */
  queue: readonly PullView[]
  /** In flight: the one that lands next first. */
  batches: readonly BatchView[]
  /** Every batch that kept checks tell of, newest first, whatever became of it; at most 200. */
  every?: readonly BatchView[] | undefined
  /** When batches were dropped before they were decided (MOV-7), the newest first. */
  drops?: readonly number[] | undefined
  /** Set while the cause of a failed batch is looked for. */
  halving?: Halving | undefined
  /** Turned away and still out, newest first. */
  ejected: readonly PullView[]
  /** When one was turned away last, still out or not; in milliseconds since 1970. */
  lastEjectedAt?: number | undefined
  landed: readonly LandedBatch[]
  /** What the queue settings at its tip ask for (STW-8); absent while the tip has not been looked at. */
  settings?: AskedSettings | undefined
  /** ADM-11: true when no workflow file stands at the tip; absent while the tip has not been looked at. */
  unchecked?: boolean | undefined
}

export interface RepositoryView {
  uri: string
  name: string
  record: Stored<RepoRecord>
  roles: Roles
  /** The new address when a transfer holds (HON-4). */
  movedTo?: string | undefined
  /** By name: the default branch, each with a rule, each that an open pull targets, and those that are queued for. */
  branches: ReadonlyMap<string, BranchView>
  /** Every branch that it has; absent while that is not known. */
  present?: ReadonlySet<string> | undefined
  pulls: ReadonlyMap<string, PullView>
  /** Checks of named runners only (STA-7), by pull and newest first, at any head. */
  checksOf(pull: string): readonly Stored<CheckRecord>[]
  /** The lander by WHO-1, WHO-2 and WHO-7 as far as records say; absent when nobody lands. `running`: it may push, and its record says that it runs. */
  lander?: { did: string; named: boolean; running: boolean; record?: Stored<LanderRecord> | undefined } | undefined
  ignored: ReadonlyMap<IgnoredReason, number>
  /** Records that wait for their time (REC-3), for the owner to see. */
  sleeping: readonly (Stored<QueueRecord> | Stored<StateRecord> | Stored<PullRecord>)[]
  /** The earliest time, in milliseconds, at which the answer may change without a new record; absent when none. */
  wakesAt?: number | undefined
}
