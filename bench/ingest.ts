/** Ingest: a stream of events, one in ten of them ours, against a bare loop that inserts the rows it comes to. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { migrate, openDatabase } from '../src/indexer/database.ts'
import { readStreamEvent } from '../src/indexer/ingest/events.ts'
import { createIngest } from '../src/indexer/ingest/queue.ts'
import { type Figure, figure, median } from './figures.ts'
import { createMaker, createTicker, makeRepository } from './made-up.ts'

const ROUNDS = 3

/** 200,000 frames as Jetstream sends them; `share` events in all. */
async function frames(events: number): Promise<object[]> {
  const ticker = createTicker(Date.now() - 30 * 86_400_000)
  const make = createMaker(ticker)
  const all: object[] = []
  for (let n = 0; all.length < events; n++) {
    const { events: made } = await makeRepository(make, `ingest-${n}`, { pulls: 24, queued: 4 })
    for (const { did, timeUs, collection, rkey, rev, operation, cid, record } of made) {
      if (all.length >= events) break
      const commit = { rev, operation, collection, rkey, cid, record }
      all.push({ did, time_us: timeUs, kind: 'commit', commit })
      for (let other = 1; other < 10; other++) {
        const post = { $type: 'app.bsky.feed.post', text: 'A pear is a pear.', createdAt: '2026-11-30T10:00:00.000Z' }
        all.push({ did, time_us: timeUs, kind: 'commit', commit: { ...commit, collection: 'app.bsky.feed.post', record: post } })
      }
    }
  }
  return all
}

type Rows = { table: string; columns: string[]; rows: unknown[][] }[]

/** Everything that an index holds, table by table. */
function rowsOf(path: string): Rows {
  const db = new Sqlite(path, { readonly: true })
  try {
    const tables = db
      .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%'")
      .pluck()
      .all()
    return tables.flatMap(table => {
      const rows = db.prepare(`select * from "${String(table)}"`)
      const columns = rows.columns().map(column => column.name)
      return {
        table: String(table),
        columns,
        rows: rows
          .raw()
          .all()
          .map(row => (Array.isArray(row) ? row : [])),
      }
    })
  } finally {
    db.close()
  }
}

/** The bare loop: prepared inserts into the same tables with the same indices, 500 rows a transaction as the ingest writes them. Milliseconds. */
async function bareLoop(dir: string, tables: Rows): Promise<number> {
  const path = join(dir, 'bare.sqlite')
  const database = openDatabase(path)
  await migrate(database.db)
  const inserts = tables.map(({ table, columns, rows }) => ({
    insert: database.sqlite.prepare(`insert or replace into "${table}" values (${columns.map(() => '?').join(', ')})`),
    rows,
  }))
  const started = performance.now()
  for (const { insert, rows } of inserts) {
    for (let from = 0; from < rows.length; from += 500) {
      database.transaction(() => {
        for (const row of rows.slice(from, from + 500)) insert.run(...row)
      })
    }
  }
  const took = performance.now() - started
  await database.close()
  rmSync(path, { force: true })
  return took
}

/** Frames in, rows out. Milliseconds from the first frame to the last row. */
async function ingest(path: string, stream: readonly object[]): Promise<number> {
  const index = openDatabase(path)
  await migrate(index.db)
  const queue = createIngest({
    index,
    now: Date.now,
    service: 'bench',
    failed: error => {
      throw error
    },
  })
  const started = performance.now()
  for (const frame of stream) {
    const event = readStreamEvent(frame, Date.now() * 1_000)
    if (event !== undefined) while (!queue.push(event)) await queue.room()
  }
  await queue.idle()
  const took = performance.now() - started
  await queue.stop()
  await index.close()
  return took
}

/** Measures `events` (200,000) against the bare loop, alternately, and gives the medians. */
export async function benchIngest(events = 200_000): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-bench-'))
  try {
    const stream = await frames(events)
    const ours: number[] = []
    const bare: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const path = join(dir, `index-${round}.sqlite`)
      ours.push(await ingest(path, stream))
      bare.push(await bareLoop(dir, rowsOf(path)))
      rmSync(path, { force: true })
    }
    const name = `ingest of ${events.toLocaleString('en')} events, one in ten ours`
    return [figure(name, median(ours), 'ms', { name: 'bare loop inserting the same rows', value: median(bare) }, 3)]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
