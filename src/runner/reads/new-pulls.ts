import { type Did, parseAtUri } from '../../atproto/ids.ts'
import { gather } from '../../indexer/sources/gather.ts'
import type { PullRecord, QueueRecord, RepositoryFacts, StateRecord, Stored } from '../../queue/facts.ts'
import { type FreshRead, layOver } from '../../queue/overlay.ts'
import type { Confirming } from './confirm.ts'
import { asUpstream, patienceMs, within } from './patience.ts'
import type { Stores } from './stores.ts'

/** Pulls that are looked for in one pass, those queued last first; accounts read at the same time; records remembered as settled. */
const MOST = 50
const AT_ONCE = 16
const MOST_SPENT = 20_000

/**
 * The facts with pulls that were queued and that the index does not list yet, read where they lie. It does not list those that landed long ago
 * either, whose merged states may lie far down: one is taken in only where the states of everybody who could have settled it were read back to when
 * it was queued.
 */
export async function withNewPulls(stores: Stores, given: Confirming): Promise<RepositoryFacts> {
  const { facts, spent } = given
  if (spent.size > MOST_SPENT) spent.clear()
  const open = newest(facts, spent)
  if (open.length === 0) return facts
  const authors = open.flatMap(entry => parseAtUri(entry.value.subject)?.did ?? [])
  const until = open.at(-1)?.rkey ?? ''
  const read = await readStates(stores, given, [...new Set([...given.members, ...authors])], until)
  const laid = layOver(facts, { states: read.states })
  const wanted: Stored<QueueRecord>[] = []
  for (const entry of open) {
    const coverage = isCovered(entry, read, given.members)
    if (coverage === 'too-far' || isSettled(entry, laid.states)) spent.add(entry.uri)
    else if (coverage === 'covered') wanted.push(entry)
  }
  const pulls = await readPulls(stores, wanted, spent)
  return pulls.length === 0 ? facts : { ...laid, pulls: [...laid.pulls, ...pulls] }
}

/** The latest record about each pull that the index does not list, where it queues it and nothing that was read settles it. */
function newest({ pulls, queue, states }: RepositoryFacts, spent: Set<string>): Stored<QueueRecord>[] {
  const known = new Set(pulls.map(pull => pull.uri))
  const latest = new Map<string, Stored<QueueRecord>>()
  for (const record of queue) {
    const { subject } = record.value
    const other = latest.get(subject)
    if (!known.has(subject) && (other === undefined || record.rkey > other.rkey)) latest.set(subject, record)
  }
  const open = [...latest.values()].filter(record => {
    if (record.value.state !== 'queued' || spent.has(record.uri)) return false
    if (!isSettled(record, states)) return true
    spent.add(record.uri)
    return false
  })
  return open.sort((a, b) => (a.rkey < b.rkey ? 1 : -1)).slice(0, MOST)
}

function isSettled(entry: Stored<QueueRecord>, states: readonly Stored<StateRecord>[]): boolean {
  return states.some(
    ({ rkey, value }) =>
      value.subject === entry.value.subject && (value.state === 'merged' || (value.state === 'closed' && rkey > entry.rkey)),
  )
}

interface StatesRead {
  states: FreshRead<StateRecord>[]
  /** From which key on each account's states are known. */
  from: Map<string, string>
}

async function readStates(stores: Stores, { about }: Confirming, dids: readonly Did[], until: string): Promise<StatesRead> {
  const read: StatesRead = { states: [], from: new Map() }
  await gather(dids, AT_ONCE, async did => {
    try {
      const look = await stores.looks.look(did, { maxAgeMs: stores.lately() })
      if (look.state !== 'at') return
      const states = await within(patienceMs, did, () => stores.states.about(did, look.rev, { ...about, until }))
      read.states.push(states)
      read.from.set(did, states.from ?? '')
    } catch (error) {
      asUpstream(error)
    }
  })
  return read
}

/** `unknown` where an account did not answer: that may pass. */
function isCovered(entry: Stored<QueueRecord>, { from }: StatesRead, members: readonly Did[]): 'covered' | 'too-far' | 'unknown' {
  const author = parseAtUri(entry.value.subject)?.did
  const starts = [...members, ...(author === undefined ? [] : [author])].map(did => from.get(did))
  if (starts.some(start => start !== undefined && start > entry.rkey)) return 'too-far'
  return starts.some(start => start === undefined) ? 'unknown' : 'covered'
}

async function readPulls(stores: Stores, entries: readonly Stored<QueueRecord>[], spent: Set<string>): Promise<Stored<PullRecord>[]> {
  const pulls: Stored<PullRecord>[] = []
  await gather([...Map.groupBy(entries, entry => parseAtUri(entry.value.subject)?.did)], AT_ONCE, async ([did, own]) => {
    if (did === undefined) return
    try {
      const look = await stores.looks.look(did, { maxAgeMs: stores.lately() })
      if (look.state !== 'at') return
      const keys = own.flatMap(entry => parseAtUri(entry.value.subject)?.rkey ?? [])
      const some = await within(patienceMs, did, () => stores.pulls.some(did, look.rev, keys))
      for (const [at, entry] of own.entries()) {
        const pull = some.get(keys[at] ?? '')
        if (pull == null) spent.add(entry.uri)
        else pulls.push(pull)
      }
    } catch (error) {
      asUpstream(error)
    }
  })
  return pulls
}
