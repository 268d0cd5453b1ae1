import type { Kysely } from 'kysely'

/** What owners gave this server, and leases that processes hold over the same database. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('delegation')
    .addColumn('did', 'text', column => column.primaryKey())
    .addColumn('given_at', 'integer', column => column.notNull())
    .addColumn('until', 'integer', column => column.notNull())
    .addColumn('due_at', 'integer', column => column.notNull())
    .addColumn('ended_at', 'integer')
    .addColumn('why', 'text')
    .execute()
  await db.schema.createIndex('delegation_due').on('delegation').columns(['ended_at', 'due_at']).execute()
  await db.schema
    .createTable('lease')
    .addColumn('name', 'text', column => column.primaryKey())
    .addColumn('holder', 'text', column => column.notNull())
    .addColumn('until', 'integer', column => column.notNull())
    .execute()
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['lease', 'delegation']) await db.schema.dropTable(table).execute()
}
