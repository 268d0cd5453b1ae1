import type { CommitRow, DiffFile } from '../../git/pull.ts'
import type { FailedCheck } from '../../queue/failed-checks.ts'
import type { Frame, RepoHead } from './frame.ts'
import type { BatchLine, CheckLine, HealthWords, LanderLine, MemberLine, PullLine, StandingWords } from './queue.ts'
import type { Instant, LabelLine, Permission, RefusalWords, RightLine, Words } from './words.ts'

/** The state that the merge box shows (`dev.knotless.defs#box` fits). */
export interface BoxWords {
  key: string
  tone: string
  headline: Words
  says: Words
  since?: Instant | undefined
  files?: readonly { path: string }[] | undefined
  moreFiles?: number | undefined
}

/** What leaving costs (`leaving`): the question before it, and the sentence beside the button. */
export interface LeaveWords {
  question: Words
  beside: Words
}

/** What the merge box is made of. It is also the answer to Add and to Leave, with `refused` or `notice` set. */
export interface BoxModel {
  box: BoxWords
  standing: StandingWords
  can: { queue: Permission; leave: Permission; merge: Permission }
  /** A refusal of what was just tried (422). */
  refused?: RefusalWords | undefined
  /** What was just done and needs a word, such as that it was queued already. */
  notice?: RefusalWords | undefined
  leave?: LeaveWords | undefined
  /** Places in the queue that are in flight, from 1, for the strip of beads. */
  flying: readonly number[]
  health?: HealthWords | undefined
  lander?: LanderLine | undefined
  gateway: { did?: string | undefined; delegated: boolean; settingsUrl?: string | undefined }
  /** Newest run of each workflow at the head; the box lists those that failed. */
  checks: readonly CheckLine[]
  /** The tip of the batch that it is in, that it landed in, or that it was turned away from. */
  batchTip?: string | undefined
  /** Of an ejection: its head is still the one that was turned away for what failed on it. */
  unchanged?: boolean | undefined
  /** What the steward made of an ejection (STW-10). */
  decision?: { label: LabelLine; says: Words } | undefined
  /** The failed workflows of an ejection. */
  failed?: readonly FailedCheck[] | undefined
  queueOnly: boolean
  unchecked: boolean
  /** The pull changes what checks it (ADM-11). */
  changesChecks: boolean
  /** The viewer owns the repository: gets links to settings. */
  isOwner: boolean
  /** The viewer is its owner or a collaborator. */
  mayMerge?: boolean | undefined
}

/** One line of the timeline (`timeline`); without `at` it says how things are now. */
export interface TimelineLine {
  at?: Instant | undefined
  /** A name of `data-tone`: colours the bead, and says nothing that the words do not. */
  tone?: string | undefined
  says: Words
  /** Of an ejection: what failed. */
  failed?: readonly FailedCheck[] | undefined
  /** AT-URI of the record that says so: it has a page here. */
  record?: string | undefined
  /** Tip of the batch that it is about. */
  batch?: string | undefined
  /** AT-URI of the run that it is about. */
  run?: string | undefined
  /** REC-9: when it was first seen, long after the time in its key. */
  seenAt?: Instant | undefined
}

/** What git says about the pull; `refused` when it could not be read, with why. */
export type ChangesModel =
  | {
      ok: true
      commits: readonly CommitRow[]
      moreCommits: boolean
      files: readonly DiffFile[]
      /** Files after those, by their names. */
      others?: readonly { path: string; oldPath?: string | undefined }[] | undefined
      /** Only this file is shown, as the reader asked. */
      only?: string | undefined
      totals: { files: number; additions: number; deletions: number; exact: boolean }
    }
  | { ok: false; says: Words }

/** What came of asking for runs again (RUN-6): a word, a refusal, or the right that has to be granted first. */
export interface Again {
  refused?: RefusalWords | undefined
  notice?: RefusalWords | undefined
  right?: RightLine | undefined
}

/** A change of the pull itself that the viewer may make (HON-6, QUE-5). */
export interface ChangeLine {
  act: string
  /** The last part of its address. */
  path: string
  label: string
  /** Asked before, where it takes the pull out of its queue. */
  question?: { headline: Words; says: Words } | undefined
}

/** Close, Reopen, Mark as ready, Make a draft: those that the viewer may press, what they cost, and the right that has to be granted first. */
export interface ChangingModel {
  acts: readonly ChangeLine[]
  costs?: Words | undefined
  right?: RightLine | undefined
}

/** Before a pull that is queued is closed or made a draft, without scripts. */
export interface ConfirmChangePage {
  frame: Frame
  repo: RepoHead
  pull: PullLine
  change: ChangeLine
  refused?: RefusalWords | undefined
}

/** The page of one pull. Box, standing and checks are those of `dev.knotless.getMergeStatus` (`mergeStatusParts`). */
export interface PullPage {
  frame: Frame
  repo: RepoHead
  pull: PullLine & { body?: string | undefined }
  box: BoxModel
  changing: ChangingModel
  /** The batch that it is in. */
  batch?: BatchLine | undefined
  changes: ChangesModel
  checks: readonly CheckLine[]
  /** The batch that it landed in, with the others in it; `checked`: the checks are those of the batch. */
  landed?: { tip: string; others: readonly MemberLine[]; checked: boolean; says?: Words | undefined } | undefined
  /** The viewer may ask for its runs again. */
  mayRerun: boolean
  again?: Again | undefined
  timeline: readonly TimelineLine[]
  /** How many lines before those are not shown. */
  earlier?: number | undefined
  news?: Words | undefined
}

/** Before leaving, without scripts. */
export interface ConfirmLeavePage {
  frame: Frame
  repo: RepoHead
  pull: PullLine
  /** What leaving would do, with the pull's title (`leavePageWords`). */
  says: Words
  /** When it is expected to land where it stays. */
  stays?: Words | undefined
  refused?: RefusalWords | undefined
}
