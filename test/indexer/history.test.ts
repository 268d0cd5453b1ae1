import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMigrator, migrate } from '../../src/indexer/database.ts'
import { createIngest } from '../../src/indexer/ingest/queue.ts'
import { figuresOf, historyOf, keptBatchesAt } from '../../src/indexer/read.ts'
import { alice, bob, commit, iso, MINUTE, mallory, rigby, START, TIP } from '../queue/made-up.ts'
import { type Bench, key, openBench, orchard, put, removal, repoRecord, uriOf } from './support.ts'

const members = [{ pull: uriOf(bob, 'pull', key(1)), head: commit(50), commit: commit(51) }]

/** A batch's check; minutes after START. */
function check(workflow: string, tip: string, status: string, at: { filed: number; ran?: [number, number] }, more: object = {}) {
  const [startedAt, finishedAt] = at.ran ?? []
  return {
    repo: orchard,
    workflow,
    status,
    ref: 'refs/heads/main',
    generation: 1,
    commit: tip,
    baseCommit: TIP,
    batch: members,
    of: 2,
    createdAt: iso(START + at.filed * MINUTE),
    ...(startedAt === undefined ? {} : { startedAt: iso(START + startedAt * MINUTE) }),
    ...(finishedAt === undefined ? {} : { finishedAt: iso(START + finishedAt * MINUTE) }),
    ...more,
  }
}

const main = { branch: 'main', generation: 1 }
const outcomes = (bench: Pick<Bench, 'index'>, of = main) =>
  historyOf(bench.index, orchard, of).batches.map(({ tip, outcome }) => [tip, outcome])

test('REA-4 what a batch’s runs said is kept when its checks are taken away', async () => {
  const bench = await openBench()
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    put(rigby, 'check', 'queue:lint', check('lint', commit(9), 'success', { filed: 10, ran: [11, 13] }, { of: 0 }), 2),
    put(rigby, 'check', 'queue:test', check('test', commit(9), 'running', { filed: 10 }, { of: 0 }), 3),
  )
  assert.deepEqual(outcomes(bench), [], 'it has not ended while a run goes')
  const done = check('test', commit(9), 'success', { filed: 10, ran: [12, 20] }, { of: 0, retried: [{ test: 'suite > slow' }] })
  await bench.take(put(rigby, 'check', 'queue:test', done, 4, { operation: 'update' }))
  const before = historyOf(bench.index, orchard, main)
  assert.equal(before, historyOf(bench.index, orchard, main), 'it is remembered')
  assert.deepEqual(
    before.batches.map(({ runs, startedAt, endedAt, size, runner }) => [
      runs.map(run => [run.workflow, run.state]),
      startedAt,
      endedAt,
      size,
      runner,
    ]),
    [
      [
        [
          ['lint', 'passed'],
          ['test', 'passed'],
        ],
        START + 10 * MINUTE,
        START + 20 * MINUTE,
        1,
        rigby,
      ],
    ],
  )
  await bench.take(removal(rigby, 'check', 'queue:lint', 5), removal(rigby, 'check', 'queue:test', 6))
  assert.deepEqual(historyOf(bench.index, orchard, main), before)
  const [kept] = keptBatchesAt(bench.index, orchard, commit(9))
  assert.deepEqual([kept?.members, kept?.runs.map(run => run.retried)], [members, [[], ['suite > slow']]])
  await bench.close()
})

test('REA-4 what the index holds already is kept by the first start after the migration', async () => {
  const bench = await openBench()
  const { index } = bench
  const batches = Array.from({ length: 25 }, (_, n) => commit(100 + n))
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    ...batches.flatMap((tip, n) =>
      ['lint', 'test'].map((workflow, w) => {
        const status = n % 5 === 0 && workflow === 'test' ? 'failure' : 'success'
        return put(rigby, 'check', `queue:${n}:${workflow}`, check(workflow, tip, status, { filed: n, ran: [n, n + 3] }), 2 + n * 2 + w)
      }),
    ),
  )
  const before = outcomes(bench)
  await bench.ingest.stop()
  const migrator = createMigrator(index.db)
  const { results } = await migrator.migrateTo('2026-11-30-e-missed')
  assert.ok(results?.some(({ migrationName, direction }) => migrationName === '2026-11-30-f-history' && direction === 'Down'))
  await migrate(index.db)
  assert.equal(index.sqlite.prepare('select count(*) from past_batch').pluck().get(), 0)
  const again = createIngest({ index, now: () => START + 60 * MINUTE, service: 'test', failed: error => assert.fail(String(error)) })
  await again.idle()
  assert.equal(before.length, 20)
  assert.deepEqual(outcomes(bench), before)
  assert.deepEqual(before[0], [commit(124), 'passed'])
  assert.equal(index.sqlite.prepare("select count(*) from past_batch where outcome = 'failed'").pluck().get(), 5)
  await again.stop()
  await bench.close()
})

test('REA-4 STA-7 checks of accounts that are no runners are not kept, and those of one named later are', async () => {
  const bench = await openBench()
  const passed = (n: number) => check('test', commit(n), 'success', { filed: n, ran: [n, n + 1] }, { of: 1 })
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    put(mallory, 'check', 'queue:a', passed(3), 2),
    put(bob, 'check', 'queue:b', passed(4), 3),
    put(rigby, 'check', 'queue:c', passed(5), 4),
  )
  assert.deepEqual(outcomes(bench), [[commit(5), 'passed']])
  assert.equal(bench.index.sqlite.prepare('select count(*) from past_batch').pluck().get(), 1, 'strangers fill nothing')
  await bench.take(put(alice, 'repo', 'orchard', repoRecord({ runners: [{ did: rigby }, { did: mallory }] }), 5, { operation: 'update' }))
  assert.deepEqual(outcomes(bench), [
    [commit(5), 'passed'],
    [commit(3), 'passed'],
  ])
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord({ former: [{ did: rigby, role: 'runner', until: key(50), void: true }], runners: [] }), 6, {
      operation: 'update',
    }),
  )
  assert.deepEqual(outcomes(bench), [], 'a runner made void counts for nothing')
  await bench.close()
})

test('REA-4 a batch ended as its newest runs did: dropped, failed with the rest cancelled, without a verdict, run again', async () => {
  const bench = await openBench()
  const at = (n: number): { filed: number; ran: [number, number] } => ({ filed: n, ran: [n, n + 2] })
  const write = (n: number, name: string, record: object) => put(rigby, 'check', `queue:${name}`, { ...record }, n)
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    write(2, 'a1', check('lint', commit(8), 'failure', at(1))),
    write(3, 'a2', check('test', commit(8), 'cancelled', at(1))),
    write(4, 'b1', check('lint', commit(2), 'cancelled', at(5))),
    write(5, 'c1', check('lint', commit(3), 'error', at(8), { verdict: 'restart' })),
    write(6, 'c2', check('test', commit(3), 'success', at(8))),
    write(7, 'd1', check('lint', commit(4), 'error', at(9), { verdict: 'restart' })),
    write(8, 'd2', check('test', commit(4), 'success', at(9))),
    write(9, 'd3', check('lint', commit(4), 'success', at(11))),
    write(10, 'e1', check('lint', commit(5), 'success', at(12))),
  )
  const rows = bench.index.sqlite
    .prepare<[], { tip: string; outcome: string | null }>('select tip, outcome from past_batch order by tip')
    .all()
  assert.deepEqual(
    rows.map(row => row.outcome),
    ['cancelled', 'no-verdict', 'passed', null, 'failed'],
    'the last but one has but one of its two checks',
  )
  assert.deepEqual(outcomes(bench), [
    [commit(4), 'passed'],
    [commit(8), 'failed'],
  ])
  await bench.close()
})

test('REA-4 what is kept is forgotten after 400 days, and an end is never later than it was heard of', async () => {
  let now = START + 60 * MINUTE
  const bench = await openBench({ now: () => now })
  const future = { finishedAt: iso(START + 999_999 * MINUTE), startedAt: iso(START + 999_000 * MINUTE) }
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    put(rigby, 'check', 'queue:a', check('test', commit(9), 'success', { filed: 10, ran: [11, 13] }, { of: 1, ...future }), 2),
  )
  const [kept] = historyOf(bench.index, orchard, main).batches
  assert.deepEqual([kept?.endedAt, kept?.runs[0]?.startedAt], [now, undefined])
  const rows = () => ['past_batch', 'past_run'].map(table => bench.index.sqlite.prepare(`select count(*) from ${table}`).pluck().get())
  now += 399 * 24 * 60 * MINUTE
  bench.ingest.maintain()
  assert.deepEqual(rows(), [1, 1])
  now += 2 * 24 * 60 * MINUTE
  bench.ingest.maintain()
  assert.deepEqual(rows(), [0, 0])
  await bench.close()
})

test('FAI-9 the verdict of a batch ahead of one that did not pass is thrown away, and waits for the one under it', async () => {
  const now = START + 60 * MINUTE
  const bench = await openBench({ now: () => now })
  const run = (n: number, base: string, status: string, at: number, seq: number, name = `queue:${n}`) =>
    put(rigby, 'check', name, check('test', commit(n), status, { filed: at, ran: [at, at + 2] }, { of: 1, baseCommit: base }), seq)
  const ended = () => {
    const { batchesEnded, batchesPassed } = figuresOf(bench.index, { repo: orchard, days: 7, now }).all
    return [batchesPassed, batchesEnded]
  }
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    run(3, TIP, 'success', 1, 2),
    run(4, commit(3), 'success', 2, 3),
    run(5, commit(4), 'failure', 4, 4),
    run(6, commit(5), 'failure', 5, 5),
    run(7, commit(9), 'failure', 9, 6),
  )
  assert.deepEqual(ended(), [2, 4], 'what stands on the one that failed is not among them')
  assert.deepEqual(
    outcomes(bench).map(([tip]) => tip),
    [commit(7), commit(5), commit(4), commit(3)],
  )
  await bench.take(
    put(rigby, 'check', 'queue:9:a', check('test', commit(9), 'running', { filed: 8 }, { of: 2 }), 7),
    put(rigby, 'check', 'queue:9:b', check('lint', commit(9), 'success', { filed: 8, ran: [8, 9] }, { of: 2 }), 8),
  )
  assert.deepEqual(ended(), [2, 3], 'nor is what stands on one that goes on')
  const done = check('test', commit(9), 'success', { filed: 8, ran: [8, 10] }, { of: 2 })
  await bench.take(put(rigby, 'check', 'queue:9:a', done, 9, { operation: 'update' }))
  assert.deepEqual(ended(), [3, 5])
  await bench.close()
})

test('CHK-9 batches of a branch before it was made anew count for nothing in estimates', async () => {
  const bench = await openBench()
  const passed = (n: number, generation: number) =>
    check('test', commit(n), 'success', { filed: n, ran: [n, n + 1] }, { of: 1, generation })
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    put(rigby, 'check', 'queue:a', passed(3, 1), 2),
    put(rigby, 'check', 'queue:b', passed(4, 2), 3),
  )
  assert.deepEqual(outcomes(bench), [[commit(3), 'passed']])
  assert.deepEqual(outcomes(bench, { branch: 'main', generation: 2 }), [[commit(4), 'passed']])
  await bench.close()
})
