import { type Kysely, sql } from 'kysely'

/** What the queue settings at a branch's tip ask for, as JSON; absent where that was not looked at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table tip_facts add column settings text`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`alter table tip_facts drop column settings`.execute(db)
}
