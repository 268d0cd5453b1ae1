/** The tables of the index. Times are milliseconds since 1970 unless a name says otherwise; flags are 0 and 1; addresses are AT-URIs with DIDs. */
import type { Generated } from 'kysely'

/** Every record of ours that an account holds or held. */
export interface RecordTable {
  id: Generated<number>
  uri: string
  did: string
  collection: string
  rkey: string
  /** Absent on a tombstone. */
  cid: string | null
  /** The account's revision that the row stands for; an event of an older one changes nothing. */
  rev: string
  json: string | null
  /** 1: a tombstone, of a record that was deleted or became unusable. */
  deleted: number
  /** When this content was first seen. */
  seen_at: number
  /** 1: it was first seen by backfill, or by a stream that told of the past (REC-9). */
  backfilled: number
}

export interface RepoTable {
  record_id: number
  uri: string
  did: string
  name: string
  default_branch: string
  transferred_from: string | null
  transferred_to: string | null
  /** The address that it has moved to, when both records say so (HON-4). */
  moved_to: string | null
}

/** Who a repository names; `previous` is the owner before a transfer, `former` are kept up to a key (HON-5). */
export interface MemberTable {
  repo: string
  did: string
  role: 'owner' | 'collaborator' | 'runner' | 'former' | 'previous'
  position: number
  /** Only what has an earlier key counts for certain. */
  until: string | null
  /** Only what has a later key counts for certain. */
  since: string | null
}

export interface RefsTable {
  record_id: number
  repo: string
  did: string
}

export interface PullTable {
  record_id: number
  uri: string
  repo: string
  did: string
  rkey: string
  branch: string
  head_repo: string
  head_branch: string
  /** 1: closed or merged for certain, so that a fold of the repository need not look at it. */
  settled: number
  /** 1: its author, or a writer of a queue or state record about it, is somebody whom the repository names. */
  touched: number
}

export interface QueueRecordTable {
  record_id: number
  repo: string
  did: string
  rkey: string
  subject: string
  state: string
}

export interface StateTable {
  record_id: number
  repo: string
  did: string
  rkey: string
  subject: string
  state: string
  commit_id: string | null
  batch: string | null
  /** 1: its key does not lie past its own `createdAt` (REC-3). */
  sound: number
}

export interface IssueTable {
  record_id: number
  uri: string
  repo: string
  did: string
  rkey: string
}

export interface CheckRunTable {
  record_id: number
  repo: string
  did: string
  workflow: string
  status: string
  ref: string
  commit_id: string
  base_commit: string | null
  pull: string | null
  /** 1: a check of a batch. */
  is_batch: number
  filed_at: number
}

export interface LanderTable {
  record_id: number
  repo: string
  did: string
}

export interface RerunTable {
  record_id: number
  repo: string
  did: string
  rkey: string
  pull: string | null
}

export interface DecisionTable {
  record_id: number
  repo: string
  did: string
  rkey: string
  subject: string
  ejection: string
}

export type AccountStatus = 'active' | 'deactivated' | 'deleted' | 'takendown' | 'suspended'

export interface AccountTable {
  did: string
  /** Set when, and only when, the handle points back to the account. */
  handle: string | null
  pds: string | null
  status: AccountStatus
  /** Of the event that said the status, in microseconds since 1970. */
  status_at: number
  /** When handle and server were last looked up; absent when never. */
  resolved_at: number | null
}

/** Records that name a repository not known yet (REC-11): they have a row in `record` and no typed row. */
export interface WaitingTable {
  record_id: number
  repo: string
  did: string
  since: number
}

export interface RepoVersionTable {
  repo: string
  /** Grows with each change that concerns the repository. */
  version: number
}

export interface CursorTable {
  service: string
  /** Jetstream's time of the last event written, in microseconds since 1970. */
  time_us: number
  saved_at: number
}

export interface IgnoredTable {
  reason: string
  count: number
}

export interface MergeResultTable {
  pull: string
  repo: string
  tip: string
  head: string
  applies: number
  /** JSON array of paths. */
  conflicts: string
  more_conflicts: number
  changes_checks: number
  empty: number
  /** JSON array of paths that the head changes since it left the branch, at most 200; null where nobody looked. */
  touched: string | null
}

export interface TipFactsTable {
  repo: string
  branch: string
  tip: string
  /** JSON array of paths. */
  workflows: string
  /** Counts the times that the branch was moved other than forward. */
  line: number
  /** JSON of what the queue settings there ask for, or why that cannot be read; null where nobody looked. */
  settings: string | null
}

/** Whether a branch contains a commit that a merged state names (STA-5). What is contained stays so until the line changes. */
export interface CommitOnBranchTable {
  repo: string
  branch: string
  commit_id: string
  there: number
  line: number
  tip: string
}

export interface MirrorStateTable {
  repo: string
  status: 'ok' | 'failed'
  code: string | null
  message: string | null
  /** CID of the refs record that it is about. */
  refs_cid: string | null
  synced_at: number | null
  failed_at: number | null
  tries: number
}

/** A refs record that an account holds and that cannot be used, by its repository. */
export interface UnusableRefsTable {
  repo: string
  code: string
  message: string
}

/** An account whose records about a repository did not find room to wait for it, or waited too long. */
export interface MissedTable {
  repo: string
  did: string
}

/** What git said instead of a merge's result. */
export interface MergeFaultTable {
  pull: string
  repo: string
  tip: string
  head: string
  code: string
  message: string
}

export interface BackfillTable {
  /** A DID, the AT-URI of a repository, or a collection that the relay is asked for. */
  subject: string
  kind: 'account' | 'repository' | 'relay'
  /** Smaller goes first. */
  priority: number
  state: 'pending' | 'done' | 'absent'
  /** The account's revision up to which it was read. */
  rev: string | null
  /** JSON: how far it came. */
  progress: string | null
  tries: number
  next_at: number
  error: string | null
}

/** A batch that ended, or some of whose runs did, kept past its checks (REA-4). */
export interface PastBatchTable {
  id: Generated<number>
  repo: string
  branch: string
  generation: number
  /** Whose checks they are. */
  did: string
  tip: string
  base: string
  /** JSON array of `{pull, head, commit}`, in stacking order. */
  members: string
  size: number
  /** How many checks it has; 0 where they do not say. */
  checks: number
  /** Absent until it ended, as are its times. */
  outcome: 'passed' | 'failed' | 'no-verdict' | 'cancelled' | null
  started_at: number | null
  ended_at: number | null
  longest_ms: number | null
}

/** A run of such a batch that ended. */
export interface PastRunTable {
  uri: string
  batch: number
  workflow: string
  state: string
  verdict: string | null
  filed_at: number
  started_at: number | null
  ended_at: number
  cause: string | null
  /** JSON array of the tests that passed on a retry; absent when none did. */
  retried: string | null
}

export interface Schema {
  record: RecordTable
  repo: RepoTable
  member: MemberTable
  refs: RefsTable
  pull: PullTable
  queue_record: QueueRecordTable
  state: StateTable
  issue: IssueTable
  check_run: CheckRunTable
  lander: LanderTable
  rerun: RerunTable
  decision: DecisionTable
  account: AccountTable
  waiting: WaitingTable
  repo_version: RepoVersionTable
  cursor: CursorTable
  ignored: IgnoredTable
  merge_result: MergeResultTable
  tip_facts: TipFactsTable
  commit_on_branch: CommitOnBranchTable
  mirror_state: MirrorStateTable
  backfill: BackfillTable
  unusable_refs: UnusableRefsTable
  merge_fault: MergeFaultTable
  missed: MissedTable
  past_batch: PastBatchTable
  past_run: PastRunTable
}
