import { type Kysely, sql } from 'kysely'

/** Accounts of which records that named a repository too early were not kept. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table missed (repo text not null, did text not null, primary key (repo, did)) without rowid`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('missed').execute()
}
