import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { RecordEvent } from '../../src/indexer/ingest/events.ts'
import { alice, bob, carol, commit, type Did, dave, mallory, repoAt, rigby } from '../queue/made-up.ts'
import {
  contentOf,
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
  rev,
  stateRecord,
  uriOf,
} from './support.ts'

const elsewhere = repoAt(bob, 'meadow')
const unknown = repoAt(dave, 'nowhere')
const pulls = [1, 2].map(n => uriOf(dave, 'pull', key(n)))

/** What an account may write at an address, in turn; each step is a later revision than the one before. */
const steps = fc.constantFrom(
  { by: alice, kind: 'repo', rkey: 'orchard', values: [repoRecord(), repoRecord({ collaborators: [{ did: bob }] }), { defaultBranch: 4 }] },
  { by: bob, kind: 'repo', rkey: 'meadow', values: [repoRecord({ transferredFrom: orchard }), repoRecord()] },
  { by: alice, kind: 'repo', rkey: 'orchard', values: [repoRecord({ transferredTo: { repo: elsewhere, at: key(3) } })] },
  { by: alice, kind: 'refs', rkey: 'orchard', values: [refsRecord(orchard, { main: commit(1) }), refsRecord(elsewhere, {})] },
  {
    by: dave,
    kind: 'pull',
    rkey: key(1),
    values: [pullRecord(), pullRecord({ repo: elsewhere }), pullRecord({ repo: unknown }), pullRecord({ title: '' })],
  },
  { by: dave, kind: 'pull', rkey: key(2), values: [pullRecord({ repo: unknown }), pullRecord({ draft: true })] },
  { by: bob, kind: 'queue', rkey: key(4), values: pulls.map(pull => queueRecord(pull)) },
  { by: mallory, kind: 'queue', rkey: key(4), values: [queueRecord(pulls[0] ?? ''), queueRecord('at://nobody')] },
  {
    by: carol,
    kind: 'state',
    rkey: key(5),
    values: [stateRecord(pulls[0] ?? '', 'closed'), stateRecord(pulls[1] ?? '', 'merged', { commit: commit(9) })],
  },
  { by: dave, kind: 'state', rkey: key(6), values: [stateRecord(pulls[0] ?? '', 'open'), stateRecord(pulls[0] ?? '', 'closed')] },
  { by: rigby, kind: 'lander', rkey: 'x', values: [{ repo: orchard, batch: 8, depth: 2, startedAt: made(), createdAt: made() }] },
)

interface Step {
  at: { by: Did; kind: string; rkey: string; values: readonly Record<string, unknown>[] }
  /** Which of the values; a deletion at -1. */
  value: number
}

const history: fc.Arbitrary<Step[]> = fc.array(fc.record({ at: steps, value: fc.integer({ min: -1, max: 3 }) }), {
  minLength: 2,
  maxLength: 30,
})

function eventsOf(plan: readonly Step[]): RecordEvent[] {
  return plan.map(({ at, value }, n) => {
    const record = at.values[value % at.values.length]
    return value < 0 || record === undefined ? removal(at.by, at.kind, at.rkey, n) : put(at.by, at.kind, at.rkey, record, n)
  })
}

/** All of them in another order, some twice. */
function mixed(events: RecordEvent[]): fc.Arbitrary<RecordEvent[]> {
  return fc.subarray(events).chain(twice => fc.shuffledSubarray([...events, ...twice], { minLength: events.length + twice.length }))
}

async function contentAfter(events: readonly RecordEvent[], cuts: readonly number[] = []): Promise<unknown> {
  const bench = await openBench()
  try {
    let from = 0
    for (const cut of [...cuts.filter(n => n < events.length).sort((a, b) => a - b), events.length]) {
      await bench.take(...events.slice(from, cut))
      from = cut
    }
    assert.deepEqual(bench.failures, [])
    return contentOf(bench.index)
  } finally {
    await bench.close()
  }
}

test('the same events in any order, any batches and any number of times give the same rows', async () => {
  const runs = fc.record({ plan: history, cuts: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 3 }) }).chain(({ plan, cuts }) => {
    const events = eventsOf(plan)
    return fc.record({ events: fc.constant(events), other: mixed(events), cuts: fc.constant(cuts) })
  })
  await fc.assert(
    fc.asyncProperty(runs, async ({ events, other, cuts }) => {
      assert.deepEqual(await contentAfter(other, cuts), await contentAfter(events))
    }),
    { numRuns: 150 },
  )
})

test('an event of an older revision than the one held changes nothing', async () => {
  const bench = await openBench()
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 5))
  const before = contentOf(bench.index)
  const seen: unknown[] = []
  bench.ingest.onChanged(change => seen.push(change))
  await bench.take(put(alice, 'repo', 'orchard', repoRecord({ defaultBranch: 'old' }), 4), removal(alice, 'repo', 'orchard', 3))
  assert.deepEqual(contentOf(bench.index), before)
  assert.deepEqual(seen, [])
  await bench.close()
})

test('REC-4 a deletion leaves a tombstone, and what comes late from before it does not bring the record back', async () => {
  const bench = await openBench()
  const pull = put(dave, 'pull', key(1), pullRecord(), 2)
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 1), pull, removal(dave, 'pull', key(1), 3), pull)
  const { sync, db } = bench.index
  assert.equal(sync.all(db.selectFrom('pull').selectAll()).length, 0)
  const row = sync.first(
    db
      .selectFrom('record')
      .selectAll()
      .where('uri', '=', uriOf(dave, 'pull', key(1))),
  )
  assert.deepEqual([row?.deleted, row?.json, row?.cid], [1, null, null])
  await bench.close()
})

test('a list takes out what it lacks up to its revision, and nothing newer or beyond its reach', async () => {
  const bench = await openBench()
  const events = [1, 2, 3, 4, 5].map(n => put(dave, 'pull', key(n), pullRecord(), n))
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 0), ...events)
  const { sync, db } = bench.index
  const left = () => sync.all(db.selectFrom('pull').select('rkey').orderBy('rkey')).map(row => row.rkey)
  const sweep = { kind: 'sweep', did: dave, collection: 'dev.knotless.pull', rev: rev(4), listed: new Set([key(3)]) } as const
  await bench.take({ ...sweep, from: key(1) })
  assert.deepEqual(left(), [key(1), key(3), key(5)])
  await bench.take(sweep)
  assert.deepEqual(left(), [key(3), key(5)])
  await bench.take(put(dave, 'pull', key(2), pullRecord(), 2), put(dave, 'pull', key(4), pullRecord(), 6))
  assert.deepEqual(left(), [key(3), key(4), key(5)], 'what was taken out does not come back by an old event, but by a newer one')
  await bench.take({ ...sweep, collection: 'dev.knotless.pul', listed: new Set() }, { ...sweep, did: alice, listed: new Set() })
  assert.deepEqual(left(), [key(3), key(4), key(5)])
  await bench.close()
})
