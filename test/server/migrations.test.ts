import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMigrator, migrate, openDatabase } from '../../src/indexer/database.ts'
import { migrations as indexMigrations } from '../../src/indexer/migrations/index.ts'
import { migrations } from '../../src/server/migrations/index.ts'
import type { ServerTables } from '../../src/server/tables.ts'

const sessionsOnly = Object.fromEntries(Object.entries(migrations).filter(([name]) => name.endsWith('server-sessions')))

test('a database of the version before gets the new tables, and keeps what it has', async () => {
  const database = openDatabase(':memory:')
  try {
    await migrate(database.db, sessionsOnly)
    const db = database.db.withTables<ServerTables>()
    const kept = { client: 'log-in', key: 'did:plc:x', sealed: Buffer.from('sealed'), written_at: 5 }
    await db.insertInto('oauth_session').values(kept).execute()
    await migrate(database.db, migrations)
    assert.deepEqual(await db.selectFrom('oauth_session').selectAll().execute(), [kept])
    assert.deepEqual(await db.selectFrom('delegation').selectAll().execute(), [])
    assert.deepEqual(await db.selectFrom('audit').selectAll().execute(), [])
  } finally {
    await database.close()
  }
})

test('every migration of the server goes down and up again on a seeded database', async () => {
  const database = openDatabase(':memory:')
  try {
    await migrate(database.db, migrations)
    const db = database.db.withTables<ServerTables>()
    await db.insertInto('delegation').values({ did: 'did:plc:x', given_at: 1, until: 2, due_at: 3, ended_at: null, why: null }).execute()
    await db.insertInto('lease').values({ name: 'x', holder: 'y', until: 1 }).execute()
    const schema = () => database.sqlite.prepare('select type, name, sql from sqlite_master order by type, name').all()
    const whole = schema()
    const migrator = createMigrator(database.db, migrations)
    for (let n = 0; n < Object.keys({ ...indexMigrations, ...migrations }).length; n++) {
      const { error } = await migrator.migrateDown()
      assert.equal(error, undefined)
    }
    const left = database.sqlite.prepare("select name from sqlite_master where name not like 'kysely%' and name not like 'sqlite%'").all()
    assert.deepEqual(left, [], 'nothing is left behind')
    await migrate(database.db, migrations)
    assert.deepEqual(schema(), whole)
  } finally {
    await database.close()
  }
})
