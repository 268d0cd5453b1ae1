import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMigrator, migrate, openDatabase } from '../../src/indexer/database.ts'
import { migrations } from '../../src/indexer/migrations/index.ts'
import { alice, bob, dave } from '../queue/made-up.ts'
import { contentOf, key, openBench, pullRecord, put, queueRecord, repoRecord, uriOf } from './support.ts'

const tablesOf = (names: { name: string }[]) =>
  names
    .map(row => row.name)
    .filter(name => !name.startsWith('kysely_') && !name.startsWith('sqlite_'))
    .sort()

test('every migration goes down and up again on a seeded database', async () => {
  const bench = await openBench()
  const { index } = bench
  const events = [
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    put(dave, 'pull', key(1), pullRecord(), 2),
    put(bob, 'queue', key(2), queueRecord(uriOf(dave, 'pull', key(1))), 3),
  ]
  await bench.take(...events)
  const before = contentOf(index)
  const tables = () => tablesOf(index.sqlite.prepare<[], { name: string }>("select name from sqlite_master where type = 'table'").all())
  const whole = tables()
  await bench.ingest.stop()
  const migrator = createMigrator(index.db)
  for (const name of Object.keys(migrations).toReversed()) {
    const { error, results } = await migrator.migrateDown()
    assert.deepEqual([error, results?.map(result => [result.migrationName, result.status])], [undefined, [[name, 'Success']]])
  }
  assert.deepEqual(tables(), [], 'nothing is left behind')
  await migrate(index.db)
  assert.deepEqual(tables(), whole)
  const again = await openBench()
  await again.take(...events)
  assert.deepEqual(contentOf(again.index), before)
  await again.close()
  await index.close()
})

test('migrations of other parts run in their own place and are kept when they are dated earlier', async () => {
  const index = openDatabase(':memory:')
  await migrate(index.db)
  const other = (table: string) => ({
    up: async (db: typeof index.db) => void (await db.schema.createTable(table).addColumn('id', 'integer').execute()),
    down: async (db: typeof index.db) => void (await db.schema.dropTable(table).execute()),
  })
  await migrate(index.db, { '2020-01-01-other': other('other'), '2999-01-01-later': other('later') })
  await migrate(index.db, { '2020-01-01-other': other('other'), '2999-01-01-later': other('later') })
  assert.equal(index.sqlite.prepare("select count(*) from sqlite_master where name in ('other', 'later')").pluck().get(), 2)
  const broken = { up: async () => Promise.reject(new Error('no such thing')), down: async () => {} }
  await assert.rejects(
    migrate(index.db, { '2020-01-01-other': other('other'), '2999-01-01-later': other('later'), '2999-01-02-broken': broken }),
    /no such thing/,
  )
  await index.close()
})
