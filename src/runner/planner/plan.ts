/** The planner: what was seen of a branch and what is remembered of it in, what to do next out. */

import { build } from './building.ts'
import { learnStack } from './built.ts'
import { askEjections, learnEjection, reviewOwed } from './ejecting.ts'
import { countRuns, file, learnFiling, promote } from './filing.ts'
import { countSilences, ejectGrounded, fly, learnFlight } from './flying.ts'
import { beginPass } from './forgetting.ts'
import { takeOutChanged, takeOutDrafts, takeOutGone } from './heads.ts'
import { judgeLowest } from './judging.ts'
import { learnLanding, learnRepair } from './landing.ts'
import { emptyMemory } from './memory.ts'
import { followBranch, followPulls } from './moving.ts'
import { leaveToOthers } from './standing-by.ts'
import { reviewSuspects } from './suspects.ts'
import { startTurn, type Turn } from './turn.ts'
import type { Line, Plan, Result, Snapshot } from './types.ts'
import { waitsOf, wakeAt } from './waits.ts'

/** The line of a branch that nothing is known of yet: all that matters is made again from records (MOV-6). */
export function emptyLine(branch: string): Line {
  return { branch, batches: [], memory: emptyMemory() }
}

/** What happens in each turn, in this order. A step that asks for a landing ends it: everything else depends on how that goes. */
const steps: readonly ((turn: Turn) => Turn)[] = [
  leaveToOthers,
  followBranch,
  takeOutDrafts,
  takeOutChanged,
  followPulls,
  reviewSuspects,
  countRuns,
  judgeLowest,
  promote,
  takeOutGone,
  countSilences,
  ejectGrounded,
  askEjections,
  fly,
  file,
  build,
]

/**
 * What to do now about a branch. A pass begins without results (those of a repair aside), and asks again with the results of what it did, until nothing that is
 * asked for has a result. What was asked for and never answered is asked for again by the next pass: every action may be done twice. Takes and gives plain data,
 * and changes nothing that it is given.
 */
export function plan(line: Line, seen: Snapshot, results: readonly Result[]): Plan {
  const begun = reviewOwed(startTurn(line, seen))
  const isNewPass = results.every(result => result.of === 'repair')
  const learned = results.reduce(learn, isNewPass ? beginPass(begun) : begun)
  const turn = steps.reduce((so, step) => (so.over ? so : step(so)), learned)
  const waits = waitsOf(turn)
  const wake = wakeAt(turn, waits)
  const planned: Line = { branch: line.branch, batches: turn.batches, memory: turn.memory }
  return { line: planned, actions: turn.actions, waits, ...(wake === undefined ? {} : { wakeAt: wake }) }
}

function learn(turn: Turn, result: Result): Turn {
  switch (result.of) {
    case 'eject':
      return learnEjection(turn, result)
    case 'build':
      return learnStack(turn, result)
    case 'file':
      return learnFiling(turn, result)
    case 'fly':
      return learnFlight(turn, result)
    case 'land':
      return learnLanding(turn, result)
    case 'repair':
      return learnRepair(turn, result)
  }
}
