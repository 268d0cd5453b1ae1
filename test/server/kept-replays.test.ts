import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrate, openDatabase } from '../../src/indexer/database.ts'
import { createKeptReplays } from '../../src/server/auth/kept-replays.ts'
import { migrations } from '../../src/server/migrations/index.ts'

const START = Date.UTC(2026, 10, 30)

test('GWY-10 a token is spent once over restarts and for every process of one database, and forgotten when it has expired', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-replays-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  let now = START
  const open = async () => {
    const database = openDatabase(join(dir, 'index.sqlite'))
    await migrate(database.db, migrations)
    return { database, replays: createKeptReplays({ database, now: () => now }) }
  }
  const first = await open()
  const second = await open()
  const exp = START / 1000 + 60
  assert.equal(first.replays.isSpent('did:plc:a', 'one'), false)
  assert.equal(first.replays.spend('did:plc:a', 'one', exp), 'ok')
  assert.equal(first.replays.spend('did:plc:a', 'one', exp), 'spent')
  assert.equal(second.replays.isSpent('did:plc:a', 'one'), true)
  assert.equal(second.replays.spend('did:plc:a', 'one', exp), 'spent')
  assert.equal(second.replays.spend('did:plc:b', 'one', exp), 'ok')
  await first.database.close()
  const again = await open()
  assert.equal(again.replays.isSpent('did:plc:a', 'one'), true)
  const rows = () => again.database.sqlite.prepare('select count(*) as count from spent_token').get()
  again.replays.purge()
  assert.deepEqual(rows(), { count: 2 })
  now = START + 61_000
  again.replays.purge()
  assert.deepEqual(rows(), { count: 0 })
  await second.database.close()
  await again.database.close()
})
