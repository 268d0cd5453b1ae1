/** A pass, as the runner makes one: reads, plans, does what the plan says, tells the planner how it went, until it asks for nothing more. */
import { emptyLine } from '../../../src/runner/planner/plan.ts'
import type { Action, Line, Plan, Result, Snapshot } from '../../../src/runner/planner/types.ts'
import { build } from './build.ts'
import type { Dice } from './dice.ts'
import { Broken, count } from './facts.ts'
import { judgeDecisions, judgeEjection } from './judge-ejection.ts'
import { judgeBuild, judgeDrop, judgeQuiet, reviewFailed } from './judge-plan.ts'
import { land, repair, type Step } from './landing.ts'
import { drop, file, fly, recover } from './runs.ts'
import { type Reading, read, snapshot } from './snapshot.ts'
import { type Kept, kept, lander, type World, write } from './world.ts'

/** What goes wrong in a pass. */
export interface Faults {
  /** The step at which it breaks off; 0: it does not. */
  breaksAt: number
  /** How: the process ends and its memory with it; the pass is given up and the line as last planned kept, or the line as it was before. */
  how: 'killed' | 'given-up' | 'given-up-whole'
  /** The step at which the world moves, and how. */
  meanwhile: { at: number; act: (world: World) => void } | undefined
}

export const smooth: Faults = { breaksAt: 0, how: 'killed', meanwhile: undefined }

class BrokeOff extends Error {}
/** One for all: nobody reads where it came from, and making one costs as much as a pass. */
const brokeOff = new BrokeOff()

/** More turns than any sound plan takes in one pass. */
const turnsAtMost = 400

interface Turn {
  world: World
  name: string
  dice: Dice
  reading: Reading
  step: Step
  /** A landing was refused in this pass. */
  refused: boolean
  /** One was tried. */
  tried: boolean
}

/** Makes a pass over a branch. Gives the last plan; undefined when the pass broke off. Throws `Broken`. */
export function pass(world: World, name: string, dice: Dice, faults: Faults): Plan | undefined {
  count(world.facts, 'passes')
  let steps = 0
  const step: Step = () => {
    steps++
    if (faults.meanwhile?.at === steps) faults.meanwhile.act(world)
    if (faults.breaksAt === steps) throw brokeOff
  }
  const mine = kept(world, name)
  const line = mine.line
  const groups = faults.breaksAt > 0 ? new Map(mine.groups) : mine.groups
  const told = faults.breaksAt > 0 ? new Set(world.facts.toldEjected) : world.facts.toldEjected
  try {
    return turns({ world, name, dice, reading: undefined, step, refused: false, tried: false }, mine)
  } catch (err) {
    if (!(err instanceof BrokeOff)) throw err
    count(world.facts, `broken off: ${faults.how}`)
    world.trace?.push(`    the pass breaks off: ${faults.how}`)
    world.floor = world.seq
    world.facts.failed.delete(name)
    world.facts.notBefore.clear()
    if (faults.how !== 'given-up') world.facts.decided.clear()
    if (faults.how === 'given-up') tidy(world, name, mine)
    if (faults.how === 'killed') restart(world)
    else if (faults.how === 'given-up-whole') {
      world.facts.toldEjected = told
      mine.line = line
      mine.groups = groups
    }
    return undefined
  }
}

/** What was planned and not done, of what has no answer: runs of batches that are forgotten end, and those of the lowest go first. */
function tidy(world: World, name: string, { line, groups }: Kept): void {
  for (const id of groups.keys()) if (!line.batches.some(batch => batch.id === id)) drop(world, name, id)
  const lowest = line.batches[0] === undefined ? undefined : groups.get(line.batches[0].id)
  if (lowest !== undefined) lowest.ahead = false
}

/** The lander starts with nothing but what is on record (MOV-6). */
export function restart(world: World): void {
  for (const [name, one] of world.kept) {
    one.line = emptyLine(name)
    one.groups = new Map()
  }
  recover(world)
  world.facts.toldEjected = new Set()
  world.facts.failed.clear()
  world.facts.decided.clear()
  world.facts.notBefore.clear()
  world.floor = world.seq
  world.stopping = false
}

function turns(turn: Turn, mine: Kept): Plan {
  const { world, name, dice } = turn
  let results: Result[] = []
  const idle = world.standBy?.why === 'not-lander' || world.standBy?.why === 'lease'
  const repaired = idle || world.stopping ? undefined : repair(world, dice)
  if (repaired !== undefined) {
    results.push(repaired)
    turn.step(world)
  }
  world.unsettled.clear()
  turn.reading = read(world, name, dice)
  let seen = snapshot(world, name, turn.reading, dice)
  for (let n = 0; n < turnsAtMost; n++) {
    const before: Line = mine.line
    reviewFailed(world, seen)
    const plan = world.plan(before, seen, results)
    count(world.facts, 'plans')
    for (const result of results) if (result.of === 'eject' && result.ok) world.facts.toldEjected.add(`${name} ${result.key}`)
    mine.line = plan.line
    judgeDecisions(world, seen, plan.line.memory.owed)
    for (const action of plan.actions) if (action.do === 'drop') judgeDrop(world, seen, before, action, turn.refused)
    if (seen.standBy?.why === 'not-lander' || seen.standBy?.why === 'lease') world.facts.failed.delete(name)
    results = []
    for (const action of plan.actions) {
      turn.step(world)
      const result = carryOut(turn, mine, seen, action)
      if (result !== undefined) results.push(result)
      turn.step(world)
    }
    if (results.length === 0) {
      judgeQuiet(world, again(turn, seen, results), plan, turn.tried)
      forget(mine)
      return plan
    }
    seen = again(turn, seen, results)
  }
  throw new Broken('4 bounded', `a pass over ${name} does not come to an end`)
}

/** What the next turn of the pass sees: read again after a landing; else as before, runs as they are now. */
function again(turn: Turn, seen: Snapshot, results: readonly Result[]): Snapshot {
  const { world, name } = turn
  if (results.some(result => result.of === 'land' && result.ok)) return snapshot(world, name, turn.reading, turn.dice)
  const runs = new Map(seen.runs)
  for (const group of kept(world, name).groups.values()) runs.set(group.id, group.runs)
  return { ...seen, runs }
}

/** Groups of batches that are gone, but for a few: a planner may be told of runs that it has forgotten. */
function forget(mine: Kept): void {
  if (mine.groups.size <= 4) return
  for (const id of mine.groups.keys()) if (!mine.line.batches.some(batch => batch.id === id)) mine.groups.delete(id)
}

function carryOut(turn: Turn, mine: Kept, seen: Snapshot, action: Action): Result | undefined {
  const { world, name, dice } = turn
  world.trace?.push(`  ${said(action)}`)
  switch (action.do) {
    case 'eject': {
      judgeEjection(world, seen, action)
      return eject(world, name, dice, action)
    }
    case 'build':
      judgeBuild(world, seen, mine.line, action)
      return build(world, name, action, dice)
    case 'file': {
      const batch = batchOf(mine, action)
      if (action.ahead !== (mine.line.batches[0] !== batch))
        throw new Broken('AHD-5 class', `batch ${batch.id} is filed ${action.ahead ? 'as ahead' : 'to land next'}`)
      return file(world, name, batch, action.ahead, dice)
    }
    case 'fly':
      return fly(world, action, dice)
    case 'promote':
      if (mine.line.batches[0]?.id !== action.id) throw new Broken('AHD-5 class', `batch ${action.id} is promoted and is not the lowest`)
      promote(mine, action.id)
      return undefined
    case 'drop':
      drop(world, name, action.id)
      return undefined
    case 'land': {
      const batch = batchOf(mine, action)
      if (mine.line.batches[0] !== batch) throw new Broken('1 base', `batch ${batch.id} lands and is not the lowest`)
      if (seen.standBy !== undefined) throw new Broken('REC-8 stand-by', `batch ${batch.id} lands while standing by: ${seen.standBy.why}`)
      turn.tried = true
      const result = land(world, name, batch, dice, turn.step)
      if (result.of === 'land' && !result.ok) {
        turn.refused = true
        if (result.why !== 'trouble') world.facts.failed.delete(name)
      }
      return result
    }
  }
}

function promote({ groups }: Kept, id: number): void {
  const group = groups.get(id)
  if (group !== undefined) group.ahead = false
}

function batchOf(mine: Kept, action: Action & { id: number }): Line['batches'][number] {
  const batch = mine.line.batches.find(one => one.id === action.id)
  if (batch === undefined) throw new Broken('plan', `${action.do} of batch ${action.id}, which is not in flight`)
  return batch
}

function eject(world: World, name: string, dice: Dice, order: Action & { do: 'eject' }): Result {
  const fails = !world.still && dice.chance(world.climate.trouble)
  // The answer to a write may be lost though it was made.
  if (!fails || dice.chance(0.4)) {
    const pull = world.byUri.get(order.pull)
    if (pull !== undefined) write(world, pull, { by: lander, what: 'ejected', branch: name, ends: order.key })
    world.facts.ejected.add(order.key)
    count(world.facts, `ejected: ${order.kind}, ${order.why.key}`)
  }
  return { of: 'eject', key: order.key, ok: !fails }
}

function said(action: Action): string {
  switch (action.do) {
    case 'eject':
      return `eject ${action.key} at ${action.head}: ${action.kind}, ${action.why.key}`
    case 'build': {
      const most = action.candidates.length > action.most ? `, ${action.most} at most` : ''
      return `build ${action.id} on ${action.base}${action.under === undefined ? '' : ` ahead of ${action.under}`}: ${action.candidates.map(one => one.key).join(' ')}${most}`
    }
    case 'fly':
      return `fly ${action.workflows.join(', ')} of ${action.pull} at ${action.head} on ${action.tip}`
    case 'drop':
      return `drop ${action.id}: ${action.cause}`
    default:
      return `${action.do} ${action.id}`
  }
}
