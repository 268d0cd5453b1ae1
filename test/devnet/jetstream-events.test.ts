import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { until } from '../support/until.ts'
import { commits, connect, statusOf } from './consumer.ts'

let network: Network
let alice: DevAccount
let bob: DevAccount

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  bob = await network.createAccount('bob.test')
  await network.settled()
})
after(() => network.stop())

test('a create, an update and a delete arrive as the public service sends them', async () => {
  const consumer = await connect(network.jetstreamUrl)
  const made = await alice.put('dev.example.thing', 'a', { title: 'one' })
  const changed = await alice.put('dev.example.thing', 'a', { title: 'two' })
  await alice.remove('dev.example.thing', 'a')
  const [create, update, remove] = await consumer.has(3)
  assert.deepEqual(
    { ...create?.commit, rev: '' },
    {
      rev: '',
      operation: 'create',
      collection: 'dev.example.thing',
      rkey: 'a',
      record: { $type: 'dev.example.thing', title: 'one' },
      cid: made.cid,
    },
  )
  assert.equal(create?.did, alice.did)
  assert.equal(update?.commit?.operation, 'update')
  assert.equal(update?.commit?.cid, changed.cid)
  assert.deepEqual({ ...remove?.commit, rev: '' }, { rev: '', operation: 'delete', collection: 'dev.example.thing', rkey: 'a' })
  assert.ok((create?.cursor ?? 0) < (update?.cursor ?? 0) && (update?.cursor ?? 0) < (remove?.cursor ?? 0))
  assert.ok((create?.time_us ?? 0) < (update?.time_us ?? 0), 'times go forward')
  await consumer.end()
})

test('every operation of one commit arrives, in order', async () => {
  const consumer = await connect(network.jetstreamUrl, `?wantedDids=${alice.did}`)
  const writes = ['x', 'y', 'z'].map(rkey => ({
    $type: 'com.atproto.repo.applyWrites#create',
    collection: 'dev.example.thing',
    rkey,
    value: { $type: 'dev.example.thing', rkey },
  }))
  await alice.call('com.atproto.repo.applyWrites', { input: { repo: alice.did, writes } })
  const events = await consumer.has(3)
  assert.deepEqual(commits(events), ['dev.example.thing/x create', 'dev.example.thing/y create', 'dev.example.thing/z create'])
  assert.equal(new Set(events.map(event => event.commit?.rev)).size, 1)
  await consumer.end()
})

test('a blob reference keeps its JSON form', async () => {
  const consumer = await connect(network.jetstreamUrl)
  const blob = await alice.upload(Buffer.from('some bytes'), 'application/octet-stream')
  await alice.put('dev.example.thing', 'blob', { blob })
  const [event] = await consumer.has(1)
  assert.deepEqual(event?.commit?.record?.blob, blob)
  await consumer.end()
})

test('a handle change is an identity event with the new handle, a deactivation an account event, whatever collections are wanted', async () => {
  const carol = await network.createAccount('carol.test')
  await network.settled()
  const consumer = await connect(network.jetstreamUrl, '?wantedCollections=dev.example.nothing')
  await carol.call('com.atproto.identity.updateHandle', { input: { handle: 'caroline.test' } })
  await network.settled()
  await carol.call('com.atproto.server.deactivateAccount', { input: {} })
  const events = await until(() => {
    const account = consumer.events.find(event => event.kind === 'account')
    return account === undefined ? undefined : consumer.events
  })
  const identity = events.find(event => event.kind === 'identity')
  assert.equal(identity?.identity?.handle, 'caroline.test')
  assert.equal(identity?.did, carol.did)
  const account = events.find(event => event.kind === 'account')
  assert.deepEqual(
    { did: account?.account?.did, active: account?.account?.active, status: account?.account?.status },
    { did: carol.did, active: false, status: 'deactivated' },
  )
  await consumer.end()
})

test('wanted collections, prefixes and accounts filter', async () => {
  const exact = await connect(network.jetstreamUrl, '?wantedCollections=dev.example.thing')
  const prefix = await connect(network.jetstreamUrl, '?wantedCollections=dev.example.*')
  const ofBob = await connect(network.jetstreamUrl, `?wantedCollections=dev.example.*&wantedDids=${bob.did}`)
  await alice.put('dev.example.thing', 'f', {})
  await alice.put('dev.examples.thing', 'f', {})
  await alice.put('dev.example.other', 'f', {})
  await bob.put('dev.example.thing', 'last', {})
  await exact.has(2)
  await prefix.has(3)
  await ofBob.has(1)
  assert.deepEqual(commits(exact.events), ['dev.example.thing/f create', 'dev.example.thing/last create'])
  assert.deepEqual(commits(prefix.events), ['dev.example.thing/f create', 'dev.example.other/f create', 'dev.example.thing/last create'])
  assert.deepEqual(commits(ofBob.events), ['dev.example.thing/last create'])
  await Promise.all([exact.end(), prefix.end(), ofBob.end()])
})

test('an event over maxMessageSizeBytes is skipped', async () => {
  const consumer = await connect(network.jetstreamUrl, '?maxMessageSizeBytes=2000')
  const unbounded = await connect(network.jetstreamUrl, '?maxMessageSizeBytes=-1')
  await alice.put('dev.example.thing', 'big', { text: 'x'.repeat(3000) })
  await alice.put('dev.example.thing', 'small', {})
  await consumer.has(1)
  await unbounded.has(2)
  assert.deepEqual(commits(consumer.events), ['dev.example.thing/small create'])
  await Promise.all([consumer.end(), unbounded.end()])
})

test('wrong parameters get 400, another path 404', async () => {
  const many = (name: string, count: number, value: (n: number) => string) =>
    `?${Array.from({ length: count }, (_, n) => `${name}=${value(n)}`).join('&')}`
  const wrong = [
    '?wantedCollections=nonsense',
    '?wantedCollections=dev.fo*',
    '?wantedCollections=*',
    '?wantedDids=alice.test',
    '?cursor=-1',
    '?cursor=soon',
    '?cursor=1.5',
    '?compress=true',
    many('wantedCollections', 101, n => `dev.example.c${n}`),
  ]
  for (const query of wrong) assert.equal(await statusOf(network.jetstreamUrl, query), 400, query)
  assert.equal(await statusOf(network.jetstreamUrl, '', { 'socket-encoding': 'zstd' }), 400)
  const full = many('wantedCollections', 100, n => `dev.example.c${n}`)
  assert.equal(await statusOf(network.jetstreamUrl, full), 101)
  assert.equal(await statusOf(network.jetstreamUrl.replace('/subscribe', '/other'), ''), 404)
})
