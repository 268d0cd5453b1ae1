import type { ServerDb } from '../tables.ts'
import type { Seal } from './seal.ts'

/** A store of JSON values as the OAuth client takes it. */
export interface JsonStore {
  get(key: string): Promise<unknown>
  set(key: string, value: unknown): Promise<void>
  del(key: string): Promise<void>
}

/** Rows of one OAuth client, encrypted and bound to their place. A row that cannot be opened (another secret) counts as absent. */
export function createSealedStore(ctx: {
  db: ServerDb
  seal: Seal
  now: () => number
  table: 'oauth_state' | 'oauth_session'
  client: string
}): JsonStore {
  const { db, seal, table, client } = ctx
  const place = (key: string) => `${table}\n${client}\n${key}`
  return {
    async get(key) {
      const row = await db.selectFrom(table).select('sealed').where('client', '=', client).where('key', '=', key).executeTakeFirst()
      const text = row && seal.open(place(key), row.sealed)
      return text === undefined ? undefined : JSON.parse(text)
    },
    async set(key, value) {
      const row = { sealed: seal.close(place(key), JSON.stringify(value)), written_at: ctx.now() }
      await db
        .insertInto(table)
        .values({ client, key, ...row })
        .onConflict(conflict => conflict.columns(['client', 'key']).doUpdateSet(row))
        .execute()
    },
    async del(key) {
      await db.deleteFrom(table).where('client', '=', client).where('key', '=', key).execute()
    },
  }
}

/** Forgets log-ins that were begun before `before` and never came back. Gives how many. */
export async function purgeStates(db: ServerDb, before: number): Promise<number> {
  const result = await db.deleteFrom('oauth_state').where('written_at', '<', before).executeTakeFirst()
  return Number(result.numDeletedRows)
}
