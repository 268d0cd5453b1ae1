/** A branch as the planner sees it, from what was read for a pass. */

import { tidMillis } from '../../queue/tid.ts'
import type { BranchView, PullView } from '../../queue/view.ts'
import type { Flight, Head, Held, RunNow, Snapshot, StandBy, Waiting } from '../planner/types.ts'
import type { Ground } from '../types.ts'
import { tipOf } from './branch-tip.ts'
import { mergedWith } from './merged.ts'
import type { Memory, Parts } from './parts.ts'

/** Queued pulls of a branch whose pre-flights are looked at in one pass, those at the front first. */
const MOST_FLIGHTS = 200

export interface Seeing {
  ground: Ground
  branch: BranchView
  stopping: boolean
  standBy: StandBy | undefined
  memory: Memory
  /** Runs by the batch's id, as they are now. */
  runs: ReadonlyMap<number, readonly RunNow[]>
}

/** Reads what the planner has to know of a branch: heads, pre-flights and their runs, whether heads apply (PRE-1 to PRE-9, BLD-4). */
export async function lookAt(parts: Parts, seeing: Seeing): Promise<Snapshot> {
  const { ground, branch, stopping, standBy, runs } = seeing
  const { view } = ground
  const { batch, depth, waitMs } = parts.ctx.settings
  const tip = tipOf(ground, branch.branch)
  const heads = await parts.reads.heads(ground, branch.queue)
  const preflights = tip === null ? [] : await preflightsAt(parts, ground, branch.branch, tip.commit)
  const flying = await flightsOf(parts, seeing, { tip: tip?.commit, preflights, heads })
  return {
    now: parts.ctx.now(),
    settings: { batch, depth, waitMs },
    stopping,
    standBy,
    owner: view.roles.owner,
    branch: branch.branch,
    pinned: branch.pinned,
    tip,
    queue: branch.queue.flatMap(pull => waiting(pull, { heads, flying, preflights, mayQueue: view.roles.mayMerge }) ?? []),
    drafts: [...view.pulls.values()].filter(pull => pull.branch === branch.branch).flatMap(held),
    preflights,
    runs,
  }
}

/** The names of the pre-flights at the tip, those that may be left out by their paths as well (PRE-1). */
async function preflightsAt({ builder, ctx }: Parts, ground: Ground, branch: string, tip: string): Promise<readonly string[] | 'unknown'> {
  const chosen = await builder.workflows(ground, { trigger: 'pull', branch, base: tip, tip })
  if ('code' in chosen) {
    ctx.log.warn('the workflows at the tip cannot be read', { repo: ground.repo, branch, tip, why: chosen.message })
    return 'unknown'
  }
  return [...chosen.selected, ...chosen.skipped].filter(workflow => workflow.first).map(workflow => workflow.name)
}

interface Flying {
  flights: ReadonlyMap<string, readonly Flight[]>
  applies: ReadonlyMap<string, boolean>
}

async function flightsOf(
  parts: Parts,
  { ground, branch, memory }: Seeing,
  asked: { tip: string | undefined; preflights: readonly string[] | 'unknown'; heads: ReadonlyMap<string, Head> },
): Promise<Flying> {
  const { tip, preflights, heads } = asked
  if (tip === undefined || preflights === 'unknown' || preflights.length === 0) return { flights: new Map(), applies: new Map() }
  const pulls = branch.queue.slice(0, MOST_FLIGHTS).flatMap(pull => {
    const head = heads.get(pull.pull.uri)
    return head?.state === 'at' ? [{ pull: pull.pull.uri, head: head.commit, tip }] : []
  })
  const flights = await parts.reads.flights(ground, { tip, workflows: preflights, pulls, own: parts.runs })
  const open = pulls.filter(({ pull }) => flights.get(pull)?.some(flight => needsRun(flight, tip)) !== false)
  const merged = await mergedWith(parts, memory, ground, open)
  return { flights, applies: new Map([...merged].map(([pull, { applies }]) => [pull, applies])) }
}

/** Whether it may have to be run here, for which the head has to be merged with the tip. */
function needsRun(flight: Flight, tip: string): boolean {
  switch (flight.state) {
    case 'passed':
    case 'not-needed':
    case 'running':
    case 'queued':
      return false
    case 'failed':
      return flight.tip !== tip
    default:
      return true
  }
}

function waiting(
  pull: PullView,
  known: {
    heads: ReadonlyMap<string, Head>
    flying: Flying
    preflights: readonly string[] | 'unknown'
    mayQueue: (did: string) => boolean
  },
): Waiting | undefined {
  const { entry } = pull
  const { uri, did, value } = pull.pull
  const head = known.heads.get(uri)
  if (entry === undefined || head === undefined) return undefined
  const nothingToFly = known.preflights !== 'unknown' && known.preflights.length === 0
  return {
    pull: uri,
    entry: entry.record.uri,
    key: entry.key,
    by: entry.by,
    queuedAt: tidMillis(entry.key),
    title: value.title,
    author: did,
    headBranch: value.head.branch,
    headRepo: value.head.repo,
    head,
    sawHead: entry.record.value.head,
    sawBranch: entry.record.value.branch,
    authorMayQueue: known.mayQueue(did),
    applies: known.flying.applies.get(uri),
    flights: known.flying.flights.get(uri) ?? (nothingToFly ? [] : 'unread'),
  }
}

function held(pull: PullView): Held[] {
  const { heldEntry } = pull
  if (heldEntry === undefined || pull.state !== 'open') return []
  return [{ pull: pull.pull.uri, entry: heldEntry.record.uri, key: heldEntry.key, head: pull.head, author: pull.pull.did }]
}
