import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { RecordEvent } from '../../src/indexer/ingest/events.ts'
import { alice, bob, commit, type Did, dave, mallory, repoAt } from '../queue/made-up.ts'
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
  repoRecord,
  rev,
  stateRecord,
  uriOf,
} from './support.ts'

let bench: Bench
const pull = uriOf(dave, 'pull', key(1))

before(async () => {
  bench = await openBench()
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 1), put(dave, 'pull', key(1), pullRecord(), 2))
})
after(() => bench.close())

const check = (more: Record<string, unknown>) => ({
  repo: orchard,
  workflow: 'test',
  status: 'success',
  ref: 'refs/heads/main',
  generation: 1,
  commit: commit(1),
  createdAt: made(),
  ...more,
})
const dids = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    did: `did:plc:${'a'.repeat(20)}${['a', 'b', 'c', 'd']
      .map(c => (c.charCodeAt(0) + n) % 8)
      .map(d => 'abcdefgh'[d])
      .join('')}`,
  }))

/** Each with the reason that it must be counted under. */
const bad: [string, string, RecordEvent][] = [
  ['a wrong $type', 'wrong-type', put(bob, 'queue', key(9), { ...queueRecord(pull), $type: 'dev.knotless.state' }, 50)],
  ['no $type at all', 'lexicon', put(bob, 'queue', key(9), {}, 50, { record: queueRecord(pull) })],
  ['a record that is a string', 'lexicon', put(bob, 'queue', key(9), {}, 50, { record: 'queued' })],
  ['no record', 'lexicon', put(bob, 'queue', key(9), {}, 50, { record: undefined })],
  ['no CID', 'lexicon', put(bob, 'queue', key(9), queueRecord(pull), 50, { cid: undefined })],
  ['REC-3 a key that is no TID', 'key-not-tid', put(bob, 'queue', 'tomorrow', queueRecord(pull), 50)],
  [
    'REC-3 a key a day and a minute past what its record says of its making',
    'key-after-created',
    put(bob, 'queue', key(24 * 60 + 3), queueRecord(pull), 50),
  ],
  ['REC-3 a pull under such a key', 'key-after-created', put(dave, 'pull', key(24 * 60 + 3), pullRecord(), 50)],
  ['REC-3 a field of another type', 'lexicon', put(bob, 'queue', key(9), queueRecord(pull, { createdAt: 5 }), 50)],
  ['REC-3 a missing field', 'lexicon', put(dave, 'pull', key(9), pullRecord({ head: undefined }), 50)],
  ['REC-11 10,000 collaborators', 'over-bound', put(mallory, 'repo', 'crowd', repoRecord({ collaborators: dids(10_000) }), 50)],
  ['REC-11 eleven runners', 'over-bound', put(mallory, 'repo', 'crowd', repoRecord({ runners: dids(11) }), 50)],
  ['over a megabyte', 'too-large', put(dave, 'pull', key(9), pullRecord({ body: 'x', more: 'y'.repeat(1_000_001) }), 50)],
  ['over a megabyte by its bytes', 'too-large', put(dave, 'pull', key(9), pullRecord({ more: '\u{1f34e}'.repeat(260_000) }), 50)],
  [
    'REC-12 a repository by handle',
    'bad-repository',
    put(dave, 'pull', key(9), pullRecord({ repo: 'at://alice.test/dev.knotless.repo/orchard' }), 50),
  ],
  ['REC-12 a repository that is a pull', 'bad-repository', put(dave, 'pull', key(9), pullRecord({ repo: pull }), 50)],
  [
    'a head that is in no repository',
    'bad-repository',
    put(dave, 'pull', key(9), pullRecord({ head: { repo: pull, branch: 'topic' } }), 50),
  ],
  ['REC-12 a subject that is a repository', 'bad-subject', put(bob, 'queue', key(9), queueRecord(orchard), 50)],
  ['a queued issue', 'bad-subject', put(bob, 'queue', key(9), queueRecord(uriOf(dave, 'issue', key(1))), 50)],
  ['a state of a check', 'bad-subject', put(bob, 'state', key(9), stateRecord(uriOf(dave, 'check', key(1)), 'closed'), 50)],
  ['control characters in a branch', 'control-characters', put(dave, 'pull', key(9), pullRecord({ branch: 'ma\u0007in' }), 50)],
  [
    'a line end in a head branch',
    'control-characters',
    put(dave, 'pull', key(9), pullRecord({ head: { repo: orchard, branch: 'a\nb' } }), 50),
  ],
  [
    'control characters in a default branch',
    'control-characters',
    put(alice, 'repo', 'other', repoRecord({ defaultBranch: '\u0000' }), 50),
  ],
  ['control characters in a workflow', 'control-characters', put(bob, 'check', 'c', check({ workflow: 'te\u009bst' }), 50)],
  ['control characters in a ref', 'control-characters', put(alice, 'refs', 'orchard', refsRecord(orchard, { 'a\u001b': commit(1) }), 50)],
  ['a commit of 40 other letters', 'bad-commit', put(bob, 'state', key(9), stateRecord(pull, 'merged', { commit: 'z'.repeat(40) }), 50)],
  ['a commit in capitals', 'bad-commit', put(bob, 'check', 'c', check({ commit: 'A'.repeat(40) }), 50)],
  ['a short commit', 'lexicon', put(bob, 'state', key(9), stateRecord(pull, 'merged', { commit: 'abc' }), 50)],
  [
    'a ref at no commit',
    'bad-commit',
    put(alice, 'refs', 'orchard', refsRecord(orchard, { main: 'refs/heads/other'.padEnd(40, 'x') }), 50),
  ],
  ['refs of another repository', 'misfiled', put(mallory, 'refs', 'orchard', refsRecord(orchard, { main: commit(1) }), 50)],
  ['a collection that is not known', 'unknown-collection', put(bob, 'vote', key(9), {}, 50)],
  ['an account that is none', 'bad-address', put('did:plc:alice' as Did, 'queue', key(9), queueRecord(pull), 50)],
  ['an account of another method', 'bad-address', put(bob, 'queue', key(9), queueRecord(pull), 50, { did: 'did:example:bob' })],
  ['a key with a slash', 'bad-address', put(bob, 'queue', '../x', queueRecord(pull), 50)],
  ['a revision that is none', 'bad-revision', put(bob, 'queue', key(9), queueRecord(pull), 50, { rev: 'newest' })],
]

for (const [n, [name, reason, wrong]] of bad.entries()) {
  const event = wrong.rev === 'newest' ? wrong : { ...wrong, rev: rev(100 + n) }
  test(`${name} is counted and counts for nothing`, async () => {
    const { sync, db } = bench.index
    const live = () => sync.all(db.selectFrom('record').select('uri').where('deleted', '=', 0)).length
    const before = { count: bench.ignored()[reason] ?? 0, live: live() }
    await bench.take(event)
    assert.equal(bench.ignored()[reason] ?? 0, before.count + 1, JSON.stringify(bench.ignored()))
    assert.equal(live(), before.live)
    assert.deepEqual(bench.failures, [])
  })
}

test('REC-3 a key six minutes ahead is counted once and kept; one four minutes ahead counts already', async () => {
  const before = bench.ignored()['key-ahead'] ?? 0
  const ahead = put(bob, 'queue', key(66), queueRecord(pull, { createdAt: made(60) }), 60)
  await bench.take(ahead, ahead, put(bob, 'queue', key(64), queueRecord(pull, { createdAt: made(60) }), 61))
  assert.equal(bench.ignored()['key-ahead'], before + 1)
  const kept = bench.index.sync.all(
    bench.index.db
      .selectFrom('queue_record')
      .select('rkey')
      .where('rkey', 'in', [key(64), key(66)]),
  )
  assert.equal(kept.length, 2)
})

test('REC-3 a record edited into one that fails is gone: that is what the account holds now', async () => {
  const fine = await openBench()
  await fine.take(put(alice, 'repo', 'orchard', repoRecord(), 1), put(dave, 'pull', key(1), pullRecord(), 2))
  await fine.take(put(dave, 'pull', key(1), pullRecord({ branch: '' }), 3, { operation: 'update' }))
  const { sync, db } = fine.index
  assert.equal(sync.all(db.selectFrom('pull').selectAll()).length, 0)
  assert.deepEqual(fine.ignored(), { lexicon: 1 })
  await fine.take(put(dave, 'pull', key(1), pullRecord({ title: 'Mended' }), 4, { operation: 'update' }))
  assert.equal(sync.all(db.selectFrom('pull').selectAll()).length, 1)
  await fine.close()
})

test('titles and bodies may hold anything', async () => {
  const texts = ['<script>alert(1)</script>', '\u202eright to left', 'x\u0000y\u0007', '\u{1f34e}'.repeat(2_000), 'a\n\n# b']
  await bench.take(...texts.map((title, n) => put(dave, 'pull', key(20 + n), pullRecord({ title, body: title }), 60 + n)))
  const { sync, db } = bench.index
  const rows = sync.all(
    db.selectFrom('pull').innerJoin('record', 'record.id', 'record_id').select('json').where('pull.rkey', '>=', key(20)),
  )
  assert.deepEqual(
    rows.map(row => JSON.parse(row.json ?? '').title),
    texts,
  )
})

test('a repository, a pull and a queue record that name one another wrongly are taken and left to the rules', async () => {
  const other = put(bob, 'queue', key(30), queueRecord(pull, { repo: repoAt(bob, 'meadow') }), 80)
  await bench.take(put(bob, 'repo', 'meadow', repoRecord(), 79), other)
  const { sync, db } = bench.index
  assert.equal(sync.all(db.selectFrom('queue_record').selectAll().where('rkey', '=', key(30))).length, 1)
})
