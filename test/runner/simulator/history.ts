/** Histories: what happens in a world, one thing after the other, from a seed; and what must hold once the world stands still. */
import type { Plan } from '../../../src/runner/planner/types.ts'
import { Dice } from './dice.ts'
import { Broken, count } from './facts.ts'
import { type Faults, pass, restart, smooth } from './pass.ts'
import { enqueue, headTrouble, moveBranch, pushHead, putBack, rights, takeOut } from './people.ts'
import { newFlight, runOn } from './runs.ts'
import { type Commit, clash } from './trees.ts'
import { branches, branchOf, climateOf, kept, newWorld, type Planner, truth, type World } from './world.ts'

/** One thing that happens. What exactly is decided by its roll and by how the world is then, so that a history may lose any of its events. */
export interface Event {
  what: What
  roll: number
}

const odds = {
  pass: 300,
  run: 230,
  enqueue: 130,
  'take out': 35,
  'put back': 15,
  'push head': 30,
  'head trouble': 20,
  'move branch': 22,
  rights: 6,
  'index catches up': 20,
  'time passes': 40,
  'stand by': 8,
  'stand by no more': 14,
  'stop or start': 10,
  'foreign flight': 14,
} as const

type What = keyof typeof odds

const wheel: readonly What[] = Object.entries(odds).flatMap(([what, n]) => Array.from({ length: n / 2 }, () => asWhat(what)))

function asWhat(what: string): What {
  for (const known of Object.keys(odds)) if (isWhat(known) && known === what) return known
  throw new Error(what)
}

function isWhat(what: string): what is What {
  return what in odds
}

/** The events of a seed. */
export function eventsOf(seed: number, events: number): readonly Event[] {
  const dice = new Dice(seed)
  return Array.from({ length: events }, () => ({ what: dice.pick(wheel) ?? 'pass', roll: dice.roll() }))
}

export interface Outcome {
  broken: { property: string; said: string; at: number } | undefined
  counts: ReadonlyMap<string, number>
  trace: readonly string[]
}

/** Runs a history of a seed. `at` of what is broken is the number of events that had happened. */
export function run(plan: Planner, seed: number, events: readonly Event[], trace = false): Outcome {
  const world = newWorld(plan, climateOf(seed), trace)
  world.trace?.push(`seed ${seed}: ${JSON.stringify(world.climate)}`)
  let at = 0
  try {
    for (const event of events) {
      at++
      happen(world, event)
    }
    comeToRest(world, new Dice(seed ^ 0x7f4a7c15))
  } catch (err) {
    if (!(err instanceof Broken) && !(err instanceof Error)) throw err
    const property = err instanceof Broken ? err.property : 'plan throws'
    const said = err instanceof Broken ? err.message : (err.stack ?? err.message)
    return { broken: { property, said, at }, counts: world.facts.counts, trace: world.trace ?? [] }
  }
  return { broken: undefined, counts: world.facts.counts, trace: world.trace ?? [] }
}

function happen(world: World, event: Event): void {
  const dice = new Dice(event.roll)
  world.now += 1_000 + dice.below(60_000)
  world.trace?.push(`${event.what}`)
  const said = act(world, event.what, dice)
  if (said !== undefined) world.trace?.push(`    ${said}`)
}

function act(world: World, what: What, dice: Dice): string | undefined {
  switch (what) {
    case 'pass':
      passes(world, dice)
      return undefined
    case 'run':
      for (let n = 1 + dice.below(3); n > 0 && runOn(world, dice); n--) if (dice.chance(0.5)) world.now += dice.below(120_000)
      if (dice.chance(0.3)) passes(world, dice)
      return undefined
    case 'enqueue': {
      const said = enqueue(world, dice)
      return dice.chance(0.5) ? `${said}; ${enqueue(world, dice)}` : said
    }
    case 'take out':
      return takeOut(world, dice)
    case 'put back':
      return putBack(world, dice)
    case 'push head':
      return pushHead(world, dice)
    case 'head trouble':
      return headTrouble(world, dice)
    case 'move branch':
      return moveBranch(world, dice)
    case 'rights':
      return rights(world, dice)
    case 'index catches up': {
      for (const person of world.people.values()) if (dice.chance(0.6)) person.indexed = world.seq
      return undefined
    }
    case 'time passes':
      world.now += dice.below(dice.chance(0.3) ? 7_200_000 : 600_000)
      return undefined
    case 'stand by':
      world.standBy = dice.pick([
        { why: 'not-lander' as const, first: 'did:plc:other' },
        { why: 'lease' as const, until: world.now + 60_000 },
        { why: 'clock' as const, skewMs: (dice.chance(0.5) ? 1 : -1) * (dice.chance(0.5) ? 90_000 : 3_700_000) },
        { why: 'not-delegated' as const, owner: 'did:plc:owner' },
        { why: 'git-version' as const, mine: '2.45', theirs: '2.39' },
      ])
      return `the lander stands by: ${world.standBy?.why}`
    case 'stand by no more':
      world.standBy = undefined
      return undefined
    case 'stop or start':
      return stopOrStart(world, dice)
    case 'foreign flight':
      return foreignFlight(world, dice)
  }
}

function passes(world: World, dice: Dice): void {
  for (const name of branches) {
    if (kept(world, name).line.batches.length === 0 && name !== 'main' && !world.pulls.some(pull => truth(world, pull).branch === name))
      continue
    world.trace?.push(`  a pass over ${name}`)
    pass(world, name, dice, faultsOf(dice))
  }
}

const meddling = [takeOut, pushHead, moveBranch, enqueue, headTrouble, rights]

function faultsOf(dice: Dice): Faults {
  if (!dice.chance(0.18)) return smooth
  const act = dice.pick(meddling) ?? takeOut
  const breaks = dice.chance(0.4)
  return {
    breaksAt: breaks ? 1 + dice.below(9) : 0,
    how: dice.pick(['killed', 'given-up', 'given-up-whole'] as const) ?? 'killed',
    meanwhile:
      breaks && dice.chance(0.5)
        ? undefined
        : {
            at: 1 + dice.below(9),
            act: world => {
              const said = act(world, dice)
              world.trace?.push(`    meanwhile: ${said}`)
            },
          },
  }
}

function stopOrStart(world: World, dice: Dice): string {
  if (!world.stopping && dice.chance(0.6)) {
    world.stopping = true
    count(world.facts, 'stops')
    return 'the lander is asked to stop'
  }
  restart(world)
  count(world.facts, 'restarts')
  if (dice.chance(0.5)) world.settings = { ...world.settings, batch: 1 + dice.below(8), depth: dice.chance(0.7) ? 2 : 1 }
  return `the lander starts again: ${JSON.stringify(world.settings)}`
}

/** Another named runner takes a pre-flight of a pull up (PRE-2). */
function foreignFlight(world: World, dice: Dice): string | undefined {
  const workflow = dice.pick(world.climate.preflights)
  const pull = dice.pick(world.pulls)
  if (workflow === undefined || pull === undefined || !truth(world, pull).open) return undefined
  const tip: Commit | undefined = branchOf(world, truth(world, pull).branch).tip
  if (tip === undefined || clash(world.trees, tip.tree, pull.head)) return undefined
  newFlight(world, pull, { head: pull.head.id, tip: tip.id, tree: tip.tree | pull.head.tree, workflow, own: false })
  return `another runner takes up ${workflow} of ${pull.title}`
}

function queued(world: World, name: string): number {
  let n = 0
  for (const pull of world.pulls) {
    const stands = truth(world, pull)
    if (stands.open && stands.entry !== undefined && stands.branch === name) n++
  }
  return n
}

/** Property 4: the world stands still, everything answers; then everybody queued is landed, ejected or out after so many passes. */
function comeToRest(world: World, dice: Dice): void {
  world.still = true
  world.standBy = undefined
  world.trace?.push('the world stands still')
  if (world.stopping) restart(world)
  for (const person of world.people.values()) person.indexed = world.seq
  for (const pull of world.pulls) if (pull.where === 'unreadable') pull.where = 'at'
  for (const branch of world.branches.values()) {
    if (branch.tip !== undefined) continue
    branch.tip = world.commits.get('root')
    branch.generation++
  }
  for (const name of branches) rest(world, name, dice)
}

function rest(world: World, name: string, dice: Dice): void {
  const before = queued(world, name)
  const bound = 20 + 16 * before
  let plan: Plan | undefined
  for (let n = 0; n < bound; n++) {
    world.trace?.push(`  a pass over ${name}`)
    world.rang = false
    plan = pass(world, name, dice, smooth)
    if (queued(world, name) === 0) {
      const most = world.facts.counts.get('most passes to rest, a pull') ?? 0
      if (before > 0) world.facts.counts.set('most passes to rest, a pull', Math.max(most, n / before))
      return
    }
    // Nothing rings but ends of runs and what the planner wants to be woken for.
    if (world.groups.length + world.flights.length > 0) while (runOn(world, dice));
    else if (world.rang) continue
    else if (plan?.wakeAt !== undefined) world.now = Math.max(world.now + 1, plan.wakeAt)
    else throw new Broken('4 bounded', `${queued(world, name)} wait in ${name}, nothing runs, and the planner asks to be woken for nothing`)
  }
  throw new Broken('4 bounded', `${queued(world, name)} of ${before} still wait in ${name} after ${bound} passes`)
}
