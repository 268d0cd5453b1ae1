/** What only the index told of is read where it lies before it is built on (NOT-7): the record that queued each pull, the pull, the git state that holds its head. */
import { type Did, parseAtUri, parseDid } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { gather } from '../../indexer/sources/gather.ts'
import type { GitFault, PullRecord, QueueRecord, RefsRecord, RepositoryFacts, Stored } from '../../queue/facts.ts'
import { foldRepository } from '../../queue/fold.ts'
import { layOver } from '../../queue/overlay.ts'
import type { PullView, RepositoryView } from '../../queue/view.ts'
import type { Source } from '../types.ts'
import type { About } from './collection.ts'
import type { MembersRead } from './members.ts'
import { withNewPulls } from './new-pulls.ts'
import { asUpstream, patienceMs, within } from './patience.ts'
import { sourceFacts } from './sources.ts'
import type { ReadsContext, Stores } from './stores.ts'

/** Accounts read at the same time. */
const AT_ONCE = 16
/** What is read can make other records count, which are read then: so often at most. */
const ROUNDS = 4

export interface Confirming {
  facts: RepositoryFacts
  read: MembersRead
  members: readonly Did[]
  about: About
  home: string
  spent: Set<string>
  again?: readonly string[] | undefined
}

export interface Confirmed {
  facts: RepositoryFacts
  view: RepositoryView
  sources: ReadonlyMap<string, Source>
  unread: readonly Did[]
  /** Servers of authors whose pull's record was never read where it lies, by pull. */
  unconfirmed: ReadonlyMap<string, string>
}

/** Entries that lie nowhere, or whose account does not answer and never did, are left out. With `again` the entries of those pulls must be read: else it rejects. */
export async function confirm(ctx: ReadsContext, stores: Stores, given: Confirming): Promise<Confirmed> {
  const now = ctx.now()
  const again = new Set(given.again)
  const unread = new Set<Did>()
  const unconfirmed = new Map<string, string>()
  const pullsRead = new Set<string>()
  const entriesRead = new Set<string>()
  const sources = new Map<string, Source>()
  let facts = await withNewPulls(stores, given)
  let view = foldRepository(facts, now)
  for (let round = 0; round < ROUNDS; round++) {
    const queued = [...view.pulls.values()].filter(
      pull => pull.entry !== undefined || pull.heldEntry !== undefined || again.has(pull.pull.uri),
    )
    const entries = queued.flatMap(pull => (pull.entry ?? pull.heldEntry)?.record ?? []).filter(entry => !entriesRead.has(entry.uri))
    const pulls = queued.filter(pull => !pullsRead.has(pull.pull.uri))
    const repos = reposOf(queued, given.about.addresses).filter(repo => !sources.has(repo))
    if (entries.length === 0 && pulls.length === 0 && repos.length === 0) break
    const [looked, found] = await Promise.all([
      readEntries(entries),
      readPulls(pulls),
      gather(repos, AT_ONCE, async repo => {
        const isAgain = queued.some(pull => pull.pull.value.head.repo === repo && again.has(pull.pull.uri))
        sources.set(repo, await stores.sources.read(repo, { looks: stores.looks, maxAgeMs: isAgain ? 0 : stores.lately() }))
      }),
    ])
    facts = withSources(withEntries(withPulls(facts, found), looked), sources)
    view = foldRepository(facts, now)
  }
  return { facts, view, sources, unread: [...unread], unconfirmed }

  /** Null: it is not there, or nobody has ever read it there. */
  async function readEntries(entries: readonly Stored<QueueRecord>[]): Promise<Map<string, Stored<QueueRecord> | null>> {
    const looked = new Map<string, Stored<QueueRecord> | null>()
    const mustRead = new Set(entries.filter(entry => again.has(entry.value.subject)).map(entry => entry.uri))
    const open: Stored<QueueRecord>[] = []
    for (const entry of entries) {
      entriesRead.add(entry.uri)
      const did = parseDid(entry.did)
      const isSeen = did !== undefined && stores.queue.seen(did, entry.rkey)?.cid === entry.cid
      if (!isSeen || mustRead.has(entry.uri)) open.push(entry)
    }
    await gather([...Map.groupBy(open, entry => entry.did)], AT_ONCE, async ([writer, own]) => {
      const did = parseDid(writer)
      if (did === undefined) return
      try {
        const look = await stores.looks.look(did, { maxAgeMs: stores.lately() })
        if (look.state === 'unread') throw new UpstreamError('refused', look.server, 'no answer')
        const keys = own.map(entry => entry.rkey)
        const some = look.state === 'gone' ? undefined : await within(patienceMs, did, () => stores.queue.some(did, look.rev, keys))
        for (const entry of own) looked.set(entry.uri, some?.get(entry.rkey) ?? null)
      } catch (error) {
        const failure = asUpstream(error)
        if (own.some(entry => mustRead.has(entry.uri))) throw failure
        unread.add(did)
        for (const entry of own) looked.set(entry.uri, null)
      }
    })
    return looked
  }

  /** Null: its account does not have it. */
  async function readPulls(pulls: readonly PullView[]): Promise<{ pulls: Map<string, Stored<PullRecord> | null>; gone: Set<string> }> {
    const found = { pulls: new Map<string, Stored<PullRecord> | null>(), gone: new Set<string>() }
    for (const { pull } of pulls) pullsRead.add(pull.uri)
    await gather([...Map.groupBy(pulls, pull => pull.pull.did)], AT_ONCE, async ([author, own]) => {
      const did = parseDid(author)
      if (did === undefined) return
      const isAgain = own.some(pull => again.has(pull.pull.uri))
      try {
        const look = await stores.looks.look(did, { maxAgeMs: isAgain ? 0 : stores.lately() })
        if (look.state === 'unread') throw new UpstreamError('refused', look.server, 'no answer')
        if (look.state === 'gone') return void found.gone.add(did)
        const keys = own.map(pull => pull.pull.rkey)
        const some = await within(patienceMs, did, () => stores.pulls.some(did, look.rev, keys))
        for (const { pull } of own) found.pulls.set(pull.uri, some.get(pull.rkey) ?? null)
      } catch (error) {
        const { host } = asUpstream(error)
        unread.add(did)
        for (const { pull } of own) {
          const seen = stores.pulls.seen(did, pull.rkey)
          if (seen !== undefined) found.pulls.set(pull.uri, seen)
          if (seen === undefined || again.has(pull.uri)) unconfirmed.set(pull.uri, host)
        }
      }
    })
    return found
  }
}

function withPulls(
  facts: RepositoryFacts,
  found: { pulls: ReadonlyMap<string, Stored<PullRecord> | null>; gone: ReadonlySet<string> },
): RepositoryFacts {
  const laid = found.pulls.size === 0 ? facts : layOver(facts, { pulls: found.pulls })
  return found.gone.size === 0 ? laid : { ...laid, gone: new Set([...laid.gone, ...found.gone]) }
}

function withEntries(facts: RepositoryFacts, looked: ReadonlyMap<string, Stored<QueueRecord> | null>): RepositoryFacts {
  if (looked.size === 0) return facts
  return { ...facts, queue: facts.queue.flatMap(record => (looked.has(record.uri) ? (looked.get(record.uri) ?? []) : [record])) }
}

function withSources(facts: RepositoryFacts, sources: ReadonlyMap<string, Source>): RepositoryFacts {
  if (sources.size === 0) return facts
  const refs = new Map<string, Stored<RefsRecord> | null>()
  const gitFaults = new Map<string, GitFault>()
  for (const [repo, source] of sources) {
    const told = sourceFacts(source)
    if (told === undefined) continue
    refs.set(repo, told.record)
    if (told.fault !== undefined) gitFaults.set(repo, told.fault)
  }
  return layOver(facts, { refs, gitFaults })
}

/** The repositories that hold heads, the repository itself aside. */
function reposOf(pulls: readonly PullView[], addresses: ReadonlySet<string>): string[] {
  const repos = new Set(pulls.map(pull => pull.pull.value.head.repo))
  return [...repos].filter(repo => !addresses.has(repo) && parseAtUri(repo)?.collection === 'dev.knotless.repo')
}
