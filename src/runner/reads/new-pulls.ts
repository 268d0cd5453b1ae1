import { type Did, parseAtUri } from '../../atproto/ids.ts'
import { gather } from '../../indexer/sources/gather.ts'
import type { PullRecord, QueueRecord, RepositoryFacts, StateRecord, Stored } from '../../queue/facts.ts'
import { type FreshRead, layOver } from '../../queue/overlay.ts'
import { order } from '../../queue/runs.ts'
import type { About, Collection } from './collection.ts'
import type { Confirming } from './confirm.ts'
import { didsOf } from './members.ts'
import { asUpstream, patienceMs, within } from './patience.ts'
import type { Stores } from './stores.ts'

/** Pulls that are looked for in one pass, those queued first before others; accounts read at the same time; records remembered as settled. */
const MOST = 200
const AT_ONCE = 16
const MOST_FORMER = 100
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
  const until = open[0]?.rkey
  if (until === undefined) return facts
  const authors = open.flatMap(entry => parseAtUri(entry.value.subject)?.did ?? [])
  // HON-5: what former accounts took out stays out.
  const former = didsOf((facts.repo.value.former ?? []).map(account => account.did)).slice(0, MOST_FORMER)
  const settlers = [...new Set([...given.members, ...former])]
  const about = { ...given.about, until }
  const [states, queue] = await Promise.all([
    readEach(stores, stores.states, [...new Set([...settlers, ...authors])], about),
    readEach(stores, stores.queue, former, about),
  ])
  const laid = layOver(facts, { states: states.reads, queue: queue.reads })
  const stillOpen = new Set(newest(laid, spent).map(entry => entry.uri))
  const wanted: Stored<QueueRecord>[] = []
  for (const entry of open) {
    const author = parseAtUri(entry.value.subject)?.did
    const coverage = coverageOf(entry, [
      ...[...settlers, ...(author === undefined ? [] : [author])].map(did => states.from.get(did)),
      ...former.map(did => queue.from.get(did)),
    ])
    if (coverage === 'too-far') spent.add(entry.uri)
    else if (coverage === 'covered' && stillOpen.has(entry.uri)) wanted.push(entry)
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
  return open.sort((a, b) => order(a.rkey, b.rkey) || order(a.uri, b.uri)).slice(0, MOST)
}

function isSettled(entry: Stored<QueueRecord>, states: readonly Stored<StateRecord>[]): boolean {
  return states.some(
    ({ rkey, value }) =>
      value.subject === entry.value.subject && (value.state === 'merged' || (value.state === 'closed' && rkey > entry.rkey)),
  )
}

interface Each<T> {
  reads: FreshRead<T>[]
  /** From which key on each account's records are known. */
  from: Map<string, string>
}

async function readEach<T>(stores: Stores, collection: Collection<T>, dids: readonly Did[], about: About): Promise<Each<T>> {
  const read: Each<T> = { reads: [], from: new Map() }
  await gather(dids, AT_ONCE, async did => {
    try {
      const look = await stores.looks.look(did, { maxAgeMs: stores.lately() })
      if (look.state !== 'at') return
      const records = await within(patienceMs, did, () => collection.about(did, look.rev, about))
      read.reads.push(records)
      read.from.set(did, records.from ?? '')
    } catch (error) {
      asUpstream(error)
    }
  })
  return read
}

/** `unknown` where an account did not answer, or is gone with what it said: then only the index can tell. */
function coverageOf(entry: Stored<QueueRecord>, starts: readonly (string | undefined)[]): 'covered' | 'too-far' | 'unknown' {
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
