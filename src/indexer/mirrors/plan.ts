/** What of a repository is to be looked at in git, as the index has it now. */
import { sql } from 'kysely'
import type { RefsRecord, RepoRecord, Stored } from '../../queue/facts.ts'
import type { IndexDatabase } from '../database.ts'
import { mergeFaultsOf, refsOf } from '../read/git-facts.ts'
import { oneOf } from '../read/json-list.ts'
import { openPulls } from '../read/pull-choice.ts'
import { readRepo, recordColumns } from '../read/stored.ts'

/** Pulls of one address whose merges are kept. */
const MOST_PULLS = 500
/** Merged commits looked for on a branch per pass, newest first. */
const MOST_MERGED = 60

export interface PlannedPull {
  uri: string
  branch: string
  tip: string
  head: string
  headRepo: string
}

export interface Plan {
  repo: string
  refs: Stored<RefsRecord>
  /** Refs records of forks that hold heads. */
  forks: ReadonlyMap<string, Stored<RefsRecord>>
  /** Merges that are not known at the present tip and head. */
  pulls: PlannedPull[]
  /** Branches with their tips: the default one, those with a rule, those that open or lately merged pulls name. */
  tips: ReadonlyMap<string, string>
  /** Commits of merged states, by branch. */
  merged: ReadonlyMap<string, ReadonlySet<string>>
}

/** Undefined when there is nothing to look at: no repository, no refs yet, or moved away. `also`: merged pulls that somebody looks at. */
export function planPass(index: IndexDatabase, repo: string, also: Iterable<string> = []): Plan | undefined {
  const { db, sync } = index
  const row = sync.first(
    db
      .selectFrom('repo')
      .innerJoin('record', 'record.id', 'repo.record_id')
      .select([...recordColumns, 'repo.moved_to'])
      .where('repo.uri', '=', repo),
  )
  const record = row === undefined || row.moved_to !== null ? undefined : readRepo(row)
  const refs = refsOf(index, [repo]).get(repo)
  if (record === undefined || refs === undefined) return undefined
  const addresses = [repo, ...sync.all(db.selectFrom('repo').select('uri').where('moved_to', '=', repo)).map(other => other.uri)]
  const open = addresses.flatMap(address => openPulls(index, address, MOST_PULLS))
  const forks = refsOf(index, new Set(open.map(pull => pull.head_repo)))
  const branches = branchesOf(refs)
  const heads = new Map([...forks].map(([uri, fork]) => [uri, branchesOf(fork)]))
  const merged = mergedCommits(index, addresses, also)
  return {
    repo,
    refs,
    forks,
    pulls: missingMerges(index, open, pull => ({ tip: branches.get(pull.branch), head: heads.get(pull.head_repo)?.get(pull.head_branch) })),
    tips: tipsOf(record, [...open.map(pull => pull.branch), ...merged.keys()], branches),
    merged,
  }
}

interface OpenPull {
  uri: string
  branch: string
  head_repo: string
  head_branch: string
}

function missingMerges(
  index: IndexDatabase,
  open: readonly OpenPull[],
  ends: (pull: OpenPull) => { tip: string | undefined; head: string | undefined },
): PlannedPull[] {
  const uris = oneOf(open.map(pull => pull.uri))
  const rows = index.sync.all(index.db.selectFrom('merge_result').select(['pull', 'tip', 'head']).where('pull', 'in', uris))
  const known = new Map(rows.map(row => [row.pull, row]))
  const faults = mergeFaultsOf(
    index,
    open.map(pull => pull.uri),
  )
  return open.flatMap(pull => {
    const { tip, head } = ends(pull)
    const result = known.get(pull.uri)
    const fault = faults.get(pull.uri)
    if (tip === undefined || head === undefined || (result?.tip === tip && result.head === head)) return []
    if (fault?.passing === false && fault.tip === tip && fault.head === head) return []
    return [{ uri: pull.uri, branch: pull.branch, tip, head, headRepo: pull.head_repo }]
  })
}

function mergedCommits(index: IndexDatabase, addresses: readonly string[], also: Iterable<string>): Map<string, Set<string>> {
  const base = index.db
    .selectFrom('state')
    .innerJoin('pull', 'pull.uri', 'state.subject')
    .select(['pull.branch', 'state.commit_id'])
    .where('state.state', '=', sql.lit('merged'))
    .where('state.commit_id', 'is not', null)
    .where('state.did', 'in', eb => eb.selectFrom('member').select('did').where('repo', 'in', oneOf(addresses)))
  const recent = addresses.flatMap(repo =>
    index.sync.all(base.where('state.repo', '=', repo).orderBy('state.rkey', 'desc').limit(MOST_MERGED)),
  )
  const asked = index.sync.all(base.where('state.subject', 'in', oneOf(also)).limit(MOST_MERGED))
  const merged = new Map<string, Set<string>>()
  for (const { branch, commit_id } of [...recent, ...asked]) {
    if (commit_id === null) continue
    const commits = merged.get(branch) ?? new Set()
    merged.set(branch, commits.add(commit_id))
  }
  return merged
}

function tipsOf({ value }: Stored<RepoRecord>, named: readonly string[], branches: ReadonlyMap<string, string>): Map<string, string> {
  const names = new Set([value.defaultBranch, ...(value.protections ?? []).map(rule => rule.branch), ...named])
  return new Map([...names].flatMap(name => (branches.has(name) ? [[name, branches.get(name) ?? '']] : [])))
}

/** Branch names without refs/heads/, and where they are. */
function branchesOf(refs: Stored<RefsRecord>): Map<string, string> {
  const heads = 'refs/heads/'
  return new Map(refs.value.refs.flatMap(ref => (ref.name.startsWith(heads) ? [[ref.name.slice(heads.length), ref.commit] as const] : [])))
}
