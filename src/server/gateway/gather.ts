/** What is so now, as far as a question asks (GWY-13): read at its sources, several at a time, and laid over the index. */
import { type AtUri, type Did, makeAtUri, parseAtUri, type RecordKey } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { checkRefsRecord, type RefsRecord } from '../../git/refs-record.ts'
import type { IndexDatabase } from '../../indexer/database.ts'
import { gather } from '../../indexer/sources/gather.ts'
import { ofKind, readUsable } from '../../indexer/sources/read-about.ts'
import { type PeopleRead, readPeople } from '../../indexer/sources/read-people.ts'
import { readPullAt, readRefsAt, readRepoAt } from '../../indexer/sources/read-records.ts'
import { noRefs, refsFault } from '../../indexer/validate/refs-fault.ts'
import type { GitFault, PullRecord, RefsRecord as RefsValue, RepoRecord, RepositoryFacts, Stored } from '../../queue/facts.ts'
import { foldRepository } from '../../queue/fold.ts'
import { type FreshReads, layOver } from '../../queue/overlay.ts'
import { readStanding } from '../../queue/transfer.ts'
import type { RepositoryView } from '../../queue/view.ts'
import { knownFacts } from '../actions/known-facts.ts'
import { type FoundRefs, readFoundRefs } from './account.ts'

/** A repository as it is now. */
export interface Ground {
  /** The address that governs (HON-4), its owner and its name. */
  repo: AtUri
  owner: Did
  name: RecordKey
  /** The refs record as it was read, what it says, and what is wrong with one that cannot be used. */
  found: FoundRefs
  refs: RefsRecord | undefined
  fault: GitFault | undefined
  view: RepositoryView
  /** Refs records of the repositories that hold heads of the pulls that were read, by repository. */
  sources: ReadonlyMap<string, Stored<RefsValue>>
  /** The records of the pulls that were read, whatever repository they are onto; null for one that its account does not have. */
  pulls: ReadonlyMap<string, Stored<PullRecord> | null>
  /** What was taken from the index, in words. */
  fromIndex: readonly string[]
  /** When the reading ended, by `performance.now()`. */
  readAt: number
}

/** `gone`: there is no such repository. `unread`: a source that must answer did not. */
export type Gathered = { ok: true; ground: Ground } | { ok: false; why: 'gone' } | { ok: false; why: 'unread'; error: UpstreamError }

export interface GatherContext {
  reader: Reader
  database: IndexDatabase
  /** Milliseconds since 1970. */
  now: () => number
}

export interface Wanted {
  repo: AtUri
  /** Read the account's commit as well, for a write of several records (LND-14). */
  whole: boolean
  /** Pulls that the answer is about: their records, their heads and everybody's records about them are read too. None: only repository and refs. */
  pulls: readonly AtUri[]
  /** The record that queued each of the pulls must have been read. */
  queued?: boolean
}

/** Pulls and heads read at the same time. */
const AT_ONCE = 12

/** Reads a repository and what the question asks beside. */
export async function gatherGround(ctx: GatherContext, wanted: Wanted): Promise<Gathered> {
  try {
    const first = await gatherAt(ctx, wanted)
    // It moved, and the index had not heard of that: the record at the new address governs.
    if (!first.ok || first.ground.view.record.uri === first.ground.repo) return first
    const moved = addressOf(first.ground.view.record.uri)
    return moved === undefined ? { ok: false, why: 'gone' } : await gatherAt(ctx, { ...wanted, repo: moved })
  } catch (error) {
    if (error instanceof UpstreamError) return { ok: false, why: 'unread', error }
    throw error
  }
}

async function gatherAt(ctx: GatherContext, wanted: Wanted): Promise<Gathered> {
  const now = ctx.now()
  const { pulls, whole } = wanted
  const known = knownFacts(ctx.database, { repo: wanted.repo, pulls })
  const repo = known === undefined ? wanted.repo : (addressOf(readStanding(known, now).governing.uri) ?? wanted.repo)
  const address = parseAtUri(repo)
  if (address === undefined) return { ok: false, why: 'gone' }
  const { did: owner, rkey: name } = address

  const factsFor = (fresh: Stored<RepoRecord>) =>
    known?.repo.uri === repo ? known : knownFacts(ctx.database, { repo, pulls, record: fresh })
  const record = readRepoAt(ctx.reader, repo, now)
  const [read, found, some, people] = await settled([
    record,
    readFoundRefs(ctx.reader, { owner, name, whole }),
    readPulls(ctx, { pulls, known, home: repo, now }),
    pulls.length === 0 ? undefined : record.then(fresh => peopleOf(ctx, { facts: fresh && factsFor(fresh), pulls, fresh, now })),
  ])
  const base = read === null ? undefined : factsFor(read)
  if (read === null || base === undefined) return { ok: false, why: 'gone' }
  const other = await otherEnd(ctx, layOver(base, { repo: read }), now)
  const git = refsOf(found, repo, now)
  const fresh: FreshReads = {
    repo: read,
    transferredTo: other,
    refs: new Map<string, Stored<RefsValue> | null>([...some.refs, [repo, git.stored ?? null]]),
    gitFaults: new Map<string, GitFault>([...some.faults, ...(git.fault === undefined ? [] : [[repo, git.fault] as const])]),
    pulls: some.pulls,
    ...(people === undefined ? {} : { queue: people.queue, states: people.states }),
  }
  const view = foldRepository(layOver(base, fresh), now)
  const unread = await unreadEntry(ctx, wanted, view, people)
  if (unread !== undefined) return { ok: false, why: 'unread', error: unread }
  const sources = new Map([...some.refs].flatMap(([uri, stored]) => (stored === null ? [] : [[uri, stored] as const])))
  return {
    ok: true,
    ground: {
      repo,
      owner,
      name,
      found,
      refs: git.refs,
      fault: git.fault,
      view,
      sources,
      pulls: some.pulls,
      fromIndex: takenFrom(people),
      readAt: performance.now(),
    },
  }
}

/** All of them; the first that rejects does so once the others have ended, so that none is left to reject unheard. */
async function settled<T extends readonly unknown[]>(work: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return await Promise.all(work)
}

interface PullsRead {
  pulls: Map<string, Stored<PullRecord> | null>
  refs: Map<string, Stored<RefsValue> | null>
  faults: Map<string, GitFault>
}

/** The pulls' own records and the git states of the repositories that hold their heads. Those that the index knows of are read at the same time. */
async function readPulls(
  ctx: GatherContext,
  asked: { pulls: readonly string[]; known: RepositoryFacts | undefined; home: string; now: number },
): Promise<PullsRead> {
  const { pulls, home, now } = asked
  const heads = new Map<string, ReturnType<typeof readRefsAt>>()
  const want = (repo: string) => {
    if (repo !== home && !heads.has(repo)) heads.set(repo, readRefsAt(ctx.reader, repo, now))
  }
  const known = new Set(pulls)
  for (const pull of asked.known?.pulls ?? []) if (known.has(pull.uri)) want(pull.value.head.repo)
  const read = await gather(pulls, AT_ONCE, async uri => {
    const record = await readPullAt(ctx.reader, uri, now)
    if (record !== null) want(record.value.head.repo)
    return [uri, record] as const
  }).catch(async (error: unknown) => {
    await Promise.allSettled(heads.values())
    throw error
  })
  const all = await settled([...heads].map(async ([repo, reading]) => [repo, await reading] as const))
  return {
    pulls: new Map(read),
    refs: new Map(all.map(([repo, { record }]) => [repo, record ?? null])),
    faults: new Map(all.flatMap(([repo, answer]) => (answer.record === undefined ? [[repo, answer.fault] as const] : []))),
  }
}

async function peopleOf(
  ctx: GatherContext,
  asked: { facts: RepositoryFacts | null | undefined; pulls: readonly string[]; fresh: Stored<RepoRecord> | null; now: number },
): Promise<PeopleRead | undefined> {
  const { facts, pulls, fresh, now } = asked
  if (fresh === null || facts == null) return undefined
  const authors = pulls.flatMap(pull => parseAtUri(pull)?.did ?? [])
  return await readPeople(ctx.reader, layOver(facts, { repo: fresh }), { authors, now })
}

/** After a move the record at the new address says who may what (HON-4). Undefined when nothing has moved. */
async function otherEnd(ctx: GatherContext, facts: RepositoryFacts, now: number): Promise<Stored<RepoRecord> | null | undefined> {
  const to = facts.repo.value.transferredTo?.repo
  return to === undefined ? undefined : await readRepoAt(ctx.reader, to, now)
}

/** What a refs record says, for git and for the rules, or what is wrong with it. */
function refsOf(found: FoundRefs, repo: string, now: number): { refs?: RefsRecord; stored?: Stored<RefsValue>; fault?: GitFault } {
  if (found.record === undefined) return { fault: { ...noRefs(), passing: true } }
  const checked = checkRefsRecord(found.record.value, repo)
  const stored = readUsable(found.record, ofKind.refs, now)
  return checked.ok && stored !== undefined
    ? { refs: checked.record, stored }
    : { fault: { ...refsFault(found.record.value, repo), passing: false } }
}

/** GWY-13: an entry that only the index tells of is read where it lies. Whose server does not answer cannot be built on. */
async function unreadEntry(
  ctx: GatherContext,
  { queued, pulls }: Wanted,
  view: RepositoryView,
  people: PeopleRead | undefined,
): Promise<UpstreamError | undefined> {
  if (queued !== true) return undefined
  for (const uri of pulls) {
    const entry = view.pulls.get(uri)?.entry
    const writer = parseAtUri(entry?.record.uri)
    if (entry === undefined || writer === undefined || people?.unreadQueue.has(writer.did) !== true) continue
    const read = await ctx.reader.getRecord(writer.did, writer.collection, writer.rkey)
    if (read?.cid !== entry.record.cid)
      return new UpstreamError('bad-answer', writer.did, 'the record that queued the pull is another one now')
  }
  return undefined
}

function takenFrom(people: PeopleRead | undefined): string[] {
  const unread = [...new Set([...(people?.unreadQueue ?? []), ...(people?.unreadStates ?? [])])]
  return unread.map(did => `the records of ${did}`)
}

function addressOf(uri: string): AtUri | undefined {
  const at = parseAtUri(uri)
  return at && makeAtUri(at.did, at.collection, at.rkey)
}
