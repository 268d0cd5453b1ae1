/** A repository's facts, gathered in one step so that they belong together. */
import type { CheckRecord, LanderRecord, RepoRecord, RepositoryFacts, Stored } from '../../queue/facts.ts'
import type { IndexDatabase } from '../database.ts'
import { type Bound, bind } from '../sync-queries.ts'
import { gitFaultsOf, mergeFaultsOf, mergesOf, refsOf, tipsOf } from './git-facts.ts'
import { oneOf } from './json-list.ts'
import { chooseOfBatches, tipsOfLanded } from './of-batch.ts'
import { choosePast } from './past-choice.ts'
import { type ChosenPull, chooseOne, choosePulls } from './pull-choice.ts'
import { batchChecksOf, checksAtTips, decisionsOf, pullChecksOf, pullsOf, queueRecordsOf, statesOf } from './pull-records.ts'
import { readLander, readRepo, readRows, recordColumns } from './stored.ts'

export interface LoadedFacts {
  facts: RepositoryFacts
  /** The repository's version that the facts are of. */
  version: number
  /** How many records were read. */
  rows: number
}

/**
 * What the rules need to answer about the repository at this address: its open pulls and the last landed, and the records about them by accounts
 * that can count. Undefined when there is no such repository. Whoever is not named, was not named before and is not the author has no record
 * in it (HON-2).
 */
export function loadFacts(index: IndexDatabase, repo: string): LoadedFacts | undefined {
  return index.sqlite.transaction(() => gather(index, repo, (addresses, members) => choosePulls(index, addresses, members)))()
}

/**
 * As `loadFacts`, with this pull only, settled or not, and where it landed in a batch those that landed with it (REA-5). Undefined when the pull or the
 * repository that it names is not known.
 */
export function loadPullFacts(index: IndexDatabase, pull: string): LoadedFacts | undefined {
  return index.sqlite.transaction(() => {
    const chosen = chooseOne(index, pull)
    if (chosen === undefined) return undefined
    let tips: string[] = []
    const choose = (addresses: readonly string[], members: ReadonlySet<string>) => {
      tips = tipsOfLanded(index, pull, members)
      const all = [chosen, ...chooseOfBatches(index, addresses, tips)]
      return [...new Map(all.map(each => [each.record_id, each])).values()]
    }
    return gather(index, chosen.repo, choose, (addresses, members) => checksAtTips(index, addresses, members, tips))
  })()
}

/**
 * As `loadFacts`, with the pulls onto one branch that its last `most` landings and ejections are about. Undefined when there is no such
 * repository.
 */
export function loadPastFacts(index: IndexDatabase, repo: string, past: { branch: string; most: number }): LoadedFacts | undefined {
  return index.sqlite.transaction(() => gather(index, repo, (addresses, members) => choosePast(index, addresses, members, past)))()
}

function gather(
  index: IndexDatabase,
  address: string,
  choose: (addresses: readonly string[], members: ReadonlySet<string>) => ChosenPull[],
  moreChecks?: (addresses: readonly string[], members: ReadonlySet<string>) => Stored<CheckRecord>[],
): LoadedFacts | undefined {
  const repo = repoAt(index, address)
  if (repo === undefined) return undefined
  const { transferredFrom, transferredTo } = otherEnds(index, repo)
  const addresses = [
    address,
    ...(transferredFrom === undefined ? [] : [transferredFrom.uri]),
    ...(transferredTo === undefined ? [] : [transferredTo.uri]),
  ]
  const members = membersOf(index, addresses)
  const chosen = choose(addresses, members)
  const uris = chosen.map(pull => pull.uri)
  // Of pulls that landed lately too: what their forks went on to is said of them (LND-10).
  const forks = chosen.map(pull => pull.head_repo)

  const refs = refsOf(index, new Set([...addresses, ...forks]))
  const pulls = pullsOf(index, new Set(chosen.map(pull => pull.record_id)))
  const states = statesOf(index, uris, members)
  const queue = queueRecordsOf(index, uris, members)
  const own = [...batchChecksOf(index, addresses, members), ...pullChecksOf(index, uris, members)]
  const checks = [...own, ...(moreChecks?.(addresses, members) ?? [])]
  const landers = landersOf(index, addresses, members)
  const commits = new Set(states.flatMap(state => state.value.commit ?? []))
  // Git is kept by the address that holds the refs now: after a move that is the new one.
  const tips = tipsOf(index, movedTo(index, address) ?? address, commits)
  const facts: RepositoryFacts = {
    repo,
    transferredFrom,
    transferredTo,
    refs,
    pulls,
    states,
    queue,
    checks: onceEach(checks),
    landers,
    decisions: decisionsOf(index, uris, members),
    gone: goneOf(index, new Set([...members, ...pulls.map(pull => pull.did)])),
    merges: mergesOf(index, uris),
    mergeFaults: mergeFaultsOf(index, uris),
    gitFaults: gitFaultsOf(index, new Set([...addresses, ...forks]), refs),
    tips,
  }
  const rows = refs.size + pulls.length + states.length + queue.length + checks.length + landers.length
  return { facts, version: versionOf(index, address), rows }
}

const versions = new WeakMap<IndexDatabase, Bound<{ repo: string }, { version: number }>>()

/** The version of what is known about a repository; 0 when nothing is. Asked for with every answer, so that it is prepared once. */
export function versionOf(index: IndexDatabase, repo: string): number {
  let read = versions.get(index)
  if (read === undefined) {
    read = bind<{ repo: string }, { version: number }>(index.sqlite, ['repo'], ({ repo: wanted }) =>
      index.db.selectFrom('repo_version').select('version').where('repo', '=', wanted),
    )
    versions.set(index, read)
  }
  return read.get({ repo })?.version ?? 0
}

/** A repository's own record, and those at the other ends of its transfers. Undefined when there is no such repository. */
export function repositoryRecords(
  index: IndexDatabase,
  address: string,
): Pick<RepositoryFacts, 'repo' | 'transferredFrom' | 'transferredTo'> | undefined {
  const repo = repoAt(index, address)
  return repo === undefined ? undefined : { repo, ...otherEnds(index, repo) }
}

/** The records at the other ends of transfers that both sides tell of (HON-4); whether they hold yet is the fold's to say. */
function otherEnds(index: IndexDatabase, repo: Stored<RepoRecord>): Pick<RepositoryFacts, 'transferredFrom' | 'transferredTo'> {
  const { transferredFrom: before, transferredTo: after } = repo.value
  const from = before === undefined ? undefined : repoAt(index, before)
  const to = after === undefined ? undefined : repoAt(index, after.repo)
  return {
    transferredFrom: from?.value.transferredTo?.repo === repo.uri ? from : undefined,
    transferredTo: to?.value.transferredFrom === repo.uri ? to : undefined,
  }
}

function repoAt(index: IndexDatabase, uri: string): Stored<RepoRecord> | undefined {
  const query = index.db
    .selectFrom('repo')
    .innerJoin('record', 'record.id', 'repo.record_id')
    .select(recordColumns)
    .where('repo.uri', '=', uri)
  const row = index.sync.first(query)
  return row === undefined ? undefined : readRepo(row)
}

function movedTo(index: IndexDatabase, uri: string): string | undefined {
  return index.sync.first(index.db.selectFrom('repo').select('moved_to').where('uri', '=', uri))?.moved_to ?? undefined
}

function membersOf(index: IndexDatabase, addresses: readonly string[]): Set<string> {
  const rows = index.sync.all(index.db.selectFrom('member').select('did').distinct().where('repo', 'in', oneOf(addresses)))
  return new Set(rows.map(row => row.did))
}

function landersOf(index: IndexDatabase, addresses: readonly string[], members: Iterable<string>): Stored<LanderRecord>[] {
  const rows = index.db
    .selectFrom('lander')
    .innerJoin('record', 'record.id', 'lander.record_id')
    .select(recordColumns)
    .where('lander.repo', 'in', oneOf(addresses))
    .where('lander.did', 'in', oneOf(members))
    .limit(500)
  return readRows(index.sync.all(rows), readLander)
}

function goneOf(index: IndexDatabase, dids: Iterable<string>): Set<string> {
  const rows = index.sync.all(index.db.selectFrom('account').select('did').where('did', 'in', oneOf(dids)).where('status', '!=', 'active'))
  return new Set(rows.map(row => row.did))
}

/** A batch's check can name a pull as well. */
function onceEach<T>(records: readonly Stored<T>[]): Stored<T>[] {
  return [...new Map(records.map(record => [record.uri, record])).values()]
}
