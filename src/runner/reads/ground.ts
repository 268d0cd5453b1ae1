/** A repository as it is read for a pass: the index's entries under fresh reads (NOT-1, NOT-6, NOT-7). */
import { type AtUri, type Did, makeAtUri, parseAtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { readRepoAt } from '../../indexer/sources/read-records.ts'
import type { RepoRecord, RepositoryFacts, Stored } from '../../queue/facts.ts'
import { foldRepository } from '../../queue/fold.ts'
import { layOver } from '../../queue/overlay.ts'
import { readStanding } from '../../queue/transfer.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { Ground, Source } from '../types.ts'
import { type Confirmed, confirm } from './confirm.ts'
import type { Look, Looks } from './looks.ts'
import { membersOf, readMembers } from './members.ts'
import { asUpstream, patienceMs, settled, within } from './patience.ts'
import { sourceOf } from './sources.ts'
import type { ReadsContext, Stores } from './stores.ts'

/** What is kept beside a ground, for the other reads of its pass. */
export interface Kept {
  addresses: ReadonlySet<string>
  members: readonly Did[]
  /** Servers of authors whose pull's record could not be read, by pull (NOT-7). */
  unconfirmed: ReadonlyMap<string, string>
}

export interface Gathered {
  ground: Ground
  kept: Kept
}

/** What is remembered between passes. */
export interface GroundMemory {
  /** The facts of the last pass, by repository: they stand while the index does not answer. */
  facts: Map<AtUri, RepositoryFacts>
  /** Queue records about pulls that the index does not list and that are settled. */
  spent: Set<string>
  /** Git states of repositories, by address. */
  refs: Map<AtUri, Source>
  /** By any address of a repository, the one that was asked for. */
  asked: Map<string, AtUri>
  /** How accounts were when they were read for the last pass, by the address that was asked for. */
  looked: Map<AtUri, Map<Did, Look>>
  isIndexAway: boolean
}

export interface Asked {
  repo: AtUri
  /** LND-12: these pulls' records, states, entries and heads are read again whatever was read lately. */
  again?: readonly string[] | undefined
}

/** Rejects with an UpstreamError where the owner's account does not answer, or has no such repository. */
export async function gatherGround(ctx: ReadsContext, stores: Stores, memory: GroundMemory, asked: Asked): Promise<Gathered> {
  const index = await readIndex(ctx, memory, asked.repo)
  const known = index === undefined ? undefined : addressOf(readStanding(index, ctx.now()).governing.uri)
  const looked = new Map<Did, Look>()
  const seeing = { ...stores, looks: noting(stores.looks, looked) }
  const first = await gatherAt(ctx, seeing, memory, { ...asked, repo: known ?? asked.repo }, index)
  // It moved, and the index had not heard of that: the record at the new address governs. One hop.
  const done = typeof first === 'string' ? await gatherAt(ctx, seeing, memory, { ...asked, repo: first }, index) : first
  if (typeof done === 'string') throw new UpstreamError('bad-answer', asked.repo, 'the repository moves on and on')
  const home = memory.asked.get(asked.repo) ?? asked.repo
  for (const address of done.kept.addresses) memory.asked.set(address, home)
  memory.looked.set(home, looked)
  return done
}

function noting(looks: Looks, looked: Map<Did, Look>): Looks {
  return {
    ...looks,
    async look(did, options) {
      const look = await looks.look(did, options)
      looked.set(did, look)
      return look
    },
  }
}

/** What the index has; where it does not answer, what the last pass had (NOT-1: the fresh reads are made all the same). */
async function readIndex({ appview, log }: ReadsContext, memory: GroundMemory, repo: AtUri): Promise<RepositoryFacts | undefined> {
  try {
    const facts = await within(patienceMs, new URL(appview.url).host, () => appview.facts(repo))
    if (memory.isIndexAway) log.info('the index answers again', { repo })
    memory.isIndexAway = false
    return facts
  } catch (error) {
    const { message } = asUpstream(error)
    const facts = memory.facts.get(repo)
    if (!memory.isIndexAway)
      log.warn('the index does not answer', { repo, why: message, from: facts === undefined ? 'accounts' : 'memory' })
    memory.isIndexAway = true
    return facts
  }
}

/** The repository at this address, or the address that it has moved to. `index`: what the index has at the address that was asked for. */
async function gatherAt(
  ctx: ReadsContext,
  stores: Stores,
  memory: GroundMemory,
  asked: Asked,
  index: RepositoryFacts | undefined,
): Promise<Gathered | AtUri> {
  const { reader } = ctx
  const { repo } = asked
  const now = ctx.now()
  const address = parseAtUri(repo)
  if (address === undefined) throw new UpstreamError('bad-answer', repo, 'no address of a repository')
  const { did: owner, rkey: name } = address
  const [record, refsRead, facts] = await settled([
    readRepoAt(reader, repo, now),
    reader.getRecord(owner, 'dev.knotless.refs', name),
    index?.repo.uri === repo ? index : readIndex(ctx, memory, repo),
  ])
  if (record === null) throw new UpstreamError('bad-answer', owner, 'has no such repository')
  const ends = await layEnds(ctx, layOver(facts ?? bare(record), { repo: record }))
  const standing = readStanding(ends, now)
  const governing = addressOf(standing.governing.uri)
  if (governing !== undefined && governing !== repo) return governing
  const own = sourceOf(refsRead, repo, now, memory.refs.get(repo))
  if (own.state !== 'read') throw new UpstreamError('bad-answer', owner, own.state === 'broken' ? own.detail : 'nothing was pushed yet')
  memory.refs.set(repo, own)

  // An index that has heard of the move has all that the owner of then wrote before it.
  const unheard = facts?.transferredFrom === undefined ? standing.predecessors.map(({ record: left }) => left) : []
  const laid = await withWhatCameAlong(ctx, memory, ends, { unheard, index })
  const before = foldRepository(laid, now)
  const owners = unheard.map(({ did }) => did)
  const members = membersOf(before.roles, ctx.did, owners)
  const about = { addresses: standing.addresses, oldest: oldestEntry(before) }
  const authors = (asked.again ?? []).flatMap(pull => parseAtUri(pull)?.did ?? [])
  const read = await readMembers(stores, { members, authors, home: repo, about })
  const people = layOver(laid, { queue: read.queue, states: read.states, refs: new Map([[repo, own.stored]]) })
  const fresh = { ...people, landers: onceEach(people.landers, read.landers) }
  const confirmed = await confirm(ctx, stores, { facts: fresh, read, members, about, home: repo, spent: memory.spent, again: asked.again })
  memory.facts.set(repo, confirmed.facts)
  return {
    ground: groundOf({ repo, owner, name, own, confirmed, unread: read.unread, readAt: ctx.now() }),
    kept: { addresses: standing.addresses, members, unconfirmed: confirmed.unconfirmed },
  }
}

function groundOf(made: {
  repo: AtUri
  owner: Did
  name: Ground['name']
  own: Extract<Source, { state: 'read' }>
  confirmed: Confirmed
  unread: readonly Did[]
  readAt: number
}): Ground {
  const { repo, owner, name, own, confirmed, readAt } = made
  const { view, sources } = confirmed
  const unread = [...new Set([...made.unread, ...confirmed.unread])]
  return { repo, owner, name, view, refs: own.refs, stored: own.stored, sources, unread, readAt }
}

/** A repository that only its owner's account tells of. */
function bare(repo: Stored<RepoRecord>): RepositoryFacts {
  const none = { pulls: [], states: [], queue: [], checks: [], landers: [] }
  return { repo, refs: new Map(), gone: new Set(), merges: new Map(), tips: new Map(), ...none }
}

/** HON-4: both ends of a move say that it holds. The end that the record names now is read where it lies; that it came from, where the index lacks it. */
async function layEnds(ctx: ReadsContext, facts: RepositoryFacts): Promise<RepositoryFacts> {
  const { transferredTo: to, transferredFrom: from } = facts.repo.value
  if (to === undefined && from === undefined) return facts
  const now = ctx.now()
  const [after, before] = await settled([
    to === undefined ? undefined : readRepoAt(ctx.reader, to.repo, now),
    from === undefined
      ? undefined
      : readRepoAt(ctx.reader, from, now).catch((error: unknown) => {
          asUpstream(error)
          return facts.transferredFrom ?? null
        }),
  ])
  const transferredFrom = before === undefined ? facts.transferredFrom : (before ?? undefined)
  return { ...layOver(facts, after === undefined ? {} : { transferredTo: after }), transferredFrom }
}

/** HON-4: where the index has not heard of the move yet, what it knows at the address before is the repository's as well. */
async function withWhatCameAlong(
  ctx: ReadsContext,
  memory: GroundMemory,
  facts: RepositoryFacts,
  { unheard, index }: { unheard: readonly Stored<RepoRecord>[]; index: RepositoryFacts | undefined },
): Promise<RepositoryFacts> {
  let all = facts
  for (const { uri } of unheard) {
    const left = index?.repo.uri === uri ? index : await readLeft(uri)
    if (left === undefined) continue
    const { pulls, states, queue, landers, gone } = left
    all = {
      ...all,
      pulls: onceEach(pulls, all.pulls),
      states: onceEach(states, all.states),
      queue: onceEach(queue, all.queue),
      landers: onceEach(landers, all.landers),
      gone: new Set([...gone, ...all.gone]),
    }
  }
  return all

  /** An index that did not answer a moment ago is not waited for again. */
  async function readLeft(uri: string): Promise<RepositoryFacts | undefined> {
    const address = addressOf(uri)
    if (address === undefined) return undefined
    return memory.isIndexAway ? memory.facts.get(address) : await readIndex(ctx, memory, address)
  }
}

/** All records; of one that is in both, the second. */
function onceEach<T>(known: readonly Stored<T>[], fresh: readonly Stored<T>[]): Stored<T>[] {
  return [...new Map([...known, ...fresh].map(record => [record.uri, record])).values()]
}

function oldestEntry({ branches }: RepositoryView): string | undefined {
  return [...branches.values()].flatMap(branch => branch.queue[0]?.entry?.key ?? []).sort()[0]
}

function addressOf(uri: string): AtUri | undefined {
  const at = parseAtUri(uri)
  return at && makeAtUri(at.did, at.collection, at.rkey)
}
