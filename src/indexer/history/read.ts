/** What is kept of batches that ended, as estimates and pages take it. */
import { sql } from 'kysely'
import type { BranchHistory, PastBatch, PastRun } from '../../queue/history.ts'
import type { KeptRun } from '../../queue/stats/kept.ts'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from '../read/json-list.ts'
import { createRemembered } from './remembered.ts'
import { isDecided, membersOf, runOf } from './rows.ts'

/** Batches that estimates go by. */
const LAST = 20
const MOST_RUNS = 2_000

const remembered = createRemembered<BranchHistory>(2_000)

/**
 * How the last batches of a branch went that ended with a verdict, newest first, 20 at most, by runners that the repository at this address names
 * or named; those of an older generation count for nothing (CHK-9). Remembered until something about the repository changes.
 */
export function historyOf(
  index: IndexDatabase,
  repo: string,
  { branch, generation }: { branch: string; generation: number },
): BranchHistory {
  return remembered(index, repo, [branch, generation], () => ({ batches: lastBatches(index, repo, { branch, generation }) }))
}

function lastBatches(index: IndexDatabase, repo: string, { branch, generation }: { branch: string; generation: number }): PastBatch[] {
  const rows = index.sync.all(
    index.db
      .selectFrom('past_batch as b')
      .select(['id', 'branch', 'base', 'tip', 'did', 'size', 'outcome', 'started_at', 'ended_at'])
      .where('repo', 'in', oneOf(addressesOf(index, repo)))
      .where('branch', '=', branch)
      .where('generation', '=', generation)
      .where('outcome', 'in', ['passed', 'failed'])
      .where('did', 'in', oneOf(runnersOf(index, repo)))
      .where(sql<boolean>`${sql.raw(isDecided)}`)
      .orderBy('ended_at', 'desc')
      .limit(LAST),
  )
  const runs = runsOf(index, rows)
  return rows.flatMap(({ id, did, outcome, started_at, ended_at, ...row }) => {
    if (outcome === null || started_at === null || ended_at === null) return []
    return [{ ...row, runner: did, outcome, startedAt: started_at, endedAt: ended_at, runs: (runs.get(id) ?? []).map(pastRun) }]
  })
}

function pastRun({ workflow, state, startedAt, endedAt }: KeptRun): PastRun {
  return { workflow, state, startedAt, finishedAt: endedAt }
}

/** A batch that ended or some of whose runs did, with its members. */
export interface KeptBatchView {
  repo: string
  branch: string
  base: string
  tip: string
  runner: string
  members: readonly { pull: string; head: string; commit: string }[]
  /** How many checks it has; 0 where they do not say. */
  of: number
  outcome?: PastBatch['outcome'] | undefined
  startedAt?: number | undefined
  endedAt?: number | undefined
  runs: readonly KeptRun[]
}

/** What is kept of the batches at this commit, the last that ended first (REA-5: also when their checks are pruned); at most 20. */
export function keptBatchesAt(index: IndexDatabase, repo: string, tip: string): KeptBatchView[] {
  const rows = index.sync.all(
    index.db
      .selectFrom('past_batch')
      .selectAll()
      .where('repo', 'in', oneOf(addressesOf(index, repo)))
      .where('tip', '=', tip)
      .where('did', 'in', oneOf(runnersOf(index, repo)))
      .orderBy('ended_at', 'desc')
      .limit(LAST),
  )
  const runs = runsOf(index, rows)
  return rows.map(({ id, did, members, checks, outcome, started_at, ended_at, repo: at, branch, base, tip: commit }) => ({
    repo: at,
    branch,
    base,
    tip: commit,
    runner: did,
    members: membersOf(members),
    of: checks,
    outcome: outcome ?? undefined,
    startedAt: started_at ?? undefined,
    endedAt: ended_at ?? undefined,
    runs: runs.get(id) ?? [],
  }))
}

/** The addresses that a repository has or had by transfers that hold (HON-4). */
export function addressesOf({ sync, db }: IndexDatabase, repo: string): string[] {
  const rows = sync.all(
    db
      .selectFrom('repo')
      .select(['uri', 'moved_to'])
      .where(eb => eb.or([eb('uri', '=', repo), eb('moved_to', '=', repo)])),
  )
  return [...new Set([repo, ...rows.flatMap(row => (row.moved_to === null ? [row.uri] : [row.uri, row.moved_to]))])]
}

/** Runners that count: those that are named, and those that were (what is kept was filed while they were). */
export function runnersOf({ sync, db }: IndexDatabase, repo: string): string[] {
  const rows = sync.all(db.selectFrom('member').select('did').distinct().where('repo', '=', repo).where('role', 'in', ['runner', 'former']))
  return rows.map(row => row.did)
}

/** The runs of these batches, by the numbers of their rows. */
function runsOf({ sync, db }: IndexDatabase, batches: readonly { id: number }[]): Map<number, KeptRun[]> {
  const found = new Map<number, KeptRun[]>()
  if (batches.length === 0) return found
  const ids = oneOf(batches.map(({ id }) => id))
  for (const row of sync.all(db.selectFrom('past_run').selectAll().where('batch', 'in', ids).orderBy('workflow').limit(MOST_RUNS))) {
    const runs = found.get(row.batch) ?? []
    runs.push(runOf(row))
    found.set(row.batch, runs)
  }
  return found
}
