import { type Kysely, sql } from 'kysely'

/** The paths that a pull changes, as a JSON array; absent where that was not looked at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table merge_result add column touched text`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table merge_result drop column touched`.execute(db)
}
