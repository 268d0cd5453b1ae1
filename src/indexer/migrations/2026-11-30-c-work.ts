import { type Kysely, sql } from 'kysely'

/** What the background work found out and how far it came: merges and tips, mirrors, backfill. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('merge_result')
    .addColumn('pull', 'text', column => column.primaryKey())
    .addColumn('repo', 'text', column => column.notNull())
    .addColumn('tip', 'text', column => column.notNull())
    .addColumn('head', 'text', column => column.notNull())
    .addColumn('applies', 'integer', column => column.notNull())
    .addColumn('conflicts', 'text', column => column.notNull())
    .addColumn('more_conflicts', 'integer', column => column.notNull())
    .addColumn('changes_checks', 'integer', column => column.notNull())
    .addColumn('empty', 'integer', column => column.notNull())
    .execute()
  await db.schema.createIndex('merge_result_repo').on('merge_result').column('repo').execute()

  await sql`create table tip_facts (
    repo text not null, branch text not null, tip text not null, workflows text not null, line integer not null,
    primary key (repo, branch)
  ) without rowid`.execute(db)
  await sql`create table commit_on_branch (
    repo text not null, branch text not null, commit_id text not null, there integer not null, line integer not null, tip text not null,
    primary key (repo, branch, commit_id)
  ) without rowid`.execute(db)

  await db.schema
    .createTable('mirror_state')
    .addColumn('repo', 'text', column => column.primaryKey())
    .addColumn('status', 'text', column => column.notNull())
    .addColumn('code', 'text')
    .addColumn('message', 'text')
    .addColumn('refs_cid', 'text')
    .addColumn('synced_at', 'integer')
    .addColumn('failed_at', 'integer')
    .addColumn('tries', 'integer', column => column.notNull().defaultTo(0))
    .execute()

  await db.schema
    .createTable('backfill')
    .addColumn('subject', 'text', column => column.primaryKey())
    .addColumn('kind', 'text', column => column.notNull())
    .addColumn('priority', 'integer', column => column.notNull())
    .addColumn('state', 'text', column => column.notNull())
    .addColumn('rev', 'text')
    .addColumn('progress', 'text')
    .addColumn('tries', 'integer', column => column.notNull().defaultTo(0))
    .addColumn('next_at', 'integer', column => column.notNull().defaultTo(0))
    .addColumn('error', 'text')
    .execute()
  await sql`create index backfill_pending on backfill (priority, next_at) where state = 'pending'`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  const tables = ['backfill', 'mirror_state', 'commit_on_branch', 'tip_facts', 'merge_result']
  for (const table of tables) await db.schema.dropTable(table).execute()
}
