/** Which pulls of a repository a fold has to look at. */
import { sql } from 'kysely'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'

/** Pulls that are open or may be. */
const MOST_OPEN = 5_000
/** Merged states looked through for the list of what landed, and batches kept per branch: one more than is shown. */
const MOST_MERGED = 300
const BATCHES_KEPT = 6

export interface ChosenPull {
  record_id: number
  uri: string
  branch: string
  head_repo: string
  settled: number
}

/** The pulls that are not settled for certain, and those that the last landings name. */
export function choosePulls(index: IndexDatabase, addresses: readonly string[], members: ReadonlySet<string>): ChosenPull[] {
  const chosen = addresses.flatMap(repo => [...openPulls(index, repo, MOST_OPEN), ...recentlyMerged(index, repo, members)])
  return [...new Map(chosen.map(pull => [pull.record_id, pull])).values()]
}

/**
 * A repository's pulls that are not settled for certain, `limit` at most: those that somebody named has touched come first. Where not all can be
 * taken every author's newest comes before anybody's second, so that nobody crowds others out by number.
 */
export function openPulls(index: IndexDatabase, repo: string, limit: number): (ChosenPull & { head_branch: string })[] {
  const base = index.db
    .selectFrom('pull')
    .select(['record_id', 'uri', 'branch', 'head_repo', 'head_branch', 'settled'])
    .where('repo', '=', repo)
    .where('settled', '=', 0)
    .orderBy('touched', 'desc')
  const newest = index.sync.all(base.orderBy('rkey', 'desc').limit(limit + 1))
  if (newest.length <= limit) return newest
  const turn = sql<number>`row_number() over (partition by did order by rkey desc)`
  return index.sync.all(base.orderBy(turn).orderBy('rkey', 'desc').limit(limit))
}

function recentlyMerged(index: IndexDatabase, repo: string, members: ReadonlySet<string>): ChosenPull[] {
  const query = index.db
    .selectFrom('state')
    .innerJoin('pull', 'pull.uri', 'state.subject')
    .select(['pull.record_id', 'pull.uri', 'pull.branch', 'pull.head_repo', 'pull.settled', 'state.batch', 'state.commit_id'])
    .where('state.repo', '=', repo)
    .where('state.state', '=', sql.lit('merged'))
    .where('state.did', 'in', oneOf(members))
    .where('state.sound', '=', 1)
    .orderBy('state.rkey', 'desc')
    .limit(MOST_MERGED)
  const batches = new Map<string, Set<string>>()
  return index.sync.all(query).filter(({ branch, batch, commit_id, uri }) => {
    const seen = batches.get(branch) ?? new Set()
    batches.set(branch, seen)
    const key = batch ?? commit_id ?? uri
    if (!seen.has(key) && seen.size >= BATCHES_KEPT) return false
    seen.add(key)
    return true
  })
}

/** One pull, settled or not. */
export function chooseOne(index: IndexDatabase, uri: string): (ChosenPull & { repo: string }) | undefined {
  return index.sync.first(
    index.db.selectFrom('pull').select(['record_id', 'uri', 'branch', 'head_repo', 'settled', 'repo']).where('uri', '=', uri),
  )
}
