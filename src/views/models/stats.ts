import type { Frame, RepoHead } from './frame.ts'
import type { Account, Instant, Words } from './words.ts'

/** How a mark is drawn: bars in five colours, lines in two, and bounds. */
export type MarkKind = 'p1' | 'p2' | 'p3' | 'p4' | 'p5' | 'l1' | 'l2' | 'bound'

/** A plot by day. */
export interface Plot {
  title: string
  /** What it is, to those who do not see it. */
  label: string
  key: readonly { kind: MarkKind; name: string }[]
  /** The value at the top; the bottom is 0. */
  top: number
  /** At the bottom, evenly apart. */
  days: readonly string[]
  bounds?: readonly number[] | undefined
  /** A bar for each day, its parts from the bottom up. */
  bars?: readonly { href: string; says: string; parts: readonly { kind: MarkKind; n: number; says: string }[] }[] | undefined
  /** A value for each day; absent where there is none. */
  lines?: readonly { kind: MarkKind; values: readonly (number | undefined)[] }[] | undefined
}

export interface FigureLine {
  name: string
  value: string
  judgement?: { is: 'healthy' | 'near' | 'far'; word: string } | undefined
  note: string
}

/** The pulls that landed or were turned away on a day. */
export interface DayPulls {
  day: Instant
  groups: readonly {
    name: string
    landed: boolean
    pulls: readonly { uri: string; title?: string | undefined; author?: Account | undefined; at: Instant; waited?: string | undefined }[]
    /** How many more there are. */
    more: number
  }[]
}

/** How the queues of a repository did (REA-3). */
export interface StatsPage {
  frame: Frame
  repo: RepoHead
  heading: string
  lead: Words
  spans: readonly { name: string; href: string; current: boolean }[]
  /** All of them together first; empty where there is but one. */
  branches: readonly { name?: string | undefined; href: string; current: boolean }[]
  figures: readonly FigureLine[]
  /** Absent where there is too little to draw; `empty` says so. */
  plots?: readonly Plot[] | undefined
  empty?: Words | undefined
  table: {
    columns: readonly string[]
    rows: readonly { day: string; href?: string | undefined; current: boolean; cells: readonly string[] }[]
    all: { name: string; cells: readonly string[] }
    /** Where the table begins later than the span: that nothing happened before. */
    before?: string | undefined
  }
  healthy: string
  cancelled: readonly { why: string; runs: number }[]
  retried: readonly { workflow: string; test: string; times: number }[]
  nothing: { cancelled: string; retried: string; pulls: string }
  day?: DayPulls | undefined
  compare: {
    /** YYYY-MM-DD, of the day that is asked for and of today. */
    day: string
    today: string
    hidden: readonly { name: string; value: string }[]
    heads?: { before: Words; since: Words } | undefined
    rows?: readonly { name: string; before: string; since: string }[] | undefined
  }
  csv: string
  json: string
}
