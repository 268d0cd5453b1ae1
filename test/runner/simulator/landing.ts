/** Landing and its repair as LND-1 to LND-12 say, with everything that may go wrong between two steps. */
import type { Batch, NotLanded, Result } from '../../../src/runner/planner/types.ts'
import type { Dice } from './dice.ts'
import { count } from './facts.ts'
import { judgePush } from './judge-landing.ts'
import { branchOf, type Intent, isOn, kept, lander, truth, type World, write } from './world.ts'

/** Called between two steps; it may throw, or let the world move. */
export type Step = (world: World) => void

/** The keys of members that are out now, as their sources say (LND-12). */
function outKeys(world: World, intent: Intent): string[] {
  return intent.members
    .filter(member => {
      const pull = world.byUri.get(member.pull)
      if (pull === undefined) return true
      const stands = truth(world, pull)
      return !stands.open || stands.draft || stands.branch !== intent.branch || stands.entry?.key !== member.key
    })
    .map(member => member.key)
}

/** LND-2, LND-3, LND-12: why this may not be pushed now. */
function refusal(world: World, intent: Intent): NotLanded | undefined {
  const out = outKeys(world, intent)
  if (out.length > 0) return { why: 'out', keys: out }
  const pullOf = (uri: string) => world.byUri.get(uri)
  const dark = intent.members.filter(member => pullOf(member.pull)?.where === 'unreadable')
  if (dark.length > 0) return { why: 'head-unreadable', keys: dark.map(member => member.key) }
  const moved = intent.members.filter(member => pullOf(member.pull)?.where !== 'at' || pullOf(member.pull)?.head.id !== member.head)
  if (moved.length > 0) return { why: 'head-moved', keys: moved.map(member => member.key) }
  const branch = branchOf(world, intent.branch)
  if (branch.tip?.id !== intent.base || branch.generation !== intent.generation) return { why: 'branch-moved' }
  return undefined
}

/** What the gateway says to a push that is in order. */
function gateway(world: World, intent: Intent, dice: Dice): NotLanded | undefined {
  const bad = intent.members.find(member => ((world.heads.get(member.head)?.tree ?? 0n) & world.trees.refused) !== 0n)
  if (bad !== undefined) return { why: 'not-a-batch', pull: bad.pull, said: 'its tree is another one here' }
  if (world.still || !dice.chance(world.climate.trouble)) return undefined
  switch (dice.below(6)) {
    case 0:
      return { why: 'not-delegated', said: 'the owner has not let this gateway write' }
    case 1:
      return { why: 'not-a-batch', said: 'a commit in it is malformed' }
    case 2:
      world.standBy = { why: 'git-version', mine: '2.45', theirs: '2.39' }
      return { why: 'tree-differs', mine: '2.45', theirs: '2.39' }
    case 3:
      world.standBy = { why: 'not-lander', first: 'did:plc:other' }
      return { why: 'not-lander' }
    default:
      return { why: 'trouble', said: 'the server does not answer' }
  }
}

function note(world: World, intent: Intent, refused: NotLanded): void {
  const { facts } = world
  count(facts, `landings refused: ${refused.why}`)
  world.trace?.push(`    refused: ${refused.why}${'keys' in refused ? ` ${refused.keys.join(' ')}` : ''}`)
  if (refused.why === 'head-moved' || refused.why === 'head-unreadable') {
    for (const key of refused.keys) facts.headRefused.set(key, (facts.headRefused.get(key) ?? 0) + 1)
  }
  if (refused.why === 'not-delegated') for (const member of intent.members) facts.notDelegated.add(member.key)
  if (refused.why === 'not-a-batch') {
    const heads = intent.members.map(member => member.head).join(' ')
    facts.notABatch.set(heads, { times: (facts.notABatch.get(heads)?.times ?? 0) + 1, pull: refused.pull })
  }
}

/** Lands a batch, or says why not. `step` is called before and after the intent, the push and the states. */
export function land(world: World, name: string, batch: Batch, dice: Dice, step: Step): Result {
  // An intent that is still there comes first (LND-8).
  repair(world, dice)
  const { base, generation, tip, members } = batch
  const intent: Intent = { branch: name, generation, base, tip, members }
  const refuse = (refused: NotLanded): Result => {
    note(world, intent, refused)
    return { of: 'land', id: batch.id, ok: false, ...refused }
  }
  const early = refusal(world, intent)
  if (early !== undefined) return refuse(early)
  world.intent = intent
  step(world)
  // What slips in here is found by the push, which is not forced, or by the gateway's own reads (GWY-4).
  const late = refusal(world, intent) ?? gateway(world, intent, dice)
  if (late !== undefined) {
    world.intent = undefined
    return refuse(late)
  }
  judgePush(world, name, batch, kept(world, name).groups.get(batch.id))
  push(world, intent)
  if (!world.still && dice.chance(world.climate.trouble)) return refuse({ why: 'trouble', said: 'the answer was lost' })
  step(world)
  writeStates(world, intent)
  step(world)
  return { of: 'land', id: batch.id, ok: true }
}

function push(world: World, intent: Intent): void {
  branchOf(world, intent.branch).tip = world.commits.get(intent.tip)
  count(world.facts, 'batches landed')
  count(world.facts, 'pulls landed', intent.members.length)
  for (const member of intent.members) world.facts.landed.add(member.key)
  world.trace?.push(`    ${intent.branch} moves to ${intent.tip}`)
}

function writeStates(world: World, intent: Intent): void {
  for (const member of intent.members) {
    const pull = world.byUri.get(member.pull)
    if (pull !== undefined) write(world, pull, { by: lander, what: 'merged', branch: intent.branch, commit: member.commit })
  }
  world.intent = undefined
}

/** LND-8: what an intent that was found leads to; undefined when there is none. */
export function repair(world: World, dice: Dice): Result | undefined {
  const { intent } = world
  if (intent === undefined) return undefined
  const told = (): Result => {
    writeStates(world, intent)
    // Every line of this pass is told, and the next pass knows what this one wrote.
    world.floor = world.seq
    return { of: 'repair', landed: intent.members.map(member => member.key) }
  }
  const branch = branchOf(world, intent.branch)
  if (branch.generation === intent.generation && isOn(branch, intent.tip)) {
    count(world.facts, 'repairs: states written')
    return told()
  }
  const unpushed = !intent.members.some(member => world.facts.landed.has(member.key))
  if (unpushed && dice.chance(0.5) && refusal(world, intent) === undefined && gateway(world, intent, dice) === undefined) {
    count(world.facts, 'repairs: pushed again')
    push(world, intent)
    return told()
  }
  count(world.facts, 'repairs: given up')
  // Somebody took the branch back to where it was before the states were written: what was pushed is gone again.
  for (const member of intent.members) world.facts.landed.delete(member.key)
  world.intent = undefined
  return { of: 'repair', landed: [] }
}
