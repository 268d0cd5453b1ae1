import type { Frame, Paging, RepoHead } from './frame.ts'
import type { HealthWords, PullLine, StandingWords } from './queue.ts'
import type { Account, Instant, LabelLine, Words } from './words.ts'

/** A branch with a queue (`dev.knotless.defs#queueSummary` fits). */
export interface QueueLane {
  branch: string
  length: number
  batches: number
  health: HealthWords
  lastLanding?: Instant | undefined
  isDefault: boolean
  queueOnly: boolean
}

export interface RepositoryLine {
  uri: string
  owner: Account
  name: string
  description?: string | undefined
  /** The viewer owns it or is a collaborator. */
  mine: boolean
  queues: readonly QueueLane[]
}

/** The list of repositories. */
export interface HomePage {
  frame: Frame
  /** What was searched for; empty for all. */
  q: string
  /** Whose repositories these are, where it was the name of an account. */
  owner?: Account | undefined
  mine: boolean
  /** Only those of the viewer's with a queue that needs a look. */
  ill: boolean
  /** How many there are under this search; `mine` and `ill` only for a viewer. */
  counts: { all: number; mine?: number | undefined; ill?: number | undefined }
  repositories: readonly RepositoryLine[]
  paging: Paging
}

/** A pull in a list; `label` says more of an open one than where it stands does. */
export interface PullRow {
  pull: PullLine
  standing: StandingWords
  label?: LabelLine | undefined
}

/** A pull of somebody's, and the repository that it is of. */
export interface MyPullRow extends PullRow {
  repo: { owner: Account; name: string }
}

/** What whoever is logged in has opened, over all repositories. */
export interface MyPullsPage {
  frame: Frame
  state: 'open' | 'closed' | 'merged'
  /** None of them empty. */
  groups: readonly { title: string; pulls: readonly MyPullRow[] }[]
  paging: Paging
}

/** A record that counts only when its time has come (REC-3). */
export interface SleepingRecord {
  uri: string
  writer: Account
  /** What it would say, such as `queued`, `closed` or `pull`. */
  what: string
  /** The time in its key. */
  at: Instant
  pull?: { title: string; author: Account; uri: string } | undefined
}

/** The overview of one repository. */
export interface RepositoryPage {
  frame: Frame
  repo: RepoHead
  /** The address that git clones from. */
  cloneUrl: string
  description?: string | undefined
  queues: readonly QueueLane[]
  pulls: readonly PullRow[]
  filter: { state: 'open' | 'closed' | 'merged'; mine: boolean }
  paging: Paging
  collaborators: readonly Account[]
  /** In the order of the record. */
  runners: readonly { account: Account; lastSeen?: Instant | undefined; lands: boolean }[]
  gateway: { did?: string | undefined; here: boolean; delegated: boolean }
  /** The badge of the default branch: its path, what it says, and what shows it in a README. */
  badge: { href: string; says: string; markdown: string }
  /** Said to the one that it is offered to. */
  offer?: Words | undefined
  /** The new address after a transfer. */
  movedTo?: { owner: Account; name: string } | undefined
  /** Set when the git state as recorded could not be taken, and what is shown is older: why, and since when. */
  mirror?: { says: Words; since?: Instant | undefined } | undefined
  /** For the owner only. */
  sleeping?: readonly SleepingRecord[] | undefined
}
