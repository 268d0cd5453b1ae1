/**
 * What the planner is told and what it answers. Plain data: it knows no clock, no network and no git. The same function runs in the runner and in the
 * simulator. Times are in milliseconds since 1970, people are DIDs, records AT-URIs, commits whole ids, branches names without refs/heads/.
 */
import type { EjectionParts } from '../../queue/words/ejection.ts'
import type { DropParts, StandByParts, WaitParts } from '../../queue/words/runner.ts'
import type { Memory } from './memory.ts'

export interface Settings {
  /** Pulls in a batch at most, 1 to 50 (BLD-1). */
  batch: number
  /** Batches in flight at most (AHD-1). */
  depth: 1 | 2
  /** How long a batch that is not full waits to fill (BLD-9). */
  waitMs: number
}

/** Why this runner does not land now. `not-lander`, `lease`: the line is dropped, nobody is ejected. All others: what is in flight stays. */
export type StandBy = StandByParts

/** Where a pull's head is, as its author's refs record says now (BLD-4). */
export type Head =
  | { state: 'at'; commit: string }
  /** The refs record was read and lacks the branch. */
  | { state: 'gone' }
  /** The account that holds it does not answer; `server` names it for people. */
  | { state: 'unreadable'; server: string }
  /** The account was deleted or taken down. */
  | { state: 'account-gone' }

/** The run of one pre-flight that counts for a pull at its present head (PRE-2), in the shape that PRE-3 asks for. */
export interface Flight {
  workflow: string
  /**
   * `queued`: filed by this runner and not begun; another runner's that is only queued is `none`. `not-needed`: skipped by its paths.
   * `timeout` and `trouble`: it ended without a verdict (FAI-8).
   */
  state: 'passed' | 'not-needed' | 'running' | 'queued' | 'failed' | 'timeout' | 'trouble' | 'cancelled' | 'none'
  /** The branch's tip that it ran on; absent for `none` and `not-needed`. */
  tip?: string | undefined
  /** Its check. */
  check?: string | undefined
  /** How its run ended, for an ejection's `checks`. */
  status?: 'failure' | 'error' | 'cancelled' | undefined
  endedAt?: number | undefined
}

/** A pull in the branch's queue, as the records read for this pass say. */
export interface Waiting {
  pull: string
  /** The record that queued it, and that record's key, by which everything about this queueing is remembered (FAI-6). */
  entry: string
  key: string
  /** Who queued it. */
  by: string
  /** When it was queued, by its key. */
  queuedAt: number
  title: string
  author: string
  /** Its head branch and the repository that holds it. */
  headBranch: string
  headRepo: string
  head: Head
  /** What its queuer saw (QUE-9). */
  sawHead?: string | undefined
  sawBranch?: string | undefined
  authorMayQueue: boolean
  /** Whether its present head applies on the branch's present tip; absent where that is not known (PRE-9). */
  applies?: boolean | undefined
  /** One for each pre-flight at the branch's tip; `unread` while its checks have not been looked at: it waits. */
  flights: readonly Flight[] | 'unread'
}

/** A queued pull that is a draft now: read as out, and to be ejected (QUE-5). */
export interface Held {
  pull: string
  entry: string
  key: string
  head?: string | undefined
  author: string
}

/** One run of a batch, as it is now. */
export interface RunNow {
  workflow: string
  /** The workflow's file, such as `test.yml`. */
  file: string
  /** `reused` and `skipped` are not counted (CHK-6). `cancelled`: by somebody other than the queue. */
  state: 'filed' | 'running' | 'passed' | 'reused' | 'skipped' | 'failed' | 'no-verdict' | 'cancelled'
  verdict?: 'timeout' | 'executor-lost' | 'disk' | 'restart' | 'other' | undefined
  check: string
  /** How its record says that it ended. */
  status?: 'failure' | 'error' | 'cancelled' | undefined
  startedAt?: number | undefined
  endedAt?: number | undefined
}

/** A branch as this pass sees it. */
export interface Snapshot {
  now: number
  settings: Settings
  /** MOV-5: a signal came; nothing is built, a batch whose last run passes lands, a failure counts for nothing. */
  stopping: boolean
  standBy?: StandBy | undefined
  /** The repository's owner. */
  owner: string
  branch: string
  /** Its rule is `pinned` (QUE-9). */
  pinned: boolean
  /** Where it is, read for this pass; null: it is not there. */
  tip: { commit: string; generation: number } | null
  /** The queue, oldest key first (QUE-1). A record that was ended, a pull that is closed, merged or onto another branch is not in it. */
  queue: readonly Waiting[]
  drafts: readonly Held[]
  /** Pre-flights at the branch's tip (PRE-1); `unknown` when its files cannot be read now: then nothing is built. */
  preflights: readonly string[] | 'unknown'
  /** Runs by the batch's id. A batch that is not in it is not judged; one with an empty list has passed (CHK-6). */
  runs: ReadonlyMap<number, readonly RunNow[]>
}

export interface Member {
  pull: string
  entry: string
  key: string
  head: string
  /** Its commit in the stack, and that commit's tree. */
  commit: string
  tree: string
}

/** A batch in flight. */
export interface Batch {
  /** Counts up per line; never used twice. */
  id: number
  base: string
  generation: number
  tip: string
  /** The tip's tree: what is checked is what lands (LND-9). */
  tree: string
  members: readonly Member[]
  /** Its checks are on file and its runs may begin (REC-5). */
  filed: boolean
  builtAt: number
  /** How many runs it has, as first seen (CHK-12). */
  of?: number | undefined
  /** Its runs were begun in the class of a batch ahead (AHD-5). */
  ahead?: boolean | undefined
}

/** Why a batch is dropped; kept with each of its cancelled checks, in words (MOV-4, REA-3). */
export type DropCause = DropParts

/** What is to be put on record of an ejection's failed runs (REC-2). */
export interface FailedRun {
  workflow: string
  status: 'failure' | 'error' | 'cancelled'
  check: string
}

export type EjectionKind =
  | 'conflict'
  | 'checks'
  | 'preflight'
  | 'infra'
  | 'timeout'
  | 'branch-gone'
  | 'unreadable'
  | 'draft'
  | 'changed'
  | 'gateway'
  | 'empty'
  | 'other'

/**
 * What is to be done, in this order. Each `eject`, `build`, `file`, `fly` and `land` is answered by a result, with which the planner is asked again in the
 * same pass, until it asks for nothing more.
 */
export type Action =
  /** `head` is the head that was turned away (REC-2). */
  | {
      do: 'eject'
      pull: string
      entry: string
      key: string
      head?: string | undefined
      kind: EjectionKind
      why: EjectionParts
      checks: readonly FailedRun[]
    }
  /** Stack the first `most` of the candidates onto `base`. `ahead`: on the tip of batch `under`, which is being checked (AHD-1). */
  | { do: 'build'; id: number; base: string; generation: number; under?: number | undefined; candidates: readonly Waiting[]; most: number }
  /** File every check of the batch, then let its runs begin, in the class of the batch that lands next or of one ahead (REC-5, AHD-5). */
  | { do: 'file'; id: number; ahead: boolean }
  /** What was ahead is next to land now (AHD-5). No result. */
  | { do: 'promote'; id: number }
  /** Cancel its runs and forget it (MOV-4). No result. */
  | { do: 'drop'; id: number; cause: DropCause }
  /** Run these pre-flights for the pull at this head merged with this tip (PRE-7). */
  | { do: 'fly'; pull: string; head: string; tip: string; generation: number; workflows: readonly string[] }
  | { do: 'land'; id: number }

/** Why a pull is not in a stack. `head` is the one that was tried; absent: the one that the pass read. */
export type LeftOut = {
  head?: string | undefined
} /** With the branch alone, tried first; `with` empty. Else with pulls that are stacked before it (BLD-6). */ & (
  | { why: 'conflict'; files: readonly string[]; more: number; with: readonly { pull: string; branch: string }[] }
  | { why: 'gone' }
  | { why: 'unreadable'; server: string }
  | { why: 'account-gone' }
  /** Its squash would change nothing; `commit` is the one on the branch that names it, if there is one (BLD-8). */
  | { why: 'empty'; commit?: string | undefined }
  /** Its head is beyond bounds or malformed; `detail` is a sentence (STO-11). */
  | { why: 'hostile'; detail: string }
)

/** Why a landing did not happen. Nothing was pushed, in every case. */
export type NotLanded =
  /** LND-2, LND-15: `keys` are the queueings whose heads moved, or cannot be read. */
  | { why: 'head-moved' | 'head-unreadable'; keys: readonly string[] }
  /** LND-12: out, draft, retargeted, or queued by somebody who no longer may. */
  | { why: 'out'; keys: readonly string[] }
  | { why: 'branch-moved' }
  /** GWY-8. `said` is the gateway's sentence. */
  | { why: 'not-delegated'; said: string }
  | { why: 'not-a-batch'; pull?: string | undefined; said: string }
  | { why: 'tree-differs'; mine: string; theirs: string }
  | { why: 'not-lander' }
  /** A server does not answer, a limit, or this runner's own account: the batch stays and is tried again. */
  | { why: 'trouble'; said: string }

export type Result =
  | { of: 'eject'; key: string; ok: boolean }
  | {
      of: 'build'
      id: number
      ok: true
      /** Null when every candidate that was tried is left out. */
      stack: { tip: string; tree: string; members: readonly Member[] } | null
      /** By key. Candidates in neither were not tried. */
      left: ReadonlyMap<string, LeftOut>
    }
  /** Git or an account cannot do it now; `said` is for the log. */
  | { of: 'build'; id: number; ok: false; said: string }
  /** `blame`: the workflow that cannot be filed and the pull that brought it, where it is known (STO-10). */
  | { of: 'file'; id: number; ok: true }
  | { of: 'file'; id: number; ok: false; blame?: { workflow: string; pull: string } | undefined }
  | { of: 'fly'; pull: string; head: string; tip: string; ok: boolean }
  | { of: 'land'; id: number; ok: true }
  | ({ of: 'land'; id: number; ok: false } & NotLanded)
  /** LND-8: an intent that was found was carried out; these queueings have landed. */
  | { of: 'repair'; landed: readonly string[] }

/** Why something waits, for people (STA-4). */
export type Wait = WaitParts

/** What the planner remembers of a branch between passes; all of it may be lost, and is made again from records (MOV-6). */
export interface Line {
  branch: string
  /** In flight, the one that lands next first; at most `depth`. */
  batches: readonly Batch[]
  /** The rest is the planner's own. */
  memory: Memory
}

export interface Plan {
  line: Line
  actions: readonly Action[]
  waits: readonly Wait[]
  /** The earliest time at which something is due though nothing rings. */
  wakeAt?: number | undefined
}
