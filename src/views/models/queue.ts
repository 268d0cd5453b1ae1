import type { FailedCheck } from '../../queue/failed-checks.ts'
import type { Frame, Paging, RepoHead } from './frame.ts'
import type { Account, Instant, RefusalWords, Words } from './words.ts'

/** A pull as lists show it (`dev.knotless.defs#pullView` fits). */
export interface PullLine {
  uri: string
  author: Account
  title: string
  branch: string
  draft: boolean
  state: string
  createdAt: Instant
  head?: { repo: string; branch: string; commit?: string | undefined } | undefined
}

/** When something is expected to land: a range with what it goes by, or, in `none`, why there is none (`#expectedView` fits). */
export interface ExpectedLine {
  from?: Instant | undefined
  to?: Instant | undefined
  basis?: Words | undefined
  none?: Words | undefined
}

/** Where a pull stands (`#standing` fits). */
export interface StandingWords {
  kind: string
  text: Words
  /** A key of `pullLabels`. */
  label?: string | undefined
  branch: string
  position?: number | undefined
  length?: number | undefined
  since?: Instant | undefined
  why?: Words | undefined
  preflights?: readonly { name: string; status?: string | undefined }[] | undefined
  batch?: { size: number } | undefined
  expected?: ExpectedLine | undefined
  /** That the steward put it back (STW-7). */
  requeue?: { kind: string; attempt: number } | undefined
  reason?: string | undefined
  ejectionKind?: string | undefined
  by?: Account | undefined
  /** The head when it was queued, when it is another now (QUE-9). */
  queuedAtHead?: string | undefined
  backdated?: { keyTime: Instant; seenAt: Instant } | undefined
}

/** How a queue does (`#healthView` fits). */
export interface HealthWords {
  kind: string
  tone: string
  label?: string | undefined
  bold: string
  says: Words
  advice?: Words | undefined
  since?: Instant | undefined
  /** What is said beside it. */
  notes?: readonly { kind: string; bold: string; says: Words; advice?: Words | undefined }[] | undefined
}

/** Who lands (`#landerView` fits). */
export interface LanderLine {
  account: Account
  named: boolean
  lastSeen?: Instant | undefined
  /** What it waits for, in its own words. */
  waitsFor?: string | undefined
  running?: boolean | undefined
  batch?: number | undefined
  depth?: number | undefined
  wait?: number | undefined
  jobs?: number | undefined
  /** In seconds. */
  timeout?: number | undefined
  startedAt?: Instant | undefined
  executor?: string | undefined
  version?: string | undefined
  git?: string | undefined
}

/** A run (`#checkView` fits). */
export interface CheckLine {
  uri: string
  runner: Account
  workflow: string
  status: string
  verdict?: string | undefined
  commit: string
  baseCommit?: string | undefined
  preflight?: boolean | undefined
  isolated?: boolean | undefined
  summary?: string | undefined
  /** The run whose pass was taken over (CHK-6). */
  reusedFrom?: string | undefined
  /** What runs of this workflow usually take in batches here, in seconds. */
  usual?: { from: number; typical: number; to: number } | undefined
  createdAt: Instant
  startedAt?: Instant | undefined
  finishedAt?: Instant | undefined
}

/** A batch in flight (`#batchView` fits). */
export interface BatchLine {
  state: string
  base: string
  tip: string
  since: Instant
  members: readonly MemberLine[]
  checks: readonly CheckLine[]
  expected?: ExpectedLine | undefined
  says: Words
  nothingRan?: boolean | undefined
  isolated?: boolean | undefined
}

/** A pull in a batch (`#memberView` fits), in stacking order. */
export interface MemberLine {
  pull: string
  title?: string | undefined
  author?: Account | undefined
  head?: string | undefined
  commit: string
}

/** A queued pull (`#entryView` fits). */
export interface EntryLine {
  pull: PullLine
  position: number
  key: string
  queuedBy: Account
  queuedAt: Instant
  standing: StandingWords
  /** Its pre-flights at its head, whatever became of them. */
  preflights?: readonly { name: string; status?: string | undefined; verdict?: string | undefined }[] | undefined
  /** Set when the row is new, or had another place, since the version that the reader has. */
  cue?: { kind: 'new' } | { kind: 'moved'; from: number } | undefined
}

/** A pull turned away (`#ejectionView` fits). */
export interface EjectionLine {
  pull: PullLine
  by: Account
  at: Instant
  reason: string
  says?: Words | undefined
  kind: string
  commit?: string | undefined
  checks: readonly FailedCheck[]
  /** What the steward decided, where it did (`#decisionView` fits). */
  decision?: DecisionLine | undefined
  /** Where it is in the queue again, where it is. */
  position?: number | undefined
  length?: number | undefined
  /** Why the viewer, who may queue, could not add it again now. */
  refused?: RefusalWords | undefined
}

/** What the steward decided about an ejection (STW-10). */
export interface DecisionLine {
  uri: string
  verdict: string
  says: Words
  /** The checks that it rests on. */
  evidence: readonly { uri: string }[]
}

/** Something that happened to a queue, newest first. */
export interface ActivityLine {
  at: Instant
  tone?: string | undefined
  /** Without the pull that it is about. */
  says: Words
  about?: { title: string; pull: string } | undefined
  /** AT-URI of the record that says so. */
  record: string
  /** Tip of the batch that it is about. */
  batch?: string | undefined
}

/** A batch that landed (`#landedView` fits). */
export interface LandedLine {
  tip: string
  at: Instant
  by: Account
  members: readonly MemberLine[]
  checks?: readonly CheckLine[] | undefined
  /** How long its checks took, in seconds. */
  checkedSeconds?: number | undefined
  nothingRan?: boolean | undefined
}

/** Figures over a span of UTC days (`#statsView` fits). */
export interface StatsLine {
  days: number
  landed: number
  ejected?: number | undefined
  medianMinutes?: number | undefined
  p95Minutes?: number | undefined
  batchesPassed?: number | undefined
  batchesEnded?: number | undefined
}

/** The queue page. `queue` is the answer of `dev.knotless.getQueue` with its sentences in parts (`queueParts`). */
export interface QueuePage {
  frame: Frame
  repo: RepoHead
  queue: {
    branch: string
    tip?: string | undefined
    /** Pulls queued in all. */
    length: number
    /** Those of this page and filter. Pulls in batches are in it too; the page shows them in flight only. */
    queued: readonly EntryLine[]
    batches: readonly BatchLine[]
    ejected: readonly EjectionLine[]
    landed: readonly LandedLine[]
    health: HealthWords
    lander?: LanderLine | undefined
    stats?: readonly StatsLine[] | undefined
    unchecked: boolean
    queueOnly: boolean
    /** The version of the index that this was read from. */
    version: number
  }
  /** What happened last, newest first. */
  activity: readonly ActivityLine[]
  /** Where the viewer's own pulls are, in one sentence. */
  yours?: Words | undefined
  /** What the times in the list go by, or why there are none; each said once. */
  estimates: readonly Words[]
  /** When the branch came to its tip, where that is known. */
  tipAt?: Instant | undefined
  /** Branches with a queue, the default one first. */
  branches: readonly { branch: string; length: number }[]
  filter: { q: string; author: string; mine: boolean }
  /** Who has pulls in the queue, for the filter. */
  authors: readonly Account[]
  /** How many wait (in no batch) in all, and how many of them match the filter. */
  waiting: { all: number; matching: number }
  paging: Paging
  /** The last change, said politely to those who listen (`liveWords`, news). */
  news?: Words | undefined
  /** What the viewer may do with pulls here in general (ADM-1, ADM-2); what one pull's state refuses comes when it is tried. */
  may: { queue: boolean; leave: boolean }
}
