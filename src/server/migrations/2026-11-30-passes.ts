import type { Kysely } from 'kysely'

/** The last pass that each runner told of, by repository. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('lander_pass')
    .addColumn('repo', 'text', column => column.notNull())
    .addColumn('did', 'text', column => column.notNull())
    .addColumn('at', 'integer', column => column.notNull())
    .addColumn('due_at', 'integer')
    .addColumn('says', 'text')
    .addPrimaryKeyConstraint('lander_pass_key', ['repo', 'did'])
    .execute()
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('lander_pass').execute()
}
