import Sqlite from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { migrations } from './migrations/index.ts'
import type { Schema } from './schema.ts'
import { createSyncQueries, type SyncQueries } from './sync-queries.ts'

/** An open index. */
export interface IndexDatabase {
  /**
   * Single statements of other parts go through here. Several statements that belong together go through `transaction`: a transaction of
   * kysely's spans ticks and holds up everybody else's writes on this one connection.
   */
  readonly db: Kysely<Schema>
  readonly sqlite: Sqlite.Database
  /** Kysely's queries, run at once. */
  readonly sync: SyncQueries
  /** Runs `work`, which must not wait for anything, in one transaction. */
  transaction<T>(work: () => T): T
  close(): Promise<void>
}

/** Pages of the database kept in memory, in KiB. */
const CACHE_KIB = 24_000

/**
 * Opens the SQLite file at `path` (`:memory:` for none, bytes for a copy of a file in memory), creating it when it is not there. WAL, synchronous NORMAL: a crash of the machine may lose
 * the last moments, cursor and rows alike, and never leaves one without the other. Its tables come by `migrate`.
 */
export function openDatabase(path: string | Buffer): IndexDatabase {
  const sqlite = new Sqlite(path)
  sqlite.pragma('journal_mode = WAL')
  sqlite.pragma('synchronous = NORMAL')
  sqlite.pragma('busy_timeout = 5000')
  sqlite.pragma(`cache_size = -${CACHE_KIB}`)
  sqlite.pragma('wal_autocheckpoint = 4000')
  sqlite.pragma('temp_store = MEMORY')
  sqlite.pragma('journal_size_limit = 67108864')
  const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: sqlite }) })
  return {
    db,
    sqlite,
    sync: createSyncQueries(sqlite),
    transaction: work => sqlite.transaction(work).immediate(),
    async close() {
      if (sqlite.open) await db.destroy()
    },
  }
}

/** A migrator over the index's migrations and those of `others`, by dated name. Others' may be dated before ones that ran already. */
export function createMigrator(db: Kysely<Schema>, others: Readonly<Record<string, Migration>> = {}): Migrator {
  const all = { ...migrations, ...others }
  return new Migrator({ db, provider: { getMigrations: async () => all }, allowUnorderedMigrations: true })
}

/** Brings every table up to date. Throws when a migration fails; what had run before it stays. */
export async function migrate(db: Kysely<Schema>, others: Readonly<Record<string, Migration>> = {}): Promise<void> {
  const { error } = await createMigrator(db, others).migrateToLatest()
  if (error !== undefined) throw error instanceof Error ? error : new Error('a migration of the database failed', { cause: error })
}
