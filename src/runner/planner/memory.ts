/** What the planner remembers between passes beside the batches in flight. Plain data: what is not there is null, so that it survives JSON as it is. */
import type { Action, FailedRun } from './types.ts'

export interface Memory {
  /** The id that the next batch has. */
  nextId: number
  /** What was landed or ejected, by the key that queued it (FAI-6). */
  done: readonly Done[]
  /** Ejections that are decided and not known to be written; asked for until they are. */
  owed: readonly Owed[]
  /** What went wrong before, and until when it is left alone. */
  setbacks: readonly Setback[]
  /** The halving under way (FAI-3). */
  suspects: Suspects | null
  /** Keys that the next batch on the branch is of, alone: those of one that timed out or that the gateway refused once (FAI-8, GWY-8). */
  again: readonly string[] | null
  /** The stack that was asked for. */
  asked: AskedStack | null
  /** What conflicted with a batch in flight (AHD-4). */
  aside: Aside | null
  /** Pre-flights that were asked for (PRE-8). */
  flown: readonly Flown[]
  /** Versions of git, here and at the gateway, that made different trees (GWY-8). */
  versions: { mine: string; theirs: string } | null
  /** What holds until the next pass reads again. */
  pass: ThisPass
}

export type Ejection = Extract<Action, { do: 'eject' }>

export type Owed = Ejection & { grounds: Grounds }

/**
 * How long a decision to eject holds while it is not written. `reading`: it is made anew from each reading. `head`: as long as the pull's head, and the branch
 * where it matters, are where they were. `verdict`: it was given, and stands.
 */
export type Grounds = { on: 'reading' } | { on: 'head'; head: string | null; tip: string | null } | { on: 'verdict' }

export interface Done {
  key: string
  how: 'landed' | 'ejected'
  /** When the queue as read last listed it. */
  listedAt: number
}

/**
 * `build`, `file`, `checks`, `land`: the runner's or a server's trouble with a batch. `differs`, `lander`: the gateway's refusals after which the runner stands
 * by. `unreadable`: of a head; `eject`, `fly`: of a pull. `flight`: of a pre-flight without a verdict. `moved`: a head at a landing (LND-15). `timed-out`,
 * `refused`: of a batch with these heads.
 */
export type SetbackKind =
  | 'build'
  | 'file'
  | 'checks'
  | 'land'
  | 'differs'
  | 'lander'
  | 'unreadable'
  | 'eject'
  | 'fly'
  | 'flight'
  | 'moved'
  | 'timed-out'
  | 'refused'

export interface Setback {
  kind: SetbackKind
  /** Which pull, heads or workflow; empty: the line. */
  about: string
  /** The queueings it is about: forgotten when none of them is queued any more. None: the line's. */
  keys: readonly string[]
  times: number
  since: number
  /** Left alone until then. */
  until: number
  /** For people. */
  said: string
  /** The check that was counted last. */
  check: string | null
}

export interface Suspects {
  /** In queue order. */
  members: readonly Suspect[]
  /** `timed-out` and `refused`: no tree tells that it would go the same way, so that the last one runs as well. */
  how: 'failed' | 'timed-out' | 'refused'
  /** Where the branch has to be for this to hold (FAI-5). */
  tip: string
  generation: number
  /** Runs of the batch that failed first. */
  checks: readonly FailedRun[]
  /** How many that one had. */
  of: number
  /** The batch that failed last: its base, its tree, how many it had, and the workflows that failed. */
  failed: { base: string; tree: string; size: number; names: readonly string[] }
  /** Landed out of the batch that failed first, before the last failure and since. */
  before: readonly Named[]
  since: readonly Named[]
}

export interface Suspect extends Named {
  key: string
  head: string
}

/** A pull as sentences name it. */
export interface Named {
  pull: string
  title: string
}

export interface AskedStack {
  id: number
  base: string
  generation: number
  /** The batch it stands on. */
  under: number | null
  keys: readonly string[]
  /** It is of suspects alone. */
  half: boolean
}

export interface Aside {
  /** The tip of the batch in flight. */
  base: string
  left: readonly { key: string; head: string | null }[]
}

export interface Flown {
  key: string
  head: string
  tip: string
  workflow: string
  /** The check that counted when it was asked for: as long as it still does, the run has nothing to show. */
  after: string | null
  /** `asked`: not answered yet. `now`: filed in this pass. */
  state: 'asked' | 'now' | 'flown'
}

export interface ThisPass {
  /** Keys that turned out to be no longer queued, whatever was read. */
  over: readonly string[]
  /** What was read is out of date, or the gateway will take nothing: nothing more is built. */
  halted: boolean
}

/** Of a line that nothing is known of. */
export function emptyMemory(): Memory {
  return {
    nextId: 1,
    done: [],
    owed: [],
    setbacks: [],
    suspects: null,
    again: null,
    asked: null,
    aside: null,
    flown: [],
    versions: null,
    pass: { over: [], halted: false },
  }
}
