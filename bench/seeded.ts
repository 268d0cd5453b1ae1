/** Indexes of a given size, as a server finds them at its start. */
import Sqlite from 'better-sqlite3'
import { migrate, openDatabase } from '../src/indexer/database.ts'
import { createIngest } from '../src/indexer/ingest/queue.ts'
import { commitOf, createMaker, createTicker, type MadeRepository, makeRepository } from './made-up.ts'

/** Records of an ordinary repository here: its own, 24 landed pulls with 4 each, one queued with 2. */
const EACH = { pulls: 25, queued: 1, refs: false }

export interface Seeded {
  path: string
  records: number
  /** The repository whose branch has the long queue. */
  busy: MadeRepository
}

/** An index at `path` of so many repositories, one of them with `queued` pulls in its queue. */
export async function seed(path: string, size: { repositories: number; queued: number }): Promise<Seeded> {
  const index = openDatabase(path)
  await migrate(index.db)
  const ingest = createIngest({
    index,
    now: Date.now,
    service: 'bench',
    failed: error => {
      throw error
    },
  })
  const make = createMaker(createTicker(Date.now() - 20 * 86_400_000))
  let records = 0
  const take = async (repository: MadeRepository) => {
    records += repository.events.length
    await ingest.submit(repository.events)
    return repository
  }
  for (let n = 1; n < size.repositories; n++) await take(await makeRepository(make, String(n), EACH))
  const busy = await take(await makeRepository(make, 'busy', { pulls: size.queued + 25, queued: size.queued }))
  await ingest.idle()
  await ingest.stop()
  settle(index.sqlite, busy)
  index.sqlite.pragma('wal_checkpoint(TRUNCATE)')
  index.sqlite.exec('analyze')
  await index.close()
  return { path, records, busy }
}

/** Lets an index be one that followed this Jetstream until now: another one would be a gap, after which everybody is read again. */
export function followed(path: string, jetstreamUrl: string): void {
  const sqlite = new Sqlite(path)
  sqlite.exec('delete from cursor')
  sqlite
    .prepare('insert into cursor (service, time_us, saved_at) values (?, ?, ?)')
    .run(new URL(jetstreamUrl).host, Date.now() * 1_000, Date.now())
  sqlite.close()
}

/** What backfill and git would have said: the accounts are made up, so that there is nobody to ask. */
function settle(sqlite: ReturnType<typeof openDatabase>['sqlite'], busy: MadeRepository): void {
  sqlite.exec("update backfill set state = 'done'")
  sqlite.exec(
    "insert or replace into account (did, handle, pds, status, status_at, resolved_at) select did, null, null, 'active', 0, 4102444800000 from (select distinct did from record)",
  )
  const merge = sqlite.prepare(
    'insert or replace into merge_result (pull, repo, tip, head, applies, conflicts, more_conflicts, changes_checks, empty) values (?, ?, ?, ?, 1, ?, 0, 0, 0)',
  )
  for (const [n, pull] of busy.pulls.entries()) merge.run(pull, busy.uri, commitOf('busy'), commitOf(`busy ${n}`), '[]')
}
