import { type Kysely, sql } from 'kysely'

/**
 * Batches and runs that ended, kept past their checks' pruning (REA-4). What the index holds already is kept by the first start after it: the rows
 * of `check_run` are gone through then.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table past_batch (
    id integer primary key, repo text not null, branch text not null, generation integer not null, did text not null, tip text not null,
    base text not null, members text not null, size integer not null, checks integer not null, outcome text, started_at integer,
    ended_at integer, longest_ms integer, unique (repo, tip, base, branch, did)
  )`.execute(db)
  await sql`create table past_run (
    uri text primary key, batch integer not null, workflow text not null, state text not null, verdict text, filed_at integer not null,
    started_at integer, ended_at integer not null, cause text, retried text
  ) without rowid`.execute(db)
  const indices = [
    'past_batch_ended on past_batch (repo, branch, ended_at)',
    'past_batch_age on past_batch (ended_at)',
    'past_run_batch on past_run (batch)',
    'queue_record_repo on queue_record (repo, rkey)',
    'check_run_tip on check_run (repo, commit_id) where is_batch = 1',
  ]
  for (const index of indices) await sql.raw(`create index ${index}`).execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const index of ['check_run_tip', 'queue_record_repo']) await sql.raw(`drop index ${index}`).execute(db)
  for (const table of ['past_run', 'past_batch']) await db.schema.dropTable(table).execute()
}
