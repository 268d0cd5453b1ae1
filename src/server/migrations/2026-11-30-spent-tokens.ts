import { type Kysely, sql } from 'kysely'

/** Service tokens that were used, until they expire. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table spent_token (issuer text not null, jti text not null, exp integer not null, primary key (issuer, jti)) without rowid`.execute(
    db,
  )
  await db.schema.createIndex('spent_token_exp').on('spent_token').column('exp').execute()
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('spent_token').execute()
}
