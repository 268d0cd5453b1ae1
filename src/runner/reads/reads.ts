import { type AtUri, type Did, parseAtUri } from '../../atproto/ids.ts'
import { gather } from '../../indexer/sources/gather.ts'
import type { PullView, RepositoryView } from '../../queue/view.ts'
import type { Head } from '../planner/types.ts'
import type { Ground, Reads, Source } from '../types.ts'
import { createFlights } from './flights.ts'
import { type GroundMemory, gatherGround, type Kept } from './ground.ts'
import type { Look } from './looks.ts'
import { didsOf, membersOf } from './members.ts'
import { readReruns } from './reruns.ts'
import { headAt } from './sources.ts'
import { createStores, type ReadsContext, type Stores } from './stores.ts'

/** The reads of a runner, and what its doors and its driver take of them beside. */
export interface RunnerReads extends Reads {
  /** How far the clock of this account's server is ahead of ours, in milliseconds, as its last answer said; 0 where that is not known (REC-8). Each pass looks at this account. */
  clockSkew(): Promise<number>
  /** Whose accounts matter for a repository: members, authors of queued pulls, holders of their heads. For `Doors.watch`. */
  accountsOf(ground: Ground): Did[]
  /** What is remembered of accounts, for the doors: what they notice is not read twice. */
  readonly stores: Stores
  /** How an account was when it was read for the last pass over a repository, by the address that was asked for. */
  lookedAt(repo: AtUri, did: Did): Look | undefined
  /** The repository that was asked for, by any of its addresses (HON-4). */
  askedAs(address: string): AtUri | undefined
}

const AT_ONCE = 16

export function createReads(ctx: ReadsContext): RunnerReads {
  const stores = createStores(ctx)
  const memory: GroundMemory = {
    facts: new Map(),
    spent: new Set(),
    refs: new Map(),
    asked: new Map(),
    looked: new Map(),
    isIndexAway: false,
  }
  const flights = createFlights(ctx, stores)
  /** By view: a ground that was made of another one keeps it. */
  const kept = new WeakMap<RepositoryView, Kept>()

  async function ground(repo: AtUri, again?: readonly string[]): Promise<Ground> {
    const gathered = await gatherGround(ctx, stores, memory, { repo, again })
    kept.set(gathered.ground.view, gathered.kept)
    return gathered.ground
  }

  function keptOf({ repo, view }: Ground): Kept {
    const known = kept.get(view)
    return known ?? { addresses: new Set([repo, view.uri]), members: membersOf(view.roles, ctx.did), unconfirmed: new Map() }
  }

  async function heads(of: Ground, pulls: readonly PullView[]): Promise<ReadonlyMap<string, Head>> {
    const { addresses, unconfirmed } = keptOf(of)
    const own: Source = { state: 'read', stored: of.stored, refs: of.refs }
    const found = await gather(pulls, AT_ONCE, async ({ pull }): Promise<[string, Head]> => {
      const { repo, branch } = pull.value.head
      const server = unconfirmed.get(pull.uri)
      if (server !== undefined) return [pull.uri, { state: 'unreadable', server }]
      if (addresses.has(repo)) return [pull.uri, headAt(own, repo, branch)]
      const source = of.sources.get(repo) ?? (await stores.sources.read(repo, { looks: stores.looks, maxAgeMs: stores.lately() }))
      return [pull.uri, headAt(source, repo, branch)]
    })
    return new Map(found)
  }

  return {
    ground: repo => ground(repo),
    heads,
    flights: (of, asked) => flights.read(keptOf(of), of, asked),
    async again(of, pulls) {
      const now = await ground(of.repo, pulls)
      const views = pulls.flatMap(pull => now.view.pulls.get(pull) ?? [])
      return { ground: now, heads: await heads(now, views) }
    },
    reruns: of => readReruns(ctx, stores, keptOf(of), of),
    clockSkew: async () => (await ctx.reader.clockSkew(ctx.did).catch(() => undefined)) ?? 0,
    accountsOf(of) {
      const queued = [...of.view.pulls.values()].filter(pull => pull.entry !== undefined || pull.heldEntry !== undefined)
      const holders = queued.flatMap(({ pull }) => parseAtUri(pull.value.head.repo)?.did ?? [])
      return didsOf([...keptOf(of).members, ...queued.map(({ pull }) => pull.did), ...holders])
    },
    stores,
    lookedAt: (repo, did) => memory.looked.get(memory.asked.get(repo) ?? repo)?.get(did),
    askedAs: address => memory.asked.get(address),
  }
}
