import { type Kysely, sql } from 'kysely'

/** Records as they came, who holds them, how far the stream was read, and what was passed over. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('record')
    .addColumn('id', 'integer', column => column.primaryKey())
    .addColumn('uri', 'text', column => column.notNull().unique())
    .addColumn('did', 'text', column => column.notNull())
    .addColumn('collection', 'text', column => column.notNull())
    .addColumn('rkey', 'text', column => column.notNull())
    .addColumn('cid', 'text')
    .addColumn('rev', 'text', column => column.notNull())
    .addColumn('json', 'text')
    .addColumn('deleted', 'integer', column => column.notNull().defaultTo(0))
    .addColumn('seen_at', 'integer', column => column.notNull())
    .addColumn('backfilled', 'integer', column => column.notNull().defaultTo(0))
    .execute()
  await sql`create index record_tombstone on record (seen_at) where deleted = 1`.execute(db)

  await db.schema
    .createTable('waiting')
    .addColumn('record_id', 'integer', column => column.primaryKey())
    .addColumn('repo', 'text', column => column.notNull())
    .addColumn('did', 'text', column => column.notNull())
    .addColumn('since', 'integer', column => column.notNull())
    .execute()
  await db.schema.createIndex('waiting_repo').on('waiting').column('repo').execute()
  await db.schema.createIndex('waiting_did').on('waiting').column('did').execute()
  await db.schema.createIndex('waiting_since').on('waiting').column('since').execute()

  await db.schema
    .createTable('account')
    .addColumn('did', 'text', column => column.primaryKey())
    .addColumn('handle', 'text')
    .addColumn('pds', 'text')
    .addColumn('status', 'text', column => column.notNull().defaultTo('active'))
    .addColumn('status_at', 'integer', column => column.notNull().defaultTo(0))
    .addColumn('resolved_at', 'integer')
    .execute()
  await db.schema.createIndex('account_handle').on('account').column('handle').execute()

  await db.schema
    .createTable('cursor')
    .addColumn('service', 'text', column => column.primaryKey())
    .addColumn('time_us', 'integer', column => column.notNull())
    .addColumn('saved_at', 'integer', column => column.notNull())
    .execute()
  await db.schema
    .createTable('ignored')
    .addColumn('reason', 'text', column => column.primaryKey())
    .addColumn('count', 'integer', column => column.notNull())
    .execute()
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['ignored', 'cursor', 'account', 'waiting', 'record']) await db.schema.dropTable(table).execute()
}
