import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { compareIndexes } from '../../src/indexer/compare.ts'
import { recordAt, versionOf } from '../../src/indexer/read.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { type Indexed, type IndexedOptions, startIndexed } from '../support/indexed.ts'
import { until } from '../support/until.ts'

let network: Network
let alice: DevAccount
let bob: DevAccount
let repo: string
let lastKey = Date.now()

const nextKey = () => tidAt(++lastKey)
const now = () => new Date().toISOString()

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  bob = await network.createAccount('bob.test')
  const record = { defaultBranch: 'main', collaborators: [{ did: bob.did }], runners: [], createdAt: now() }
  repo = (await alice.create('dev.knotless.repo', record, 'orchard')).uri
})
after(() => network.stop())

const pull = (title: string) => ({ repo, branch: 'main', head: { repo, branch: 'topic' }, title, createdAt: now() })

async function start(t: TestContext, options: IndexedOptions = {}): Promise<Indexed> {
  const indexed = await startIndexed(network, options)
  t.after(() => indexed.close())
  return indexed
}

async function open(title: string): Promise<{ uri: string; rkey: string }> {
  const rkey = nextKey()
  const { uri } = await bob.create('dev.knotless.pull', pull(title), rkey)
  return { uri, rkey }
}

test('creates, edits and deletions reach the index within moments', async t => {
  const indexed = await start(t)
  await indexed.caughtUp()
  const { db, sync } = indexed.index
  const has = (uri: string) => sync.first(db.selectFrom('pull').select('uri').where('uri', '=', uri)) !== undefined
  const times: number[] = []
  for (let n = 0; n < 25; n++) {
    const { uri } = await open(`number ${n}`)
    const written = performance.now()
    await until(() => has(uri), { what: uri })
    times.push(performance.now() - written)
  }
  times.sort((a, b) => a - b)
  const median = times[12] ?? Number.POSITIVE_INFINITY
  t.diagnostic(`written on the account's server → row in the index: median ${median.toFixed(1)} ms, slowest ${times.at(-1)?.toFixed(1)} ms`)
  assert.ok(median < 1_000)
  const { uri, rkey } = await open('to be edited')
  await bob.put('dev.knotless.pull', rkey, { ...pull('edited'), branch: 'next' })
  await until(() => sync.first(db.selectFrom('pull').select('branch').where('uri', '=', uri))?.branch === 'next')
  await bob.remove('dev.knotless.pull', rkey)
  await until(() => !has(uri))
  assert.deepEqual(indexed.failures, [])
})

test('after a cut it goes on from its cursor: nothing that was written meanwhile is lost', async t => {
  const indexed = await start(t, { withRelay: false, stream: { firstRetryMs: 20, lastRetryMs: 100 } })
  await until(() => indexed.indexer.status().connected)
  await open('before')
  await indexed.caughtUp()
  network.faults.cut({ refuse: true })
  await until(() => !indexed.indexer.status().connected)
  const { uri } = await open('while it was away')
  await until(() => indexed.indexer.status().trouble?.includes('503') === true, { what: 'the refusal to be said' })
  network.faults.clear()
  await indexed.caughtUp()
  const { db, sync } = indexed.index
  assert.ok(sync.first(db.selectFrom('pull').select('uri').where('uri', '=', uri)))
  await until(
    () => {
      const status = indexed.indexer.status()
      return status.connected && status.connections >= 2 && status.trouble === undefined
    },
    { what: 'the connection to be whole again' },
  )
})

test('events that come twice, late or in another order end in the same index', async t => {
  const straight = await start(t)
  const crooked = await start(t)
  network.faults.add({ fault: 'duplicate', collection: 'dev.knotless.*', times: 20 })
  network.faults.add({ fault: 'reorder', collection: 'dev.knotless.queue', by: 3, ms: 100, times: 10 })
  network.faults.add({ fault: 'delay', collection: 'dev.knotless.pull', ms: 30, times: 3 })
  const { uri, rkey } = await open('shaken')
  for (let n = 0; n < 8; n++) {
    const state = n % 2 === 0 ? 'queued' : 'left'
    await bob.create('dev.knotless.queue', { repo, subject: uri, state, createdAt: now() }, nextKey())
    await bob.put('dev.knotless.pull', rkey, pull(`shaken ${n}`))
  }
  network.faults.clear()
  await straight.caughtUp()
  await crooked.caughtUp()
  const fresh = await start(t)
  await fresh.caughtUp()
  for (const { index } of [straight, crooked]) {
    const { differences, records } = compareIndexes(index, fresh.index, foldRepository, Date.now())
    assert.deepEqual(differences, [])
    assert.ok(records > 10)
  }
})

test('a frame that is no event is counted and harms nothing', async t => {
  const indexed = await start(t)
  await indexed.caughtUp()
  for (const frame of [
    '{"did":"did:plc:',
    'null',
    '[]',
    '{"did":5,"kind":"commit"}',
    '{"did":"did:plc:x","kind":"commit","commit":{"collection":"dev.knotless.pull","rkey":4,"rev":5}}',
  ]) {
    network.faults.garbage(frame)
  }
  const { uri } = await open('after the garbage')
  await indexed.caughtUp()
  const { db, sync } = indexed.index
  assert.ok(sync.first(db.selectFrom('pull').select('uri').where('uri', '=', uri)))
  assert.ok(indexed.indexer.status().garbage >= 1)
  assert.equal(indexed.indexer.status().connections, 1)
  assert.deepEqual(indexed.failures, [])
})

test('a queue that is full closes the stream until there is room, and loses nothing', async t => {
  const indexed = await start(t, {
    withRelay: false,
    queue: { events: 6, bytes: 1e9 },
    stream: { firstRetryMs: 5, overlapMs: 0 },
  })
  await until(() => indexed.indexer.status().connected)
  const subject = (await open('popular')).uri
  const writes = Array.from({ length: 40 }, () => ({
    $type: 'com.atproto.repo.applyWrites#create',
    collection: 'dev.knotless.queue',
    rkey: nextKey(),
    value: { $type: 'dev.knotless.queue', repo, subject, state: 'queued', createdAt: now() },
  }))
  const { db, sync, sqlite } = indexed.index
  await indexed.indexer.settled()
  // Nothing can be written meanwhile, so that the queue fills up.
  sqlite.exec('begin')
  await bob.call('com.atproto.repo.applyWrites', { input: { repo: bob.did, writes } })
  await until(() => !indexed.indexer.status().connected, { what: 'the stream to be closed' })
  assert.equal(indexed.indexer.status().queued, 6)
  sqlite.exec('rollback')
  const rows = () => sync.all(db.selectFrom('queue_record').select('rkey').where('subject', '=', subject)).length
  await until(() => rows() === 40, { timeout: 20_000, what: 'all of them' })
})

test('a record written by this server is in the index before the stream brings it, and its echo changes nothing', async t => {
  const indexed = await start(t)
  const { uri: subject } = await open('to be queued')
  await indexed.caughtUp()
  network.faults.hold()
  t.after(() => network.faults.clear())
  const record = { $type: 'dev.knotless.queue', repo, subject, state: 'queued', createdAt: now() }
  const rkey = nextKey()
  const input = { repo: bob.did, collection: record.$type, rkey, record }
  const answer = z
    .object({ uri: z.string(), cid: z.string(), commit: z.object({ rev: z.string() }) })
    .parse(await bob.call('com.atproto.repo.createRecord', { input }))
  const { cid, commit } = answer
  await indexed.indexer.indexOwnWrite({ did: bob.did, collection: record.$type, rkey, cid, rev: commit.rev, record })
  assert.equal(recordAt(indexed.index, answer.uri)?.cid, cid)
  const version = versionOf(indexed.index, repo)
  network.faults.release()
  await indexed.caughtUp()
  assert.equal(versionOf(indexed.index, repo), version)
})

test('a handle that could not be looked at when its account was read is looked at again in a moment', async t => {
  const erin = await network.createAccount('erin.test')
  await erin.create('dev.knotless.repo', { defaultBranch: 'main', collaborators: [], runners: [], createdAt: now() }, 'barn')
  await network.settled()
  network.faults.hold()
  // Asked where the account is and how it stands: both times nothing is heard of the handle.
  const fault = network.faults.add({ fault: 'garble', method: 'com.atproto.identity.resolveHandle', account: 'erin.test', times: 2 })
  t.after(() => network.faults.clear())
  const indexed = await start(t)
  const { db, sync } = indexed.index
  const account = () => sync.first(db.selectFrom('account').select(['handle', 'pds']).where('did', '=', erin.did))
  await until(() => fault.hits() === 2)
  // Within the time of a wait here, which is shorter than that of the upkeep.
  await until(() => account()?.handle === 'erin.test')
})

test('what was written after the relay was asked and before the stream was open is in the index', async t => {
  const indexed = await start(t, { idle: true, withRelay: false })
  const fred = await network.createAccount('fred.test')
  const { uri } = await fred.create(
    'dev.knotless.repo',
    { defaultBranch: 'main', collaborators: [], runners: [], createdAt: now() },
    'shed',
  )
  await network.settled()
  indexed.indexer.start()
  await until(() => recordAt(indexed.index, uri) !== undefined)
})

test('what an account does with its handle and its standing is followed', async t => {
  const dora = await network.createAccount('dora.test')
  const uri = (await dora.create('dev.knotless.repo', { defaultBranch: 'main', collaborators: [], runners: [], createdAt: now() }, 'den'))
    .uri
  const indexed = await start(t)
  await indexed.caughtUp()
  const { db, sync } = indexed.index
  const account = () => sync.first(db.selectFrom('account').select(['handle', 'status']).where('did', '=', dora.did))
  await until(() => account()?.handle === 'dora.test')
  const told: string[] = []
  indexed.indexer.onChanged(change => told.push(change.repo))
  await dora.call('com.atproto.identity.updateHandle', { input: { handle: 'theodora.test' } })
  await until(() => account()?.handle === 'theodora.test', { timeout: 10_000 })
  // It is told of once it is written, which a look in between comes before.
  await until(() => told.includes(uri))
  await dora.call('com.atproto.server.deactivateAccount', { input: {} })
  await until(() => account()?.status === 'deactivated')
  const back = await dora.session.fetchHandler('/xrpc/com.atproto.server.activateAccount', { method: 'POST' })
  assert.equal(back.status, 200)
  await until(() => account()?.status === 'active')
  await indexed.indexer.settled()
  assert.deepEqual(indexed.failures, [])
})
