/** What is so now, read at its sources and laid over the index: what decides whether something is written. */
import { type Did, parseAtUri, parseDid } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { loadFacts, loadPullFacts } from '../../indexer/read.ts'
import { noRefs, refsFault } from '../../indexer/validate/refs-fault.ts'
import type { GitFault, PullRecord, RefsRecord, RepoRecord, RepositoryFacts, Stored } from '../../queue/facts.ts'
import { foldRepository } from '../../queue/fold.ts'
import { type FreshReads, layOver } from '../../queue/overlay.ts'
import { readStanding } from '../../queue/transfer.ts'
import type { PullView, RepositoryView } from '../../queue/view.ts'
import type { Act, Refusal } from '../../queue/words/refusals.ts'
import * as refusals from '../../queue/words/refusals.ts'
import type { ActionContext } from './context.ts'
import { gather } from './gather.ts'
import { type About, ofKind, readQueueAbout, readStatesAbout, readUsable } from './read-about.ts'
import { serverName } from './server-name.ts'

export interface Fresh {
  ok: true
  view: RepositoryView
  pull: PullView
  /** The refs records of the repository and of the head's, when they were read. */
  target?: Stored<RefsRecord> | undefined
  source?: Stored<RefsRecord> | undefined
}

type Refused = { ok: false; refusal: Refusal }

/** Accounts read at the same time. */
const AT_ONCE = 12

/**
 * The repository of a pull as it is now. For queueing, the pull, the repository, both git states and the caller's own records must be readable at
 * their sources (ADM-3; what was queued before must be seen, so that nothing is queued twice). Leaving takes what the index has where a source
 * does not answer, since it only ever takes the caller's side out.
 */
export async function readFresh(ctx: ActionContext, asked: { act: Act; pull: string; caller: Did }): Promise<Fresh | Refused> {
  const { act, pull: pullUri, caller } = asked
  const now = ctx.now()
  const reads: Reads = { ctx, act, now, strict: act !== 'leave' }
  const pull = await readPull(reads, pullUri)
  if (pull !== undefined && 'ok' in pull) return pull
  const known = loadPullFacts(ctx.database, pullUri)?.facts.pulls[0]
  const present = pull ?? known
  if (present === undefined) return no(refusals.pullNotFound())

  const repo = await readRepo(reads, present.value.repo)
  if (repo !== undefined && 'ok' in repo) return repo
  const facts = factsOf(ctx, present, repo)
  if (facts === undefined) return no(refusals.repoNotFound(parseAtUri(present.value.repo)?.rkey ?? ''))
  const transferredTo = await readOtherEnd(reads, layOver(facts, { repo }))
  if (transferredTo !== undefined && transferredTo !== null && 'ok' in transferredTo) return transferredTo

  const records = { repo, transferredTo }
  const { governing, addresses } = readStanding(layOver(facts, records), now)
  const addressNow = (uri: string) => (addresses.has(uri) ? governing.uri : uri)
  const ends = { target: governing.uri, source: addressNow(present.value.head.repo) }
  const [git, people] = await Promise.all([readRefs(reads, ends), readPeople(reads, layOver(facts, records), present)])
  if ('ok' in git) return git
  if (people.unread.has(caller) && reads.strict) {
    return no(refusals.upstreamFailed(act, await serverName(ctx, caller, 'your account’s server'), 'unclear', true))
  }
  const { queue, states } = people
  const pulls = pull === undefined ? undefined : new Map([[pullUri, pull]])
  const fresh: FreshReads = { ...records, ...git, pulls, queue, states }
  const view = foldRepository(layOver(facts, fresh), now)
  const seen = view.pulls.get(pullUri)
  if (seen === undefined) return no(refusals.pullNotFound())
  return {
    ok: true,
    view,
    pull: seen,
    target: git.refs.get(ends.target) ?? undefined,
    source: git.refs.get(ends.source) ?? undefined,
  }
}

interface Reads {
  ctx: ActionContext
  act: Act
  now: number
  /** A source that does not answer refuses; otherwise it adds nothing. */
  strict: boolean
}

function no(refusal: Refusal): Refused {
  return { ok: false, refusal }
}

/** What a source that failed means: a refusal that names it where it must answer, else nothing. Whatever is no failure of a source is thrown. */
function failed(reads: Reads, error: unknown): Refused | undefined {
  if (!(error instanceof UpstreamError)) throw error
  if (!reads.strict) return undefined
  const how = error.reason === 'timeout' ? 'silent' : error.reason === 'refused' ? 'unreachable' : 'garbage'
  return no(refusals.upstreamFailed(reads.act, error.host, how, true))
}

async function readPull(reads: Reads, uri: string): Promise<Stored<PullRecord> | Refused | undefined> {
  const address = parseAtUri(uri)
  if (address === undefined) return no(refusals.pullNotFound())
  try {
    const read = await reads.ctx.reader.getRecord(address.did, address.collection, address.rkey)
    const pull = read && readUsable(read, ofKind.pull, reads.now)
    return pull ?? no(refusals.pullNotFound())
  } catch (error) {
    return failed(reads, error)
  }
}

async function readRepo(reads: Reads, uri: string): Promise<Stored<RepoRecord> | Refused | undefined> {
  const read = await readRepoAt(reads, uri)
  return read === null ? no(refusals.repoNotFound(parseAtUri(uri)?.rkey ?? '')) : read
}

/** Null for a record that is not there, or cannot be used. */
async function readRepoAt(reads: Reads, uri: string): Promise<Stored<RepoRecord> | Refused | undefined | null> {
  const address = parseAtUri(uri)
  if (address === undefined) return null
  try {
    const read = await reads.ctx.reader.getRecord(address.did, address.collection, address.rkey)
    return (read && readUsable(read, ofKind.repo, reads.now)) ?? null
  } catch (error) {
    return failed(reads, error)
  }
}

/** After a move the record at the new address says who may what (HON-4): it is read as well. Undefined when nothing has moved. */
async function readOtherEnd(reads: Reads, facts: RepositoryFacts): Promise<Stored<RepoRecord> | Refused | undefined | null> {
  const { governing } = readStanding(facts, reads.now)
  return governing.uri === facts.repo.uri ? undefined : await readRepoAt(reads, governing.uri)
}

/** The index's facts with this pull among them, closed or merged long ago or not. A repository that the index has not met has its record alone. */
function factsOf(ctx: ActionContext, pull: Stored<PullRecord>, repo: Stored<RepoRecord> | undefined): RepositoryFacts | undefined {
  const facts = loadFacts(ctx.database, pull.value.repo)?.facts ?? (repo === undefined ? undefined : bareFacts(repo))
  const alone = loadPullFacts(ctx.database, pull.uri)?.facts
  if (facts === undefined || alone === undefined || facts.pulls.some(other => other.uri === pull.uri)) return facts
  return {
    ...facts,
    pulls: [...facts.pulls, ...alone.pulls],
    states: [...facts.states, ...alone.states],
    queue: [...facts.queue, ...alone.queue],
    checks: [...facts.checks, ...alone.checks],
  }
}

function bareFacts(repo: Stored<RepoRecord>): RepositoryFacts {
  const none = { pulls: [], states: [], queue: [], checks: [], landers: [] }
  return { repo, ...none, refs: new Map(), gone: new Set(), merges: new Map(), tips: new Map() }
}

interface GitRead {
  /** By repository; null for one that is not there or cannot be used. */
  refs: ReadonlyMap<string, Stored<RefsRecord> | null>
  gitFaults: ReadonlyMap<string, GitFault>
}

/** The refs records of a branch's and a head's repository, and what is wrong with those that cannot be used. */
async function readRefs(reads: Reads, ends: { target: string; source: string }): Promise<GitRead | Refused> {
  const refs = new Map<string, Stored<RefsRecord> | null>()
  const gitFaults = new Map<string, GitFault>()
  // Leaving asks nothing of git.
  if (!reads.strict) return { refs, gitFaults }
  for (const repo of new Set([ends.target, ends.source])) {
    const address = parseAtUri(repo)
    if (address === undefined) continue
    try {
      const read = await reads.ctx.reader.getRecord(address.did, 'dev.knotless.refs', address.rkey)
      const record = read && readUsable(read, ofKind.refs, reads.now)
      refs.set(repo, record ?? null)
      if (read === undefined) gitFaults.set(repo, { ...noRefs(), passing: true })
      else if (record === undefined) gitFaults.set(repo, { ...refsFault(read.value, repo), passing: false })
    } catch (error) {
      const refused = failed(reads, error)
      if (refused !== undefined) return refused
    }
  }
  return { refs, gitFaults }
}

/**
 * The newest queue and state records of everybody whose records can count (NOT-1), and the author's states (HON-6). `unread` are those whose queue
 * records could not be had.
 */
async function readPeople(
  reads: Reads,
  facts: RepositoryFacts,
  pull: Stored<PullRecord>,
): Promise<Pick<FreshReads, 'queue' | 'states'> & { unread: ReadonlySet<Did> }> {
  const { roles, branches, record, uri } = foldRepository(facts, reads.now)
  const oldest = [...branches.values()].flatMap(branch => branch.queue[0]?.entry?.key ?? []).sort()[0]
  const addresses = new Set([
    uri,
    record.uri,
    ...[facts.transferredFrom?.uri, facts.transferredTo?.uri].filter(other => other !== undefined),
  ])
  const about: About = { addresses, oldest, now: reads.now }
  const writers = didsOf([roles.owner, ...roles.collaborators, ...roles.runners])
  const { reader } = reads.ctx
  const [queue, states] = await Promise.all([
    gather(writers, AT_ONCE, did => readQueueAbout(reader, did, about)),
    gather([...new Set([...writers, ...didsOf([pull.did])])], AT_ONCE, did => readStatesAbout(reader, did, about)),
  ])
  return {
    queue: queue.filter(read => read !== undefined),
    states: states.filter(read => read !== undefined),
    unread: new Set(writers.filter((_, at) => queue[at] === undefined)),
  }
}

function didsOf(values: readonly string[]): Did[] {
  return [...new Set(values.flatMap(value => parseDid(value) ?? []))]
}
