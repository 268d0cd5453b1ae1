import type { Frame, RepoHead } from './frame.ts'
import type { CheckLine, ExpectedLine } from './queue.ts'
import type { Account, Instant, LabelLine, Words } from './words.ts'

/** A pull in a batch, and what became of it. */
export interface BatchMember {
  pull: string
  title?: string | undefined
  author?: Account | undefined
  head?: string | undefined
  commit: string
  label?: LabelLine | undefined
  says: Words
  /** The tip of the batch that it landed in, where that is another. */
  batch?: string | undefined
}

/** A run of a batch. */
export interface BatchRun {
  /** AT-URI of its check, where that is still there. */
  uri?: string | undefined
  workflow: string
  label: LabelLine
  startedAt?: Instant | undefined
  endedAt?: Instant | undefined
  /** How long it took, in milliseconds. */
  took?: number | undefined
  says: string
  /** While its batch is in flight: the run as the queue page has it, with how long it usually takes. */
  check?: CheckLine | undefined
  /** It lists tests that failed. */
  failedTests: boolean
}

/** A line of what happened. It leads to a batch by its tip, to a run, or to a record, by AT-URI. */
export interface BatchEvent {
  at: Instant
  tone: string
  says: Words
  batch?: string | undefined
  check?: string | undefined
  record?: string | undefined
}

/** The page of one batch, in flight or long gone. */
export interface BatchPage {
  frame: Frame
  repo: RepoHead
  batch: { branch: string; base?: string | undefined; tip: string; since?: Instant | undefined; isAhead: boolean }
  /** When it lands, while it is in flight. */
  expected?: ExpectedLine | undefined
  /** How its times are said: those of today without their day. */
  form: 'clock' | 'full'
  label: LabelLine
  says: Words
  more?: Words | undefined
  notes: readonly Words[]
  times: Words
  /** In stacking order. */
  members: readonly BatchMember[]
  runs: readonly BatchRun[]
  runCounts: string
  events: readonly BatchEvent[]
  news?: Words | undefined
}
