import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { until } from '../support/until.ts'
import { type Consumer, commits, connect, statusOf } from './consumer.ts'

let network: Network
let alice: DevAccount
let bob: DevAccount
let consumer: Consumer

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  bob = await network.createAccount('bob.test')
})
after(() => network.stop())
afterEach(async () => {
  network.faults.clear()
  await consumer.end()
})

/** A live consumer and a collection of the test's own. */
async function follow(collection: string): Promise<void> {
  await network.settled()
  consumer = await connect(network.jetstreamUrl, `?wantedCollections=${collection}`)
}

async function write(collection: string, keys: string[], account = alice): Promise<void> {
  for (const key of keys) await account.put(collection, key, {})
}

/** Record keys of what came; a replay carries identity and account events too. */
const keys = () => consumer.events.flatMap(event => (event.commit === undefined ? [] : [event.commit.rkey]))

test('drop loses events of a collection for everyone, also in a replay, until it is cleared', async () => {
  await follow('dev.example.dropped')
  const fault = network.faults.add({ fault: 'drop', collection: 'dev.example.dropped', times: 1 })
  await write('dev.example.dropped', ['a', 'b'])
  await consumer.has(1)
  assert.deepEqual(keys(), ['b'])
  assert.equal(fault.hits(), 1)
  await consumer.end()
  consumer = await connect(network.jetstreamUrl, '?cursor=1&wantedCollections=dev.example.dropped')
  await until(() => keys().includes('b'))
  assert.deepEqual(keys(), ['b'])
  await consumer.end()
  fault.clear()
  consumer = await connect(network.jetstreamUrl, '?cursor=1&wantedCollections=dev.example.dropped')
  await until(() => keys().includes('b'))
  assert.deepEqual(keys(), ['a', 'b'])
})

test('a fault may be for one account and a prefix of collections', async () => {
  await follow('dev.example.two')
  network.faults.add({ fault: 'drop', did: bob.did, collection: 'dev.example.*' })
  await write('dev.example.two', ['a'], bob)
  await write('dev.example.two', ['b'], alice)
  await consumer.has(1)
  assert.deepEqual(keys(), ['b'])
})

test('duplicate sends an event as often as told', async () => {
  await follow('dev.example.twice')
  network.faults.add({ fault: 'duplicate', copies: 3, times: 1 })
  await write('dev.example.twice', ['a', 'b'])
  await consumer.has(4)
  assert.deepEqual(keys(), ['a', 'a', 'a', 'b'])
  assert.equal(new Set(consumer.events.map(event => event.cursor)).size, 2)
})

test('delay holds an event and what comes after it', async () => {
  await follow('dev.example.late')
  network.faults.add({ fault: 'delay', ms: 300, times: 1 })
  const start = Date.now()
  await write('dev.example.late', ['a', 'b'])
  await consumer.has(2)
  assert.ok(Date.now() - start >= 300)
  assert.deepEqual(keys(), ['a', 'b'])
})

test('clearing a delay lets the event go at once', async () => {
  await follow('dev.example.freed')
  const fault = network.faults.add({ fault: 'delay', ms: 600_000 })
  await write('dev.example.freed', ['a'])
  await until(() => fault.hits() === 1)
  assert.deepEqual(keys(), [])
  fault.clear()
  await consumer.has(1)
})

test('reorder lets later events overtake, and sends a lonely one after its time', async () => {
  await follow('dev.example.mixed')
  network.faults.add({ fault: 'reorder', by: 2, ms: 60_000, times: 1 })
  await write('dev.example.mixed', ['a', 'b', 'c', 'd'])
  await consumer.has(4)
  assert.deepEqual(keys(), ['b', 'c', 'a', 'd'])
  network.faults.add({ fault: 'reorder', by: 5, ms: 200, times: 1 })
  await write('dev.example.mixed', ['e'])
  await consumer.has(5)
})

test('hold keeps the stream back and release lets it go, in order', async () => {
  await follow('dev.example.held')
  network.faults.hold()
  await write('dev.example.held', ['a', 'b'])
  await network.settled()
  assert.deepEqual(keys(), [])
  network.faults.release()
  await consumer.has(2)
  assert.deepEqual(keys(), ['a', 'b'])
})

test('cut closes every connection; with refuse new ones get 503 until cleared', async () => {
  await follow('dev.example.cut')
  network.faults.cut()
  assert.equal(await until(() => consumer.closed()), 1006)
  assert.equal(await statusOf(network.jetstreamUrl, ''), 101)
  network.faults.cut({ refuse: true })
  assert.equal(await statusOf(network.jetstreamUrl, ''), 503)
  network.faults.clear()
  assert.equal(await statusOf(network.jetstreamUrl, ''), 101)
})

test('garbage sends a frame that is no event, and the stream goes on', async () => {
  await follow('dev.example.noise')
  network.faults.garbage('{"did":')
  await write('dev.example.noise', ['a'])
  await consumer.has(1)
  assert.deepEqual(consumer.garbage, ['{"did":'])
  assert.deepEqual(commits(consumer.events), ['dev.example.noise/a create'])
})
