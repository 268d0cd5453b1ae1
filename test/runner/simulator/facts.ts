/** What really happened, as far as the judges need it, and how often. */
import type { LeftOut, Member } from '../../../src/runner/planner/types.ts'

/** A property that does not hold. */
export class Broken extends Error {
  readonly property: string

  constructor(property: string, said: string) {
    super(said)
    this.property = property
  }
}

/** Why a build left a pull out. `under`: the batch that it was built on, when it was built ahead. */
export interface Left {
  left: LeftOut
  base: string
  under: number | undefined
}

/** A batch of several that failed by a run with a verdict: its halves are next (FAI-3). */
export interface Failed {
  members: readonly Member[]
  tip: string
  handMoves: number
}

export interface Facts {
  /** Trees on which a batch's run failed, or ran out of time. */
  red: Set<bigint>
  timedOut: Set<bigint>
  /** Tips of a queueing's batches that ran out of time (FAI-8). */
  timeouts: Map<string, Set<string>>
  /** Checks that ended red or without a verdict. */
  redChecks: Set<string>
  /** By branch: nothing is built before, as the runner had trouble of its own (FAI-8). */
  notBefore: Map<string, number>
  /** Passes of a workflow on a tree: `workflow tree`. */
  passed: Set<string>
  landed: Set<string>
  ejected: Set<string>
  /** Told to the planner as done since it lost its memory (FAI-6). */
  toldEjected: Set<string>
  /** Ejections that were asked for and not written: decided then, whatever is so by now. Key and reason. */
  decided: Set<string>
  /** By branch and key. */
  left: Map<string, Left>
  /** Landings that a queueing's head refused (LND-15). */
  headRefused: Map<string, number>
  /** Queueings whose landing was refused for want of a delegation. */
  notDelegated: Set<string>
  /** Chains that the gateway never takes, by their heads: how often, and whom it named. */
  notABatch: Map<string, { times: number; pull: string | undefined }>
  blamed: Set<string>
  /** Pre-flights that could not be begun, by pull and head: how often. */
  unflown: Map<string, number>
  failed: Map<string, Failed>
  /** By branch: who was in the batch that was dropped last; those may be built again alone (FAI-8, GWY-8). */
  dropped: Map<string, ReadonlySet<string>>
  handMoves: number
  counts: Map<string, number>
}

export function emptyFacts(): Facts {
  return {
    red: new Set(),
    timedOut: new Set(),
    timeouts: new Map(),
    redChecks: new Set(),
    notBefore: new Map(),
    passed: new Set(),
    landed: new Set(),
    ejected: new Set(),
    toldEjected: new Set(),
    decided: new Set(),
    left: new Map(),
    headRefused: new Map(),
    notDelegated: new Set(),
    notABatch: new Map(),
    blamed: new Set(),
    unflown: new Map(),
    failed: new Map(),
    dropped: new Map(),
    handMoves: 0,
    counts: new Map(),
  }
}

export function count(facts: Facts, what: string, by = 1): void {
  facts.counts.set(what, (facts.counts.get(what) ?? 0) + by)
}
