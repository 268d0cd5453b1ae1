import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIngest } from '../../src/indexer/ingest/queue.ts'
import { alice, bob, dave, did, mallory, repoAt } from '../queue/made-up.ts'
import {
  type Bench,
  contentOf,
  key,
  openBench,
  orchard,
  pullRecord,
  put,
  queueRecord,
  removal,
  repoRecord,
  stateRecord,
  uriOf,
} from './support.ts'

const pull = uriOf(dave, 'pull', key(1))
const count = ({ index }: Bench, table: 'pull' | 'waiting' | 'queue_record' | 'record') =>
  index.sync.first(index.db.selectFrom(table).select(eb => eb.fn.countAll<number>().as('n')))?.n

test('REC-11 what names a repository that is not known waits for it, and counts once it is there', async () => {
  const early = await openBench()
  const late = await openBench()
  const repo = put(alice, 'repo', 'orchard', repoRecord(), 9)
  const others = [
    put(dave, 'pull', key(1), pullRecord(), 1),
    put(bob, 'queue', key(2), queueRecord(pull), 2),
    put(bob, 'state', key(3), stateRecord(pull, 'closed'), 3),
  ]
  await late.take(...others)
  assert.deepEqual([count(late, 'waiting'), count(late, 'pull')], [3, 0])
  await late.take(repo)
  assert.deepEqual([count(late, 'waiting'), count(late, 'pull')], [0, 1])
  await early.take(repo, ...others)
  assert.deepEqual(contentOf(late.index), contentOf(early.index))
  const asked = late.index.sync.all(late.index.db.selectFrom('backfill').select('subject').where('kind', '=', 'repository'))
  assert.deepEqual(asked, [{ subject: orchard }], 'the repository that they name is looked for')
  await early.close()
  await late.close()
})

test('REC-11 many waiting records are released over several batches, none twice and none forgotten', async () => {
  const bench = await openBench()
  await bench.take(...Array.from({ length: 950 }, (_, n) => put(dave, 'pull', key(n), pullRecord(), n)))
  assert.equal(count(bench, 'waiting'), 950)
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 1))
  assert.deepEqual([count(bench, 'waiting'), count(bench, 'pull')], [0, 950])
  await bench.close()
})

test('REC-11 a waiting record that is edited or deleted meanwhile is so when the repository comes', async () => {
  const bench = await openBench()
  await bench.take(put(dave, 'pull', key(1), pullRecord(), 1), put(dave, 'pull', key(2), pullRecord(), 2))
  await bench.take(put(dave, 'pull', key(1), pullRecord({ branch: 'next' }), 3), removal(dave, 'pull', key(2), 4))
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 5))
  assert.deepEqual(bench.index.sync.all(bench.index.db.selectFrom('pull').select(['rkey', 'branch'])), [{ rkey: key(1), branch: 'next' }])
  await bench.close()
})

test('REC-11 over the bound the oldest goes, and one account cannot take every place', async () => {
  const bench = await openBench({ waiting: { total: 10, perAccount: 4, forMs: 60_000 } })
  await bench.take(...Array.from({ length: 6 }, (_, n) => put(mallory, 'pull', key(n), pullRecord(), n)))
  assert.equal(count(bench, 'waiting'), 4)
  assert.equal(bench.ignored()['waiting-full'], 2)
  await bench.take(...Array.from({ length: 9 }, (_, n) => put(did(`writer${'abcdefghi'[n]}`), 'pull', key(1), pullRecord(), 10 + n)))
  assert.equal(count(bench, 'waiting'), 10)
  const rows = bench.index.sync.all(bench.index.db.selectFrom('waiting').select('did'))
  assert.equal(rows.filter(row => row.did === mallory).length, 1, 'what waited longest went first')
  assert.equal(count(bench, 'record'), 10, 'what went leaves nothing behind')
  await bench.close()
})

test('REC-11 whose records found no room, or waited in vain, is read again once the repository is there', async () => {
  let now = 1_800_000_000_000
  const bench = await openBench({ now: () => now, waiting: { total: 10, perAccount: 2, forMs: 60_000 } })
  const jobs = () =>
    bench.index.sync.all(
      bench.index.db.selectFrom('backfill').select(['subject', 'state', 'rev']).where('kind', '=', 'account').orderBy('subject'),
    )
  await bench.take(
    ...Array.from({ length: 3 }, (_, n) => put(mallory, 'pull', key(n), pullRecord(), n)),
    put(dave, 'pull', key(9), pullRecord(), 9),
  )
  now += 61_000
  bench.ingest.maintain()
  assert.deepEqual([count(bench, 'waiting'), jobs()], [0, []])
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 20))
  const read = jobs().filter(({ subject }) => subject === mallory || subject === dave)
  assert.deepEqual(read, [
    { subject: dave, state: 'pending', rev: null },
    { subject: mallory, state: 'pending', rev: null },
  ])
  bench.index.sync.run(bench.index.db.updateTable('backfill').set({ state: 'done', rev: 'x' }))
  await bench.take(put(alice, 'repo', 'orchard', repoRecord({ description: 'again' }), 21))
  assert.deepEqual(
    jobs().filter(({ state }) => state === 'pending'),
    [],
    'once',
  )
  await bench.close()
})

test('REC-11 after a day nothing waits any more', async () => {
  let now = 1_800_000_000_000
  const bench = await openBench({ now: () => now })
  await bench.take(put(dave, 'pull', key(1), pullRecord(), 1))
  now += 24 * 3_600_000 - 1
  bench.ingest.maintain()
  assert.equal(count(bench, 'waiting'), 1)
  now += 2
  bench.ingest.maintain()
  assert.deepEqual([count(bench, 'waiting'), count(bench, 'record')], [0, 0])
  assert.equal(bench.ignored()['waiting-expired'], 1)
  await bench.close()
})

test('REC-11 what was not released before a crash is released at the next start', async () => {
  const bench = await openBench()
  await bench.take(put(dave, 'pull', key(1), pullRecord(), 1), put(alice, 'repo', 'orchard', repoRecord(), 2))
  const { db, sync, sqlite } = bench.index
  // As it stands when the process dies between the repository's batch and the next.
  sqlite.exec(`insert into waiting select record_id, repo, did, 0 from pull; delete from pull`)
  const again = createIngest({ index: bench.index, now: Date.now, service: 'test', failed: error => assert.fail(String(error)) })
  await again.idle()
  assert.equal(sync.all(db.selectFrom('pull').select('uri')).length, 1)
  await again.stop()
  await bench.close()
})

test('a pull that moves to a repository which is not known leaves the one it was in', async () => {
  const bench = await openBench()
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 1), put(dave, 'pull', key(1), pullRecord(), 2))
  await bench.take(put(dave, 'pull', key(1), pullRecord({ repo: repoAt(bob, 'meadow') }), 3))
  assert.deepEqual([count(bench, 'waiting'), count(bench, 'pull')], [1, 0])
  await bench.take(put(dave, 'pull', key(1), pullRecord(), 4))
  assert.deepEqual([count(bench, 'waiting'), count(bench, 'pull')], [0, 1])
  await bench.close()
})
