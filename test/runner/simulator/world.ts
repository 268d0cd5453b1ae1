/**
 * A repository, its people and its pulls, without network, git or clock. Whatever happens in it comes from a seed. What is true is kept here; what a
 * reader may see of it is in `snapshot.ts`.
 */
import { emptyLine } from '../../../src/runner/planner/plan.ts'
import type { Flight, Line, Member, Plan, Result, RunNow, Settings, Snapshot, StandBy } from '../../../src/runner/planner/types.ts'
import { Dice } from './dice.ts'
import { emptyFacts, type Facts } from './facts.ts'
import { fold, type Person, type Pull, type Rec, type Stands } from './records.ts'
import { broughtBy, type Commit, emptyTrees, type HeadCommit, type Temper, type Trees } from './trees.ts'

export type Planner = (line: Line, seen: Snapshot, results: readonly Result[]) => Plan

export const owner = 'did:plc:owner'
export const lander = 'did:plc:lander'
const collaborators = ['did:plc:carol', 'did:plc:dave']
export const authors = [owner, 'did:plc:carol', 'did:plc:dave', 'did:plc:stranger', 'did:plc:fork']
export const branches = ['main', 'next'] as const

export interface Branch {
  name: string
  /** Undefined while it is deleted. */
  tip: Commit | undefined
  generation: number
}

/** Runs of one batch. */
export interface Group {
  id: number
  branch: string
  base: string
  generation: number
  tip: string
  tree: bigint
  members: readonly Member[]
  runs: readonly RunNow[]
  begun: boolean
  /** In the class of a batch ahead (AHD-5). */
  ahead: boolean
  dropped: boolean
}

/** A run of a pre-flight. */
export interface FlightRun {
  pull: Pull
  head: string
  tip: string
  tree: bigint
  workflow: string
  own: boolean
  state: Flight['state']
  status: Flight['status']
  check: string
  endedAt: number | undefined
}

/** What the lander keeps of a branch between passes. */
export interface Kept {
  line: Line
  groups: Map<number, Group>
}

/** LND-8. */
export interface Intent {
  branch: string
  generation: number
  base: string
  tip: string
  members: readonly Member[]
}

/** How a history's world is made. */
export interface Climate {
  settings: Settings
  temper: Temper
  workflows: readonly string[]
  preflights: readonly string[]
  pinned: boolean
  /** How often a read of an account fails, an action does, a run ends without a verdict. */
  lag: number
  trouble: number
  noise: number
}

export interface World {
  plan: Planner
  climate: Climate
  settings: Settings
  now: number
  seq: number
  lastKey: number
  trees: Trees
  commits: Map<string, Commit>
  heads: Map<string, HeadCommit>
  branches: Map<string, Branch>
  people: Map<string, Person>
  pulls: Pull[]
  byUri: Map<string, Pull>
  kept: Map<string, Kept>
  /** Runs that have not ended, of batches and of pre-flights. */
  groups: Group[]
  flights: FlightRun[]
  intent: Intent | undefined
  standBy: StandBy | undefined
  stopping: boolean
  /** The lander's own records are read at least up to here: what it wrote before it lost its memory it reads again. */
  floor: number
  /** The world has stopped moving: everything answers. */
  still: boolean
  /** Whose rights changed since the present pass read. */
  unsettled: Set<string>
  /** Something rings that is no run's end. */
  rang: boolean
  facts: Facts
  trace: string[] | undefined
}

/** A new world with two branches; `plan` is the planner under judgement. */
export function newWorld(plan: Planner, climate: Climate, trace: boolean): World {
  const trees = emptyTrees()
  const root: Commit = { id: 'root', parent: undefined, tree: 0n }
  const people = new Map<string, Person>()
  for (const did of [...authors, lander]) {
    people.set(did, { did, mayQueue: did === owner || collaborators.includes(did), indexed: 0 })
  }
  return {
    plan,
    climate,
    settings: climate.settings,
    now: 1_800_000_000_000,
    seq: 0,
    lastKey: 0,
    trees,
    commits: new Map([[root.id, root]]),
    heads: new Map(),
    branches: new Map(branches.map(name => [name, { name, tip: root, generation: 1 }])),
    people,
    pulls: [],
    byUri: new Map(),
    kept: new Map(branches.map(name => [name, { line: emptyLine(name), groups: new Map() }])),
    groups: [],
    flights: [],
    intent: undefined,
    standBy: undefined,
    stopping: false,
    floor: 0,
    still: false,
    unsettled: new Set(),
    rang: false,
    facts: emptyFacts(),
    trace: trace ? [] : undefined,
  }
}

export function may(world: World, did: string): boolean {
  return world.people.get(did)?.mayQueue ?? false
}

/** How a pull stands for who reads every record now. */
export function truth(world: World, pull: Pull): Stands {
  pull.truth ??= fold(pull, undefined, did => may(world, did))
  return pull.truth
}

/** A key later than every one before it, or one of `ago` milliseconds back. */
export function nextKey(world: World, ago = 0): string {
  const key = ago > 0 ? world.now * 1000 - ago * 1000 + (world.seq % 997) : Math.max(world.lastKey + 1, world.now * 1000)
  if (ago === 0) world.lastKey = key
  return String(key).padStart(17, '0')
}

/** Puts a record about a pull on file. */
export function write(world: World, pull: Pull, rec: Omit<Rec, 'seq' | 'key' | 'at'> & { key?: string | undefined }): Rec {
  const full: Rec = { ...rec, seq: ++world.seq, key: rec.key ?? nextKey(world), at: world.now }
  pull.records.push(full)
  if (pull.records.some(other => other.key > full.key)) pull.records.sort((a, b) => (a.key < b.key ? -1 : 1))
  pull.truth = undefined
  return full
}

export function kept(world: World, branch: string): Kept {
  const found = world.kept.get(branch)
  if (found === undefined) throw new Error(`no branch ${branch}`)
  return found
}

export function branchOf(world: World, name: string): Branch {
  const found = world.branches.get(name)
  if (found === undefined) throw new Error(`no branch ${name}`)
  return found
}

/** Whether a commit is on a branch's first-parent line. */
export function isOn(branch: Branch, id: string): boolean {
  for (let at = branch.tip; at !== undefined; at = at.parent) if (at.id === id) return true
  return false
}

/** A world's settings and people, from a seed. */
export function climateOf(seed: number): Climate {
  const dice = new Dice(seed ^ 0x2545f491)
  const rough = dice.below(4)
  const scale = [0.3, 1, 1, 2.5][rough] ?? 1
  return {
    settings: {
      batch: 1 + dice.below(8),
      depth: dice.chance(0.7) ? 2 : 1,
      waitMs: dice.chance(0.2) ? 60_000 * (1 + dice.below(10)) : 0,
    },
    temper: {
      clash: 0.1 * scale,
      bad: 0.1 * scale,
      pair: 0.1 * scale,
      flaky: 0.05 * scale,
      hangs: 0.04 * scale,
      odd: 0.08 * scale,
    },
    workflows: dice.pick([['test'], ['test', 'lint'], ['test', 'check'], []]) ?? [],
    preflights: dice.chance(0.4) ? ['check'] : [],
    pinned: dice.chance(0.15),
    lag: dice.chance(0.5) ? 0.15 : 0,
    trouble: dice.chance(0.6) ? 0.05 * scale : 0,
    noise: dice.chance(0.6) ? 0.04 * scale : 0,
  }
}

/** What runs on a batch at this tree (CHK-1). */
export function workflowsAt(world: World, tree: bigint): readonly string[] {
  const brought = broughtBy(world.trees, tree)
  return brought.length === 0 ? world.climate.workflows : [...world.climate.workflows, ...brought.map(one => one.workflow)]
}
