/** Which pulls of a repository a fold has to look at. */
import { sql } from 'kysely'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'

/** Pulls that are open or may be: those that somebody named has touched come first, then the newest. */
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
  const chosen = addresses.flatMap(repo => [...openPulls(index, repo), ...recentlyMerged(index, repo, members)])
  return [...new Map(chosen.map(pull => [pull.record_id, pull])).values()]
}

function openPulls(index: IndexDatabase, repo: string): ChosenPull[] {
  const query = index.db
    .selectFrom('pull')
    .select(['record_id', 'uri', 'branch', 'head_repo', 'settled'])
    .where('repo', '=', repo)
    .where('settled', '=', 0)
    .orderBy('touched', 'desc')
    .orderBy('rkey', 'desc')
    .limit(MOST_OPEN)
  return index.sync.all(query)
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
