import type { Frame, RepoHead } from './frame.ts'
import type { CheckLine } from './queue.ts'
import type { Account, Words } from './words.ts'

/** Output of a run. */
export type LogModel =
  | {
      shown: true
      lines: readonly string[]
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

/** The page of one run, with its log. */
export interface CheckPage {
  frame: Frame
  repo: RepoHead
  check: CheckLine
  branch: string
  /** What it ran on: a pull, or a batch of so many. */
  pull?: { uri: string; title?: string | undefined; author?: Account | undefined } | undefined
  batch?: { size: number; inFlight: boolean } | undefined
  ran: Words
  tone: string
  icon: string
  bold: string
  says: Words
  /** What its runner says of it, where that is more. */
  more?: string | undefined
  times: Words
  log: LogModel
  news?: Words | undefined
}
