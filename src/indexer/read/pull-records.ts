/** Records about chosen pulls, by writers that can count. Bounded per pull and writer, so that nobody can crowd out anybody else's. */
import { type SqlBool, sql } from 'kysely'
import type { CheckRecord, DecisionRecord, PullRecord, QueueRecord, StateRecord, Stored } from '../../queue/facts.ts'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'
import { readCheck, readDecision, readPull, readQueueRecord, readRows, readState, recordColumns } from './stored.ts'

const MOST_PER_WRITER = 200
const MOST_CHECKS_PER_WRITER = 50
const MOST_DECISIONS_PER_WRITER = 50
const MOST_BATCH_CHECKS = 500

/** Pulls by the numbers of their rows. */
export function pullsOf(index: IndexDatabase, ids: Iterable<number>): Stored<PullRecord>[] {
  return readRows(index.sync.all(index.db.selectFrom('record').select(recordColumns).where('record.id', 'in', oneOf(ids))), readPull)
}

/** State records by `members`, and by each pull's author. */
export function statesOf(index: IndexDatabase, pulls: Iterable<string>, members: Iterable<string>): Stored<StateRecord>[] {
  const newest = index.db
    .selectFrom('state')
    .innerJoin('pull', 'pull.uri', 'state.subject')
    .select(['state.record_id', sql<number>`row_number() over (partition by state.subject, state.did order by state.rkey desc)`.as('n')])
    .where('state.subject', 'in', oneOf(pulls))
    .where(eb => eb.or([eb('state.did', 'in', oneOf(members)), sql<SqlBool>`state.did = pull.did`]))
  const rows = index.db
    .selectFrom(newest.as('newest'))
    .innerJoin('record', 'record.id', 'newest.record_id')
    .select(recordColumns)
    .where('newest.n', '<=', MOST_PER_WRITER)
  return readRows(index.sync.all(rows), readState)
}

/** Queue records about these pulls. */
export function queueRecordsOf(index: IndexDatabase, pulls: Iterable<string>, members: Iterable<string>): Stored<QueueRecord>[] {
  return readRows(newestAbout(index, 'queue_record', { pulls, members, most: MOST_PER_WRITER }), readQueueRecord)
}

/** What members' stewards decided about pulls. */
export function decisionsOf(index: IndexDatabase, pulls: Iterable<string>, members: Iterable<string>): Stored<DecisionRecord>[] {
  return readRows(newestAbout(index, 'decision', { pulls, members, most: MOST_DECISIONS_PER_WRITER }), readDecision)
}

/** Records about pulls, the last `most` of each writer about each. */
function newestAbout(
  index: IndexDatabase,
  table: 'queue_record' | 'decision',
  { pulls, members, most }: { pulls: Iterable<string>; members: Iterable<string>; most: number },
) {
  const newest = index.db
    .selectFrom(table)
    .select(['record_id', sql<number>`row_number() over (partition by subject, did order by rkey desc)`.as('n')])
    .where('subject', 'in', oneOf(pulls))
    .where('did', 'in', oneOf(members))
  const rows = index.db
    .selectFrom(newest.as('newest'))
    .innerJoin('record', 'record.id', 'newest.record_id')
    .select(recordColumns)
    .where('newest.n', '<=', most)
  return index.sync.all(rows)
}

/** Runs of pulls' own, newest first. */
export function pullChecksOf(index: IndexDatabase, pulls: Iterable<string>, members: Iterable<string>): Stored<CheckRecord>[] {
  const newest = index.db
    .selectFrom('check_run')
    .select(['record_id', 'filed_at', sql<number>`row_number() over (partition by pull, did order by filed_at desc)`.as('n')])
    .where('pull', 'in', oneOf(pulls))
    .where('did', 'in', oneOf(members))
  const rows = index.db
    .selectFrom(newest.as('newest'))
    .innerJoin('record', 'record.id', 'newest.record_id')
    .select(recordColumns)
    .where('newest.n', '<=', MOST_CHECKS_PER_WRITER)
    .orderBy('newest.filed_at', 'desc')
  return readRows(index.sync.all(rows), readCheck)
}

/** Runs of batches, newest first. */
export function batchChecksOf(index: IndexDatabase, addresses: readonly string[], members: Iterable<string>): Stored<CheckRecord>[] {
  return addresses.flatMap(repo => readRows(index.sync.all(batchChecksAt(index, repo, members)), readCheck))
}

/** Runs of the batches with these tips, however old, newest first. */
export function checksAtTips(
  index: IndexDatabase,
  addresses: readonly string[],
  members: Iterable<string>,
  tips: readonly string[],
): Stored<CheckRecord>[] {
  if (tips.length === 0) return []
  return addresses.flatMap(repo =>
    readRows(index.sync.all(batchChecksAt(index, repo, members).where('check_run.commit_id', 'in', oneOf(tips))), readCheck),
  )
}

function batchChecksAt(index: IndexDatabase, repo: string, members: Iterable<string>) {
  return index.db
    .selectFrom('check_run')
    .innerJoin('record', 'record.id', 'check_run.record_id')
    .select(recordColumns)
    .where('check_run.repo', '=', repo)
    .where('check_run.is_batch', '=', sql.lit(1))
    .where('check_run.did', 'in', oneOf(members))
    .orderBy('check_run.filed_at', 'desc')
    .limit(MOST_BATCH_CHECKS)
}
