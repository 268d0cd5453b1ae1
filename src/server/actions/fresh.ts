/** What is so now, read at its sources and laid over the index: what decides whether something is written. */
import { type Did, parseAtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { loadPullFacts } from '../../indexer/read.ts'
import { readPeople } from '../../indexer/sources/read-people.ts'
import { readPullAt, readRefsAt, readRepoAt } from '../../indexer/sources/read-records.ts'
import type { GitFault, PullRecord, RefsRecord, RepoRecord, RepositoryFacts, Stored } from '../../queue/facts.ts'
import { foldRepository } from '../../queue/fold.ts'
import { type FreshReads, layOver } from '../../queue/overlay.ts'
import { readStanding } from '../../queue/transfer.ts'
import type { PullView, RepositoryView } from '../../queue/view.ts'
import type { Act, Refusal } from '../../queue/words/refusals.ts'
import * as refusals from '../../queue/words/refusals.ts'
import type { ActionContext } from './context.ts'
import { knownFacts } from './known-facts.ts'
import { serverName } from './server-name.ts'
import { upstreamFault } from './upstream-fault.ts'

export interface Fresh {
  ok: true
  view: RepositoryView
  pull: PullView
  /** The refs records of the repository and of the head's, when they were read. */
  target?: Stored<RefsRecord> | undefined
  source?: Stored<RefsRecord> | undefined
}

type Refused = { ok: false; refusal: Refusal }

/**
 * The repository of a pull as it is now. For queueing, the pull, the repository, both git states and the caller's own records must be readable at
 * their sources (ADM-3; what was queued before must be seen, so that nothing is queued twice). Everything else takes what the index has where a source
 * does not answer, since it puts nothing into a queue.
 */
export async function readFresh(ctx: ActionContext, asked: { act: Act; pull: string; caller: Did }): Promise<Fresh | Refused> {
  const { act, pull: pullUri, caller } = asked
  const now = ctx.now()
  const reads: Reads = { ctx, act, now, strict: act === 'queue' }
  const known = loadPullFacts(ctx.database, pullUri)?.facts.pulls[0]
  // The repository of a pull hardly ever changes: it is read beside the pull, and again only where it did.
  const [pull, guessed] = await Promise.all([readPull(reads, pullUri), known && readRepo(reads, known.value.repo)])
  if (pull !== undefined && 'ok' in pull) return pull
  const present = pull ?? known
  if (present === undefined) return no(refusals.pullNotFound())

  const repo = present.value.repo === known?.value.repo ? guessed : await readRepo(reads, present.value.repo)
  if (repo !== undefined && 'ok' in repo) return repo
  const facts = knownFacts(ctx.database, { repo: present.value.repo, pulls: [present.uri], record: repo })
  if (facts === undefined) return no(refusals.repoNotFound(parseAtUri(present.value.repo)?.rkey ?? ''))
  const transferredTo = await readOtherEnd(reads, layOver(facts, { repo }))
  if (transferredTo !== undefined && transferredTo !== null && 'ok' in transferredTo) return transferredTo

  const records = { repo, transferredTo }
  const { governing, addresses } = readStanding(layOver(facts, records), now)
  const addressNow = (uri: string) => (addresses.has(uri) ? governing.uri : uri)
  const ends = { target: governing.uri, source: addressNow(present.value.head.repo) }
  const [git, people] = await Promise.all([
    readRefs(reads, ends),
    readPeople(ctx.reader, layOver(facts, records), { authors: [present.did], now }),
  ])
  if ('ok' in git) return git
  if (people.unreadQueue.has(caller) && reads.strict) {
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
  return no(refusals.upstreamFailed(reads.act, error.host, upstreamFault(error), true))
}

async function readPull(reads: Reads, uri: string): Promise<Stored<PullRecord> | Refused | undefined> {
  try {
    return (await readPullAt(reads.ctx.reader, uri, reads.now)) ?? no(refusals.pullNotFound())
  } catch (error) {
    return failed(reads, error)
  }
}

async function readRepo(reads: Reads, uri: string): Promise<Stored<RepoRecord> | Refused | undefined> {
  const read = await readRecord(reads, uri)
  return read === null ? no(refusals.repoNotFound(parseAtUri(uri)?.rkey ?? '')) : read
}

/** Null for a record that is not there, or cannot be used. */
async function readRecord(reads: Reads, uri: string): Promise<Stored<RepoRecord> | Refused | undefined | null> {
  try {
    return await readRepoAt(reads.ctx.reader, uri, reads.now)
  } catch (error) {
    return failed(reads, error)
  }
}

/** After a move the record at the new address says who may what (HON-4): it is read as well. Undefined when nothing has moved. */
async function readOtherEnd(reads: Reads, facts: RepositoryFacts): Promise<Stored<RepoRecord> | Refused | undefined | null> {
  const { governing } = readStanding(facts, reads.now)
  return governing.uri === facts.repo.uri ? undefined : await readRecord(reads, governing.uri)
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
  // Nothing but queueing asks anything of git.
  if (!reads.strict) return { refs, gitFaults }
  for (const repo of new Set([ends.target, ends.source])) {
    try {
      const read = await readRefsAt(reads.ctx.reader, repo, reads.now)
      refs.set(repo, read.record ?? null)
      if (read.record === undefined) gitFaults.set(repo, read.fault)
    } catch (error) {
      const refused = failed(reads, error)
      if (refused !== undefined) return refused
    }
  }
  return { refs, gitFaults }
}
