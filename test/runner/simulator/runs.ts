/** Runs of batches and pre-flights: how they are filed, begin and end. */
import type { Action, Batch, Result, RunNow } from '../../../src/runner/planner/types.ts'
import type { Dice } from './dice.ts'
import { count } from './facts.ts'
import type { Pull } from './records.ts'
import { broughtBy, clash, ending, hasNoPreflight } from './trees.ts'
import { branchOf, type FlightRun, type Group, kept, type World, workflowsAt } from './world.ts'

/** Files every check of a batch, and lets its runs begin (REC-5). */
export function file(world: World, branch: string, batch: Batch, ahead: boolean, dice: Dice): Result {
  const tree = world.commits.get(batch.tip)?.tree ?? 0n
  const base = world.commits.get(batch.base)?.tree ?? 0n
  const bad = broughtBy(world.trees, tree & ~base).find(one => !one.fileable)
  if (bad !== undefined) {
    const culprit = batch.members.find(member => ((world.heads.get(member.head)?.tree ?? 0n) & bad.bit) !== 0n)
    if (culprit !== undefined) world.facts.blamed.add(culprit.pull)
    return {
      of: 'file',
      id: batch.id,
      ok: false,
      ...(culprit === undefined ? {} : { blame: { workflow: bad.workflow, pull: culprit.pull } }),
    }
  }
  if (!world.still && dice.chance(world.climate.trouble)) return { of: 'file', id: batch.id, ok: false }
  const group: Group = {
    id: batch.id,
    branch,
    base: batch.base,
    generation: batch.generation,
    tip: batch.tip,
    tree,
    members: batch.members,
    begun: true,
    ahead,
    dropped: false,
    runs: workflowsAt(world, tree).map(workflow => filed(world, workflow, batch, tree, dice)),
  }
  kept(world, branch).groups.set(batch.id, group)
  world.groups.push(group)
  return { of: 'file', id: batch.id, ok: true }
}

function filed(world: World, workflow: string, batch: Batch, tree: bigint, dice: Dice): RunNow {
  const base = { workflow, file: `${workflow}.yml`, check: `check/${workflow}/${batch.tip}` }
  if (dice.chance(0.05)) return { ...base, state: 'skipped' }
  if (dice.chance(0.3) && world.facts.passed.has(`${workflow} ${tree.toString(36)}`)) return { ...base, state: 'reused' }
  return { ...base, state: 'filed' }
}

/** Runs the pre-flights that are asked for (PRE-7); one that clashes is not run (PRE-9). */
export function fly(world: World, order: Action & { do: 'fly' }, dice: Dice): Result {
  const answer = (ok: boolean): Result => {
    const what = `${order.pull} ${order.head}`
    if (!ok) world.facts.unflown.set(what, (world.facts.unflown.get(what) ?? 0) + 1)
    return { of: 'fly', pull: order.pull, head: order.head, tip: order.tip, ok }
  }
  const pull = world.byUri.get(order.pull)
  const head = world.heads.get(order.head)
  const tip = world.commits.get(order.tip)
  if (pull === undefined || head === undefined || tip === undefined) return answer(false)
  if (!world.still && dice.chance(world.climate.trouble)) return answer(false)
  if (clash(world.trees, tip.tree, head)) {
    pull.knownClash = `${head.id} ${tip.id}`
    world.rang = true
    return answer(true)
  }
  count(world.facts, 'pre-flights')
  // A pull may have taken the workflow away: then there is nothing to show (PRE-8), and no run whose end would ring.
  if (hasNoPreflight(head)) {
    world.rang = true
    return answer(true)
  }
  for (const workflow of order.workflows)
    newFlight(world, pull, { head: head.id, tip: tip.id, tree: tip.tree | head.tree, workflow, own: true })
  return answer(true)
}

/** Files a run of a pre-flight, queued. */
export function newFlight(world: World, pull: Pull, run: Pick<FlightRun, 'head' | 'tip' | 'tree' | 'workflow' | 'own'>): void {
  const check = `check/${run.workflow}/${pull.flights.length}/${run.head}`
  const flight: FlightRun = { ...run, pull, state: 'queued', status: undefined, check, endedAt: undefined }
  pull.flights.push(flight)
  world.flights.push(flight)
}

/** Something happens to a run that has not ended: mostly it ends. False when there is none. */
export function runOn(world: World, dice: Dice): boolean {
  const total = world.groups.length + world.flights.length
  if (total === 0) return false
  const n = dice.below(total)
  const group = world.groups[n]
  if (group !== undefined) return batchRunOn(world, group, dice)
  const flight = world.flights[n - world.groups.length]
  if (flight !== undefined) flightOn(world, flight, dice)
  return true
}

function batchRunOn(world: World, group: Group, dice: Dice): boolean {
  const open = group.runs.filter(run => run.state === 'filed' || run.state === 'running')
  const run = world.stopping ? open.find(one => one.state === 'running') : dice.pick(open)
  if (group.dropped || run === undefined) {
    if (group.dropped || open.length === 0) world.groups.splice(world.groups.indexOf(group), 1)
    return !world.stopping
  }
  const next =
    run.state === 'filed' && dice.chance(0.3) ? { ...run, state: 'running' as const, startedAt: world.now } : end(world, group, run, dice)
  group.runs = group.runs.map(one => (one === run ? next : one))
  noteEnd(world, group, next)
  world.trace?.push(
    `    run ${run.workflow} of batch ${group.id} on ${group.branch}: ${next.state}${next.verdict === undefined ? '' : ` ${next.verdict}`}`,
  )
  return true
}

function noteEnd({ facts }: World, group: Group, run: RunNow): void {
  if (run.state === 'failed' || run.state === 'no-verdict') facts.redChecks.add(run.check)
  if (run.verdict !== 'timeout') return
  for (const { key } of group.members) {
    const before = facts.timeouts.get(key)
    if (before === undefined) facts.timeouts.set(key, new Set([group.tip]))
    else before.add(group.tip)
  }
}

function noise(world: World, dice: Dice): RunNow['verdict'] | 'cancelled' | undefined {
  if (world.still || !dice.chance(world.climate.noise)) return undefined
  return dice.pick(['timeout', 'executor-lost', 'disk', 'restart', 'other', 'cancelled'] as const)
}

function end(world: World, group: Group, run: RunNow, dice: Dice): RunNow {
  const ended = { ...run, startedAt: run.startedAt ?? world.now, endedAt: world.now }
  const odd = noise(world, dice)
  if (odd === 'cancelled') return { ...ended, state: 'cancelled', status: 'cancelled' }
  if (odd === 'timeout') world.facts.timedOut.add(group.tree)
  if (odd !== undefined) return { ...ended, state: 'no-verdict', status: 'error', verdict: odd }
  switch (ending(world.trees, group.tree, run.workflow, dice)) {
    case 'passed':
      world.facts.passed.add(`${run.workflow} ${group.tree.toString(36)}`)
      return { ...ended, state: 'passed' }
    case 'failed':
      world.facts.red.add(group.tree)
      return { ...ended, state: 'failed', status: dice.chance(0.1) ? 'error' : 'failure' }
    case 'timeout':
      world.facts.timedOut.add(group.tree)
      return { ...ended, state: 'no-verdict', status: 'error', verdict: 'timeout' }
    case 'lost':
      return { ...ended, state: 'no-verdict', status: 'error', verdict: 'executor-lost' }
  }
}

function flightOn(world: World, flight: FlightRun, dice: Dice): void {
  if (flight.state === 'queued' && dice.chance(0.3)) {
    flight.state = 'running'
    return
  }
  world.flights.splice(world.flights.indexOf(flight), 1)
  flight.endedAt = world.now
  const odd = noise(world, dice)
  const ends = ending(world.trees, flight.tree, flight.workflow, dice)
  if (odd === 'cancelled') settle(flight, 'cancelled', 'cancelled')
  else if (odd === 'timeout' || (odd === undefined && ends === 'timeout')) settle(flight, 'timeout', 'error')
  else if (odd !== undefined || ends === 'lost') settle(flight, 'trouble', 'error')
  else if (ends === 'failed') settle(flight, 'failed', 'failure')
  else settle(flight, 'passed', undefined)
  if (flight.state !== 'passed') world.facts.redChecks.add(flight.check)
  world.trace?.push(`    pre-flight ${flight.workflow} of ${flight.pull.title} at ${flight.head} on ${flight.tip}: ${flight.state}`)
}

function settle(flight: FlightRun, state: FlightRun['state'], status: FlightRun['status']): void {
  flight.state = state
  flight.status = status
}

/** Cancels the runs of a batch (MOV-4). */
export function drop(world: World, branch: string, id: number): void {
  const group = kept(world, branch).groups.get(id)
  if (group === undefined) return
  group.dropped = true
  group.runs = group.runs.map(run =>
    run.state === 'filed' || run.state === 'running' ? { ...run, state: 'cancelled', status: 'cancelled', endedAt: world.now } : run,
  )
  const at = world.groups.indexOf(group)
  if (at >= 0) world.groups.splice(at, 1)
}

/** MOV-6: what an earlier process left queued or running is an error. */
export function recover(world: World): void {
  world.groups.length = 0
  for (const flight of [...world.flights]) {
    if (!flight.own) continue
    settle(flight, 'trouble', 'error')
    flight.endedAt = world.now
    world.flights.splice(world.flights.indexOf(flight), 1)
  }
}

/** Whether a branch of this name stands. */
export function stands(world: World, name: string): boolean {
  return branchOf(world, name).tip !== undefined
}
