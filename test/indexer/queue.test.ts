import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIngest } from '../../src/indexer/ingest/queue.ts'
import { alice, bob, dave } from '../queue/made-up.ts'
import { key, openBench, pullRecord, put, queueRecord, repoRecord, uriOf } from './support.ts'

const repo = put(alice, 'repo', 'orchard', repoRecord(), 1)
const pullAt = (n: number) => put(dave, 'pull', key(n), pullRecord(), n)

test('the cursor is written with the rows that it covers', async () => {
  const bench = await openBench()
  assert.equal(bench.ingest.cursor(), undefined)
  assert.ok(bench.ingest.push(repo) && bench.ingest.push(pullAt(7)))
  assert.equal(bench.ingest.cursor(), undefined, 'nothing is written yet')
  await bench.ingest.idle()
  assert.equal(bench.ingest.cursor(), pullAt(7).timeUs)
  bench.ingest.push(pullAt(3))
  await bench.ingest.idle()
  assert.equal(bench.ingest.cursor(), pullAt(7).timeUs, 'it never goes back')
  bench.ingest.startAt(5)
  assert.equal(bench.ingest.cursor(), pullAt(7).timeUs)
  await bench.close()
})

test('another stream goes on from where the one before was left', async () => {
  const bench = await openBench()
  bench.ingest.push(pullAt(7))
  await bench.ingest.idle()
  const other = createIngest({ index: bench.index, now: Date.now, service: 'another', failed: error => assert.fail(String(error)) })
  assert.equal(other.cursor(), pullAt(7).timeUs)
  other.push(pullAt(8))
  await other.idle()
  assert.deepEqual([other.cursor(), bench.ingest.cursor()], [pullAt(8).timeUs, pullAt(7).timeUs])
  await other.stop()
  await bench.close()
})

test('the time of events that do not concern the index moves the cursor too', async () => {
  let now = 1_000_000
  const bench = await openBench({ now: () => now })
  bench.ingest.push({ kind: 'other', timeUs: 50 })
  now += 2_000
  bench.ingest.push({ kind: 'other', timeUs: 60 })
  await bench.ingest.idle()
  assert.equal(bench.ingest.cursor(), 60)
  await bench.close()
})

test('a full queue takes nothing more, and says when there is room', async () => {
  const bench = await openBench({ bounds: { events: 8, bytes: 10_000 } })
  const taken = Array.from({ length: 12 }, (_, n) => bench.ingest.push(pullAt(n)))
  assert.deepEqual(taken, [...Array(8).fill(true), ...Array(4).fill(false)])
  await bench.ingest.room()
  assert.equal(bench.ingest.push(pullAt(20)), true)
  await bench.ingest.idle()
  assert.equal(bench.ingest.push(pullAt(21), 20_000), true)
  assert.equal(bench.ingest.push(pullAt(22)), false, 'by its bytes')
  await bench.ingest.idle()
  assert.equal(bench.ingest.push(pullAt(22)), true)
  await bench.close()
})

test('a batch ends in time for others to have their turn', async () => {
  const bench = await openBench()
  await bench.take(repo)
  for (let n = 0; n < 3_000; n++) bench.ingest.push(put(dave, 'pull', key(n), pullRecord({ body: 'x'.repeat(2_000) }), n))
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  await bench.ingest.idle()
  clearInterval(timer)
  assert.ok(turns >= 3, `only ${turns} turns were had`)
  await bench.close()
})

test('an event that cannot be written by a fault of ours is counted and passed over, and the rest is written', async () => {
  const bench = await openBench()
  await bench.take(repo)
  bench.index.sqlite.exec(`create trigger broken before insert on pull when new.rkey = '${key(5)}' begin select raise(fail, 'broken'); end`)
  await bench.take(pullAt(4), pullAt(5), pullAt(6), put(bob, 'queue', key(9), queueRecord(uriOf(dave, 'pull', key(4))), 9))
  const pulls = bench.index.sync.all(bench.index.db.selectFrom('pull').select('rkey').orderBy('rkey'))
  assert.deepEqual(
    pulls.map(row => row.rkey),
    [key(4), key(6)],
  )
  await bench.take(pullAt(8))
  assert.equal(bench.ignored().failed, 1)
  assert.ok(bench.failures.length > 0)
  await bench.close()
})

test('a database that cannot be written to for a while loses nothing', async () => {
  const bench = await openBench()
  const { sqlite } = bench.index
  sqlite.exec('begin')
  const taken = bench.take(repo, pullAt(4))
  await new Promise(resolve => setImmediate(resolve))
  assert.equal(sqlite.prepare('select count(*) as n from record').pluck().get(), 0, 'somebody else’s transaction is not written into')
  sqlite.exec('rollback')
  await taken
  assert.equal(sqlite.prepare('select count(*) as n from record').pluck().get(), 2)
  await bench.close()
})

test('what is taken before a stop is written, and nothing is taken after it', async () => {
  const bench = await openBench()
  bench.ingest.push(repo)
  await bench.ingest.stop()
  assert.equal(bench.index.sync.all(bench.index.db.selectFrom('repo').selectAll()).length, 1)
  assert.equal(bench.ingest.push(pullAt(1)), false)
  await bench.ingest.submit([pullAt(1)])
  assert.equal(bench.ingest.size(), 0)
  await bench.index.close()
})
