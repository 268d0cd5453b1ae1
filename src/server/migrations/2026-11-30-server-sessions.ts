import { type Kysely, sql } from 'kysely'

/** Web sessions, and what OAuth keeps: grants under way and grants that stand. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('web_session')
    .addColumn('id_hash', 'blob', column => column.primaryKey())
    .addColumn('name', 'text', column => column.notNull().unique())
    .addColumn('did', 'text', column => column.notNull())
    .addColumn('handle', 'text')
    .addColumn('user_agent', 'text', column => column.notNull())
    .addColumn('created_at', 'integer', column => column.notNull())
    .addColumn('used_at', 'integer', column => column.notNull())
    .addColumn('expires_at', 'integer', column => column.notNull())
    .execute()
  await db.schema.createIndex('web_session_did').on('web_session').column('did').execute()
  await db.schema.createIndex('web_session_expires').on('web_session').column('expires_at').execute()
  for (const table of ['oauth_state', 'oauth_session']) {
    await db.schema
      .createTable(table)
      .addColumn('client', 'text', column => column.notNull())
      .addColumn('key', 'text', column => column.notNull())
      .addColumn('sealed', 'blob', column => column.notNull())
      .addColumn('written_at', 'integer', column => column.notNull())
      .addPrimaryKeyConstraint(`${table}_key`, ['client', 'key'])
      .execute()
  }
  await sql`create index oauth_state_written on oauth_state (written_at)`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['oauth_session', 'oauth_state', 'web_session']) await db.schema.dropTable(table).execute()
}
