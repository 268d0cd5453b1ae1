/** The runs of pre-flights that count for pulls at their heads (PRE-2, PRE-3). */
import { LRUCache } from 'lru-cache'
import type { Did } from '../../atproto/ids.ts'
import { gather } from '../../indexer/sources/gather.ts'
import { millis, order, runState } from '../../queue/runs.ts'
import { tidMillis } from '../../queue/tid.ts'
import { parseCheckKey } from '../../workflows/check-keys.ts'
import type { Flight, RunNow } from '../planner/types.ts'
import type { Ground, Reads, Runs } from '../types.ts'
import type { Kept } from './ground.ts'
import { didsOf } from './members.ts'
import { asUpstream, patienceMs, within } from './patience.ts'
import type { Check } from './pull-checks.ts'
import type { ReadsContext, Stores } from './stores.ts'

type Asked = Parameters<Reads['flights']>[1]

/** Lists read in one call, and at the same time. What is over it is read by the next. */
const MOST_LISTS = 200
const AT_ONCE = 12

/** A run with what decides between several: the newest counts, and of two of one time that of the greater DID (PRE-2). */
interface Counted {
  flight: Flight
  time: number
  did: string
  key: string
}

export interface Flights {
  read(kept: Kept, ground: Ground, asked: Asked): Promise<ReadonlyMap<string, readonly Flight[]>>
}

export function createFlights(ctx: ReadsContext, stores: Stores): Flights {
  /** Tips at which a pull's head was asked for: this runner's runs there are known without reading. */
  const tips = new LRUCache<string, readonly string[]>({ max: 20_000 })

  function tipsOf(pull: string, head: string, tip: string): readonly string[] {
    const key = `${pull} ${head}`
    const known = tips.get(key) ?? []
    const all = known.includes(tip) ? known : [...known.slice(-19), tip]
    tips.set(key, all)
    return all
  }

  return {
    async read({ addresses }, ground, asked) {
      const lists = new Map<string, Map<Did, readonly Check[]>>()
      const unread = await readLists(ctx, stores, ground, asked, lists)
      const found = new Map<string, readonly Flight[]>()
      for (const { pull, head } of asked.pulls) {
        if (unread.has(pull)) continue
        const generation = generationOf(ground, pull)
        const runs: Counted[] = []
        for (const checks of lists.get(pull)?.values() ?? []) {
          for (const check of checks) {
            if (!addresses.has(check.value.repo) || check.value.generation !== generation) continue
            const counted = ofRecord(check)
            if (counted !== undefined) runs.push(counted)
          }
        }
        found.set(
          pull,
          newest(asked.workflows, withOwn(runs, ownRuns(asked.own, ctx.did, { pull, head, tips: tipsOf(pull, head, asked.tip) }))),
        )
      }
      return found
    },
  }
}

/** Each named runner's checks, and this runner's own. Gives the pulls of which there was no time for all. */
async function readLists(
  ctx: ReadsContext,
  stores: Stores,
  ground: Ground,
  asked: Asked,
  lists: Map<string, Map<Did, readonly Check[]>>,
): Promise<Set<string>> {
  const unread = new Set<string>()
  let left = MOST_LISTS
  const revs = new Map<Did, string>()
  await gather(didsOf([...ground.view.roles.runners, ctx.did]), AT_ONCE, async did => {
    const look = await stores.looks.look(did, { maxAgeMs: stores.lately() })
    if (look.state === 'at') revs.set(did, look.rev)
  })
  await gather(
    asked.pulls.flatMap(at => [...revs].map(([did, rev]) => ({ ...at, did, rev }))),
    AT_ONCE,
    async ({ pull, head, did, rev }) => {
      const known = stores.pullChecks.known(did, pull, head)
      // Its own writes change this account all the time, and it knows them without reading.
      const stands = known !== undefined && (known.rev === rev || (did === ctx.did && ctx.now() - known.at < ctx.settings.sweepMs))
      let checks = known?.checks
      if (!stands && left > 0) {
        left -= 1
        try {
          checks = await within(patienceMs, did, () => stores.pullChecks.read(did, rev, pull, head))
        } catch (error) {
          // A read that fails adds nothing.
          asUpstream(error)
          checks ??= []
        }
      }
      if (checks === undefined) return void unread.add(pull)
      const ofPull = lists.get(pull) ?? new Map<Did, readonly Check[]>()
      ofPull.set(did, checks)
      lists.set(pull, ofPull)
    },
  )
  return unread
}

const endings = ['failure', 'error', 'cancelled'] as const

/** Undefined for a run that counts as none: one that is only queued elsewhere, or that an earlier process of this runner left queued. */
function ofRecord({ uri, did, rkey, value }: Check): Counted | undefined {
  const state = stateOfRecord(value)
  if (state === undefined) return undefined
  const { workflow, baseCommit, createdAt, startedAt, finishedAt } = value
  const status = endings.find(ending => ending === value.status)
  const tip = state === 'not-needed' ? undefined : baseCommit
  const flight: Flight = { workflow, state, tip, check: uri, status, endedAt: millis(finishedAt) }
  return { flight, time: millis(startedAt) ?? millis(createdAt) ?? 0, did, key: rkey }
}

function stateOfRecord(value: Check['value']): Flight['state'] | undefined {
  switch (runState(value)) {
    case 'queued':
    case 'unknown':
      return undefined
    case 'running':
      return 'running'
    case 'passed':
    case 'reused':
      return 'passed'
    case 'skipped':
      return 'not-needed'
    case 'failed':
      return 'failed'
    case 'no-verdict':
      return value.verdict === 'timeout' ? 'timeout' : 'trouble'
    case 'cancelled':
      return 'cancelled'
  }
}

function ownRuns(own: Runs, did: Did, at: { pull: string; head: string; tips: readonly string[] }): Counted[] {
  return at.tips.flatMap(tip => {
    const group = own.flightOf(at.pull, at.head, tip)
    return group === undefined ? [] : own.of(group.id).map(run => ofRun(run, tip, did))
  })
}

function ofRun(run: RunNow, tip: string, did: Did): Counted {
  const { workflow, check, status, startedAt, endedAt } = run
  const key = check.split('/').at(-1) ?? ''
  const state = stateOfRun(run)
  const flight: Flight = { workflow, state, tip: state === 'not-needed' ? undefined : tip, check, status, endedAt }
  return { flight, time: startedAt ?? tidMillis(parseCheckKey(key)?.tid ?? ''), did, key }
}

function stateOfRun({ state, verdict }: RunNow): Flight['state'] {
  switch (state) {
    case 'filed':
      return 'queued'
    case 'running':
      return 'running'
    case 'passed':
    case 'reused':
      return 'passed'
    case 'skipped':
      return 'not-needed'
    case 'failed':
      return 'failed'
    case 'no-verdict':
      return verdict === 'timeout' ? 'timeout' : 'trouble'
    case 'cancelled':
      return 'cancelled'
  }
}

/** What this process knows of a run is newer than what was read of it. */
function withOwn(runs: readonly Counted[], own: readonly Counted[]): Counted[] {
  const known = new Set(own.map(({ flight }) => flight.check))
  return [...runs.filter(({ flight }) => !known.has(flight.check)), ...own]
}

function newest(workflows: readonly string[], runs: readonly Counted[]): Flight[] {
  return workflows.map(workflow => {
    const own = runs.filter(({ flight }) => flight.workflow === workflow)
    const [first] = own.sort((a, b) => (b.time || 0) - (a.time || 0) || order(b.did, a.did) || order(b.key, a.key))
    return first?.flight ?? { workflow, state: 'none' }
  })
}

/** CHK-9: runs of an older generation of the branch count for nothing. */
function generationOf({ view, refs }: Ground, pull: string): number {
  const branch = view.pulls.get(pull)?.branch
  return refs.refs.find(row => row.name === `refs/heads/${branch}`)?.generation ?? 0
}
