import type { LogLine } from '../logs.ts'
import type { Frame, RepoHead } from './frame.ts'
import type { CheckLine } from './queue.ts'
import type { Account, LabelLine, Words } from './words.ts'

/** Output of a run. */
export type LogModel =
  | {
      shown: true
      lines: readonly LogLine[]
      /** Number of the first line, from 1; absent where that is not known, since what came before was not kept. */
      first?: number | undefined
      /** How many lines there are in all, where that is known. */
      of?: number | undefined
      /** Pages of a long log. */
      earlier?: string | undefined
      later?: string | undefined
      /** It grows while one looks. */
      live: boolean
      /** What is not shown, and why. */
      notes: readonly Words[]
      /** Path of the whole log as text. */
      plain?: string | undefined
    }
  | { shown: false; says: Words; live: boolean }

/** A test that failed, as its report says. */
export interface FailedLine {
  name: string
  /** Its file, or the group it belongs to. */
  where?: string | undefined
  /** Where the log tells of it: a number from 1. */
  line?: { n: number; href: string } | undefined
  message: string
  /** The rest of what it printed: a trace, as a rule. */
  text: string
}

export interface FailedModel {
  /** How many failed, listed or not. */
  of: number
  list: readonly FailedLine[]
  /** What is not listed, and why. */
  notes: readonly Words[]
}

/** The page of one run, with its log. */
export interface CheckPage {
  frame: Frame
  repo: RepoHead
  check: CheckLine
  branch: string
  /** What it ran on: a pull, or a batch of so many. */
  pull?: { uri: string; title?: string | undefined; author?: Account | undefined } | undefined
  batch?: { size: number; tip: string } | undefined
  ran: Words
  tone: string
  icon: string
  bold: string
  says: Words
  /** What its runner says of it, where that is more. */
  more?: string | undefined
  times: Words
  /** Of its tests, where none failed; and those that passed on a retry. */
  tests?: Words | undefined
  failed?: FailedModel | undefined
  /** What the steward decided on its ground. */
  decisions?: readonly { label: LabelLine; says: Words; record: string }[] | undefined
  log: LogModel
  news?: Words | undefined
}
