import { type Kysely, sql } from 'kysely'

/** Why something is not known: refs records that cannot be used, and merges that git refused. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table unusable_refs (repo text primary key, code text not null, message text not null) without rowid`.execute(db)
  await sql`create table merge_fault (
    pull text primary key, repo text not null, tip text not null, head text not null, code text not null, message text not null
  ) without rowid`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['merge_fault', 'unusable_refs']) await db.schema.dropTable(table).execute()
}
