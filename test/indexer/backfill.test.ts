import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { accountsIn, compareIndexes, compareSettled, rebuildIndex } from '../../src/indexer/compare.ts'
import { recordAt } from '../../src/indexer/read.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { type Indexed, type IndexedOptions, startIndexed } from '../support/indexed.ts'
import { until } from '../support/until.ts'

let network: Network
let alice: DevAccount
let bob: DevAccount
let carol: DevAccount
let mallory: DevAccount
let repo: string
let lastKey = Date.now()

const nextKey = () => tidAt(++lastKey)
const now = () => new Date().toISOString()

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  bob = await network.createAccount('bob.test')
  carol = await network.createAccount('carol.test')
  mallory = await network.createAccount('mallory.test')
  repo = (await alice.create('dev.knotless.repo', repoRecord([bob]), 'orchard')).uri
})
after(() => network.stop())

function repoRecord(collaborators: DevAccount[]): Record<string, unknown> {
  return { defaultBranch: 'main', collaborators: collaborators.map(({ did }) => ({ did })), runners: [], createdAt: now() }
}

const pull = (title: string, more: Record<string, unknown> = {}) => ({
  repo,
  branch: 'main',
  head: { repo, branch: 'topic' },
  title,
  createdAt: now(),
  ...more,
})
const queued = (subject: string, state = 'queued') => ({ repo, subject, state, createdAt: now() })

/** Of what was written before, such an index learns by reading alone. */
const readsOnly = { stream: { overlapMs: 0 } }

async function start(t: TestContext, options: IndexedOptions = {}): Promise<Indexed> {
  const indexed = await startIndexed(network, options)
  t.after(() => indexed.close())
  return indexed
}

const has = ({ index }: Indexed, uri: string) => recordAt(index, uri) !== undefined

/** Everything that is on the network, in an index made from scratch. */
async function assertLikeScratch(t: TestContext, indexed: Indexed): Promise<void> {
  const { identity, reader } = indexed
  const failed = (error: unknown) => assert.fail(String(error))
  const built = await rebuildIndex({
    path: ':memory:',
    accounts: accountsIn(indexed.index),
    identity,
    reader,
    now: Date.now,
    failed,
  })
  t.after(() => built.close())
  assert.deepEqual(built.unread(), [])
  const { differences, records } = compareIndexes(indexed.index, built.index, foldRepository, Date.now())
  assert.deepEqual(differences, [])
  assert.ok(records > 2)
}

test('an empty index finds by the relay what was there before it', async t => {
  const opened = await carol.create('dev.knotless.pull', pull('from before'), nextKey())
  const entry = await bob.create('dev.knotless.queue', queued(opened.uri), nextKey())
  await network.settled()
  const indexed = await start(t, readsOnly)
  await indexed.caughtUp()
  for (const uri of [repo, opened.uri, entry.uri]) assert.ok(has(indexed, uri), uri)
  const { db, sync } = indexed.index
  const row = sync.first(db.selectFrom('record').select('backfilled').where('uri', '=', entry.uri))
  assert.equal(row?.backfilled, 1, 'REC-9 backfill says nothing about lateness')
  await assertLikeScratch(t, indexed)
})

test('without a relay one record that names a repository is enough to find it and whom it names', async t => {
  const entry = await bob.create(
    'dev.knotless.queue',
    queued((await carol.create('dev.knotless.pull', pull('old'), nextKey())).uri),
    nextKey(),
  )
  await network.settled()
  const indexed = await start(t, { ...readsOnly, withRelay: false })
  await until(() => indexed.indexer.status().connected)
  const { uri } = await carol.create('dev.knotless.pull', pull('new'), nextKey())
  await indexed.caughtUp()
  for (const found of [uri, repo, entry.uri]) assert.ok(has(indexed, found), found)
})

test('a repository that is not there is looked for, and its record’s absence is no trouble', async t => {
  const indexed = await start(t)
  await indexed.caughtUp()
  const { db, sync } = indexed.index
  const nowhere = `at://${alice.did}/dev.knotless.repo/nowhere`
  await carol.create('dev.knotless.pull', pull('to nowhere', { repo: nowhere, head: { repo: nowhere, branch: 'topic' } }), nextKey())
  await indexed.caughtUp()
  assert.equal(sync.first(db.selectFrom('backfill').select('state').where('subject', '=', nowhere))?.state, 'absent')
  await alice.create('dev.knotless.repo', repoRecord([]), 'nowhere')
  await indexed.caughtUp()
  assert.equal(sync.all(db.selectFrom('pull').select('uri').where('repo', '=', nowhere)).length, 1)
  assert.deepEqual(indexed.failures, [])
})

test('who is named later is read then: what they wrote before is there', async t => {
  const indexed = await start(t)
  await indexed.caughtUp()
  const opened = await carol.create('dev.knotless.pull', pull('for dora'), nextKey())
  const dora = await network.createAccount('dora.test')
  network.faults.add({ fault: 'drop', did: dora.did })
  const entry = await dora.create('dev.knotless.queue', queued(opened.uri), nextKey())
  await indexed.caughtUp()
  assert.ok(!has(indexed, entry.uri), 'the event never came')
  await alice.put('dev.knotless.repo', 'orchard', repoRecord([bob, dora]))
  await indexed.caughtUp()
  assert.ok(has(indexed, entry.uri))
  network.faults.clear()
  await assertLikeScratch(t, indexed)
})

test('what the live stream brings wins over a list that is read at the same time', async t => {
  const keys = Array.from({ length: 30 }, nextKey)
  for (const [n, key] of keys.entries()) await carol.create('dev.knotless.pull', pull(`racing ${n}`), key)
  await network.settled()
  network.faults.add({ fault: 'stall', method: 'com.atproto.repo.listRecords', account: carol.did, ms: 400, times: 3 })
  const indexed = await start(t)
  await until(() => indexed.indexer.status().connected)
  for (const key of keys.slice(0, 10)) await carol.put('dev.knotless.pull', key, pull('changed while it was read'))
  for (const key of keys.slice(10, 20)) await carol.remove('dev.knotless.pull', key)
  await indexed.caughtUp()
  network.faults.clear()
  const { db, sync } = indexed.index
  const titles = sync
    .all(db.selectFrom('pull').innerJoin('record', 'record.id', 'pull.record_id').select('record.json').where('pull.rkey', 'in', keys))
    .map(row => JSON.parse(row.json ?? '').title)
  assert.equal(titles.length, 20)
  assert.equal(titles.filter(title => title === 'changed while it was read').length, 10)
  await assertLikeScratch(t, indexed)
})

test('REC-4 a record whose deletion was never told goes when its account is read again', async t => {
  const indexed = await start(t)
  const key = nextKey()
  const { uri } = await carol.create('dev.knotless.pull', pull('gone unseen'), key)
  await indexed.caughtUp()
  assert.ok(has(indexed, uri))
  network.faults.add({ fault: 'drop', did: carol.did, times: 1 })
  await carol.remove('dev.knotless.pull', key)
  await indexed.caughtUp()
  assert.ok(has(indexed, uri), 'the event never came')
  network.faults.clear()
  const { db, sync } = indexed.index
  sync.run(db.updateTable('backfill').set({ state: 'pending', next_at: 0 }).where('subject', '=', carol.did))
  await carol.create('dev.knotless.pull', pull('another'), nextKey())
  await indexed.caughtUp()
  await until(() => !has(indexed, uri), { what: 'the deletion to be found' })
  await assertLikeScratch(t, indexed)
})

test('a server that is down, slow or talks nonsense is asked again later, and the stream goes on meanwhile', async t => {
  const opened = await carol.create('dev.knotless.pull', pull('behind a broken server'), nextKey())
  const entry = await bob.create('dev.knotless.queue', queued(opened.uri), nextKey())
  await network.settled()
  network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.listRecords', account: bob.did })
  network.faults.add({ fault: 'garble', method: 'com.atproto.repo.listRecords', account: carol.did })
  const indexed = await start(t, readsOnly)
  await until(() => indexed.indexer.status().connected)
  const { db, sync } = indexed.index
  const errors = () => sync.all(db.selectFrom('backfill').select(['subject', 'error', 'tries']).where('error', 'is not', null))
  await until(() => errors().length >= 2, { timeout: 10_000, what: 'both to fail' })
  const { uri } = await alice.create('dev.knotless.pull', pull('live'), nextKey())
  await until(() => has(indexed, uri), { what: 'the live stream' })
  assert.ok(!has(indexed, entry.uri))
  assert.deepEqual(indexed.failures, [], 'other people’s trouble is none of ours')
  network.faults.clear()
  await until(() => has(indexed, entry.uri) && has(indexed, opened.uri), { timeout: 20_000, what: 'the next try' })
})

test('progress is kept: after a stop in the middle it goes on', async t => {
  network.faults.add({ fault: 'stall', method: 'com.atproto.repo.listRecords' })
  const first = await startIndexed(network, { withRelay: true })
  t.after(() => first.close())
  const { db, sync } = first.index
  await until(
    () => sync.all(db.selectFrom('backfill').select('subject').where('kind', '=', 'account').where('state', '=', 'pending')).length > 0,
  )
  await first.close({ keep: true })
  network.faults.clear()
  const second = await start(t, { dir: first.dir, withRelay: false })
  await second.caughtUp()
  assert.ok(has(second, repo))
  assert.equal(second.index.sync.all(second.index.db.selectFrom('backfill').select('subject').where('state', '=', 'pending')).length, 0)
  await assertLikeScratch(t, second)
})

test('a list that was cut takes nothing out that it did not reach', async t => {
  const keys = Array.from({ length: 12 }, nextKey)
  for (const key of keys) await mallory.create('dev.knotless.pull', pull('many'), key)
  await network.settled()
  const indexed = await start(t)
  await indexed.caughtUp()
  await indexed.close({ keep: true })
  const again = await start(t, { dir: indexed.dir, backfill: { perCollection: 5 } })
  const { db, sync } = again.index
  const [, , dropped] = keys
  sync.run(db.updateTable('backfill').set({ state: 'pending', rev: null, next_at: 0 }).where('subject', '=', mallory.did))
  await again.caughtUp()
  const kept = sync.all(db.selectFrom('pull').select('rkey').where('did', '=', mallory.did).where('rkey', 'in', keys))
  assert.equal(kept.length, 12)
  assert.ok(kept.some(row => row.rkey === dropped))
})

test('an account that is nowhere counts as gone', async t => {
  const indexed = await start(t)
  await indexed.caughtUp()
  const ghost = `did:plc:${'g'.repeat(24)}`
  await alice.put('dev.knotless.repo', 'orchard', { ...repoRecord([bob]), collaborators: [{ did: bob.did }, { did: ghost }] })
  await indexed.caughtUp()
  const { db, sync } = indexed.index
  await until(() => sync.first(db.selectFrom('account').select('status').where('did', '=', ghost))?.status === 'deleted')
  assert.deepEqual(indexed.failures, [])
})

test('a comparison finds what differs, and what only changed between two looks it does not call a difference', async t => {
  const indexed = await start(t)
  await indexed.caughtUp()
  const { identity, reader, index } = indexed
  const failed = (error: unknown) => assert.fail(String(error))
  const built = await rebuildIndex({ path: ':memory:', accounts: accountsIn(index), identity, reader, now: Date.now, failed })
  t.after(() => built.close())
  const { uri } = await carol.create('dev.knotless.pull', pull('after the other was made'), nextKey())
  await indexed.caughtUp()
  const late = compareIndexes(index, built.index, foldRepository, Date.now()).differences
  assert.deepEqual(
    late.map(one => [one.what, one.at.endsWith(uri)]),
    [
      ['record', true],
      ['row', true],
      ['answer', false],
    ],
  )
  assert.deepEqual((await compareSettled(index, built, foldRepository, Date.now)).differences, [])
  index.sqlite.exec(`update record set cid = 'bafytampered' where uri = '${uri}'`)
  const found = (await compareSettled(index, built, foldRepository, Date.now)).differences
  assert.deepEqual(
    found.map(one => [one.what, one.at.endsWith(uri), one.here]),
    [
      ['record', true, 'bafytampered'],
      ['answer', false, found[1]?.here],
    ],
  )
})
