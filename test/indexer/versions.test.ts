import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRepositoryCache, versionOf } from '../../src/indexer/read.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { alice, bob, commit, dave, MINUTE, repoAt, START } from '../queue/made-up.ts'
import {
  type Bench,
  key,
  made,
  openBench,
  orchard,
  pullRecord,
  put,
  queueRecord,
  refsRecord,
  removal,
  repoRecord,
  stateRecord,
  uriOf,
} from './support.ts'

const pull = uriOf(dave, 'pull', key(1))
const fork = repoAt(dave, 'orchard')
const meadow = repoAt(bob, 'meadow')

async function orchardBench(): Promise<Bench & { told: () => string[] }> {
  const bench = await openBench()
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    put(bob, 'repo', 'meadow', repoRecord(), 2),
    put(dave, 'pull', key(1), pullRecord({ head: { repo: fork, branch: 'topic' } }), 3),
  )
  let told: string[] = []
  bench.ingest.onChanged(change => {
    assert.equal(change.version, versionOf(bench.index, change.repo))
    told.push(change.repo)
  })
  return {
    ...bench,
    told() {
      const out = told.sort()
      told = []
      return out
    },
  }
}

test('a change is told once per batch, however many records it is made of', async () => {
  const bench = await orchardBench()
  const before = versionOf(bench.index, orchard)
  await bench.take(...[4, 5, 6, 7].map(n => put(bob, 'queue', key(n), queueRecord(pull), n)))
  assert.deepEqual(bench.told(), [orchard])
  assert.ok(versionOf(bench.index, orchard) > before)
  await bench.close()
})

test('a listener that throws keeps nobody else from hearing, and one that went hears nothing', async () => {
  const bench = await orchardBench()
  bench.ingest.onChanged(() => {
    throw new Error('deaf')
  })
  bench.ingest.onChanged(() => assert.fail('it went'))()
  await bench.take(put(bob, 'queue', key(4), queueRecord(pull), 4))
  assert.deepEqual(bench.told(), [orchard])
  assert.deepEqual(bench.failures.map(String), ['Error: deaf'])
  await bench.close()
})

test('every repository that a change concerns is told of it', async () => {
  const bench = await orchardBench()
  await bench.take(put(dave, 'refs', 'orchard', refsRecord(fork, { topic: commit(3) }), 4))
  assert.deepEqual(bench.told(), [orchard, fork].sort(), 'a fork moves the heads of other repositories’ pulls')
  await bench.take(put(dave, 'pull', key(1), pullRecord({ repo: meadow }), 5))
  assert.deepEqual(bench.told(), [orchard, meadow].sort(), 'a pull leaves one and comes to another')
  await bench.take(put(bob, 'repo', 'meadow', repoRecord({ transferredFrom: orchard }), 6))
  assert.deepEqual(bench.told(), [orchard, meadow].sort())
  const move = { repo: meadow, at: key(3) }
  await bench.take(put(alice, 'repo', 'orchard', repoRecord({ transferredTo: move }), 7))
  bench.told()
  await bench.take(put(bob, 'queue', key(6), queueRecord(pull, { repo: meadow }), 8))
  assert.deepEqual(bench.told(), [orchard, meadow].sort(), 'both addresses of a repository that moved')
  await bench.take(removal(bob, 'repo', 'meadow', 9))
  assert.deepEqual(bench.told(), [orchard, meadow].sort())
  await bench.close()
})

test('a record written here is there at once, and its echo changes nothing', async () => {
  const bench = await orchardBench()
  const write = put(bob, 'queue', key(4), queueRecord(pull), 4, { source: 'own' })
  const done = bench.ingest.now(write)
  assert.equal(bench.index.sync.all(bench.index.db.selectFrom('queue_record').selectAll()).length, 1)
  await done
  assert.deepEqual(bench.told(), [orchard])
  const version = versionOf(bench.index, orchard)
  await bench.take({ ...write, source: 'live' })
  assert.deepEqual(bench.told(), [])
  assert.equal(versionOf(bench.index, orchard), version)
  await bench.close()
})

test('REC-9 when a record was first seen is kept, and an edit makes it seen anew', async () => {
  let now = START + 10 * MINUTE
  const bench = await openBench({ now: () => now })
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 1), put(dave, 'pull', key(1), pullRecord(), 2))
  await bench.take(put(bob, 'queue', key(2), queueRecord(pull), 3))
  const seen = () =>
    bench.index.sync.first(
      bench.index.db
        .selectFrom('record')
        .select(['seen_at', 'backfilled'])
        .where('uri', '=', uriOf(bob, 'queue', key(2))),
    )
  now += 60 * MINUTE
  await bench.take(put(bob, 'queue', key(2), queueRecord(pull), 4, { source: 'listed' }))
  assert.deepEqual(seen(), { seen_at: START + 10 * MINUTE, backfilled: 0 }, 'the same record, read again')
  await bench.take(put(bob, 'queue', key(2), queueRecord(pull, { branch: 'main' }), 5))
  assert.deepEqual(seen(), { seen_at: START + 70 * MINUTE, backfilled: 0 }, 'another record under an old key')
  await bench.take(put(bob, 'queue', key(3), queueRecord(pull), 6, { source: 'listed' }))
  const listed = bench.index.sync.first(
    bench.index.db
      .selectFrom('record')
      .select('backfilled')
      .where('uri', '=', uriOf(bob, 'queue', key(3))),
  )
  assert.equal(listed?.backfilled, 1)
  await bench.close()
})

test('a folded repository is kept until its version changes or its time comes', async () => {
  let now = START + 60 * MINUTE
  let folds = 0
  const bench = await openBench({ now: () => now })
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 1), put(dave, 'pull', key(1), pullRecord(), 2))
  const cache = createRepositoryCache({
    index: bench.index,
    now: () => now,
    fold: (facts, time) => {
      folds += 1
      return foldRepository(facts, time)
    },
  })
  assert.equal(cache.viewOf(orchard)?.view.pulls.size, 1)
  cache.viewOf(orchard)
  assert.equal(folds, 1)
  await bench.take(put(bob, 'queue', key(90), queueRecord(pull, { createdAt: made(90) }), 3))
  assert.deepEqual([cache.viewOf(orchard)?.view.branches.get('main')?.queue.length, folds], [0, 2], 'its key lies in the future')
  now = START + 86 * MINUTE
  assert.deepEqual([cache.viewOf(orchard)?.view.branches.get('main')?.queue.length, folds], [1, 3], 'its time came')
  await bench.take(put(bob, 'state', key(91), stateRecord(pull, 'merged', { commit: commit(7), createdAt: made(91) }), 4))
  now = START + 91 * MINUTE
  assert.equal(cache.viewOfPull(pull)?.view.pulls.get(pull)?.state, 'merged')
  assert.equal(cache.viewOf(repoAt(bob, 'nowhere')), undefined)
  await bench.close()
})
