/** What a pass reads: the index under fresh reads (NOT-1), heads and the branch at their sources (NOT-6, BLD-4). */
import type { Flight, Head, Held, RunNow, Snapshot, Waiting } from '../../../src/runner/planner/types.ts'
import type { Dice } from './dice.ts'
import { fold, type Pull, type Rec } from './records.ts'
import { type Commit, clash } from './trees.ts'
import { branchOf, kept, lander, may, owner, truth, type World } from './world.ts'

/** How far each account was read in a pass; undefined where every read succeeded. */
export type Reading = ((rec: Rec) => boolean) | undefined

/**
 * Makes the reads of a pass: each account's may fail, and then the index stands, which lags. The
 * owner must answer; of its own records the lander never reads less than it read before (`floor`), nor less than what it wrote
 * about another branch or more than ten minutes ago.
 */
export function read(world: World, name: string, dice: Dice): Reading {
  if (world.still || world.climate.lag === 0 || !dice.chance(0.5)) {
    world.floor = world.seq
    return undefined
  }
  const upTo = new Map<string, number>()
  for (const person of world.people.values()) {
    if (person.did === owner || !dice.chance(world.climate.lag * 2)) continue
    upTo.set(person.did, person.did === lander ? Math.max(person.indexed, world.floor) : person.indexed)
  }
  if (!upTo.has(lander)) world.floor = world.seq
  if (upTo.size === 0) return undefined
  const caughtUp = world.now - 600_000
  return rec =>
    rec.seq <= (upTo.get(rec.by) ?? Number.POSITIVE_INFINITY) || (rec.by === lander && (rec.branch !== name || rec.at < caughtUp))
}

function headOf(pull: Pull): Head {
  switch (pull.where) {
    case 'at':
      return { state: 'at', commit: pull.head.id }
    case 'unreadable':
      return { state: 'unreadable', server: 'fork.example' }
    default:
      return { state: pull.where }
  }
}

const noFlights: readonly Flight[] = []

/** PRE-2: the newest run that counts for each pre-flight. */
function flightsOf(world: World, pull: Pull): readonly Flight[] {
  const names = world.climate.preflights
  if (names.length === 0 || pull.where !== 'at') return noFlights
  return names.map(workflow => {
    for (let i = pull.flights.length - 1; i >= 0; i--) {
      const run = pull.flights[i]
      if (run === undefined || run.workflow !== workflow || run.head !== pull.head.id) continue
      if (run.state === 'none' || (run.state === 'queued' && !run.own)) continue
      return { workflow, state: run.state, tip: run.tip, check: run.check, status: run.status, endedAt: run.endedAt }
    }
    return { workflow, state: 'none' as const }
  })
}

function appliesOf(world: World, pull: Pull, tip: Commit, dice: Dice): boolean | undefined {
  if (pull.where !== 'at') return undefined
  if (pull.knownClash === `${pull.head.id} ${tip.id}`) return false
  if (!world.still && dice.chance(0.3)) return undefined
  return !clash(world.trees, tip.tree, pull.head)
}

/** A branch as this pass sees it. `reading` is the pass's; `dice` decides what cannot be read just now. */
export function snapshot(world: World, name: string, reading: Reading, dice: Dice): Snapshot {
  const branch = branchOf(world, name)
  const tip = branch.tip
  const queue: Waiting[] = []
  const drafts: Held[] = []
  for (const pull of world.pulls) {
    const stands = reading === undefined ? truth(world, pull) : fold(pull, reading, did => may(world, did))
    const entry = stands.entry
    if (!stands.open || entry === undefined || stands.branch !== name) continue
    if (stands.draft) {
      drafts.push({ pull: pull.uri, entry: `q/${entry.key}`, key: entry.key, head: pull.head.id, author: pull.author })
      continue
    }
    if (pull.where === 'at') pull.readAt = world.now
    queue.push({
      pull: pull.uri,
      entry: `q/${entry.key}`,
      key: entry.key,
      by: entry.by,
      queuedAt: entry.at,
      title: pull.title,
      author: pull.author,
      headBranch: pull.headBranch,
      headRepo: pull.headRepo,
      head: headOf(pull),
      sawHead: entry.sawHead,
      sawBranch: entry.sawBranch,
      authorMayQueue: may(world, pull.author),
      applies: tip === undefined ? undefined : appliesOf(world, pull, tip, dice),
      flights: !world.still && world.climate.trouble > 0 && dice.chance(0.04) ? 'unread' : flightsOf(world, pull),
    })
  }
  queue.sort((a, b) => (a.key < b.key ? -1 : 1))
  const runs = new Map<number, readonly RunNow[]>()
  for (const group of kept(world, name).groups.values()) runs.set(group.id, group.runs)
  return {
    // A clock that is off is off for the planner too.
    now: world.standBy?.why === 'clock' ? world.now + world.standBy.skewMs : world.now,
    settings: world.settings,
    stopping: world.stopping,
    standBy: world.standBy,
    owner,
    branch: name,
    pinned: world.climate.pinned,
    tip: tip === undefined ? null : { commit: tip.id, generation: branch.generation },
    queue,
    drafts,
    preflights: !world.still && world.climate.trouble > 0 && dice.chance(0.02) ? 'unknown' : world.climate.preflights,
    runs,
  }
}
