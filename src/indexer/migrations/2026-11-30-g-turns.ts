import { type Kysely, sql } from 'kysely'

/** For what reads a branch's past and a person's pulls. */
const indices = {
  queue_record_ejected: "queue_record (repo, rkey) where state = 'ejected'",
  pull_author: 'pull (did, settled, rkey)',
}

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, on] of Object.entries(indices)) await sql.raw(`create index ${name} on ${on}`).execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const name of Object.keys(indices)) await db.schema.dropIndex(name).execute()
}
