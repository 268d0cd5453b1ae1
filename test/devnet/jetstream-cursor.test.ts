import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { until } from '../support/until.ts'
import { commits, connect, type WireEvent } from './consumer.ts'

let network: Network
let alice: DevAccount
let history: WireEvent[]

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  for (const rkey of ['a', 'b', 'c', 'd']) await alice.put('dev.example.thing', rkey, {})
  await network.settled()
  const consumer = await connect(network.jetstreamUrl, '?cursor=0&wantedCollections=dev.example.thing')
  await until(() => commits(consumer.events).length === 4)
  history = consumer.events.filter(event => event.kind === 'commit')
  await consumer.end()
})
after(() => network.stop())

test('without a cursor the stream is live', async () => {
  const consumer = await connect(network.jetstreamUrl)
  await alice.put('dev.example.live', 'a', {})
  assert.deepEqual(commits(await consumer.has(1)), ['dev.example.live/a create'])
  await consumer.end()
})

test('a sequence number replays from that event on, itself included', async () => {
  const third = history[2]
  const consumer = await connect(network.jetstreamUrl, `?wantedCollections=dev.example.thing&cursor=${third?.cursor}`)
  const events = await consumer.has(2)
  assert.deepEqual(commits(events), ['dev.example.thing/c create', 'dev.example.thing/d create'])
  assert.deepEqual(events[0], third)
  await consumer.end()
})

test('unix microseconds replay from the first event at or after them', async () => {
  const time = history[1]?.time_us ?? 0
  const at = await connect(network.jetstreamUrl, `?wantedCollections=dev.example.thing&cursor=${time}`)
  const past = await connect(network.jetstreamUrl, `?wantedCollections=dev.example.thing&cursor=${time + 1}`)
  await at.has(3)
  await past.has(2)
  assert.deepEqual(commits(at.events)[0], 'dev.example.thing/b create')
  assert.deepEqual(commits(past.events)[0], 'dev.example.thing/c create')
  await Promise.all([at.end(), past.end()])
})

test('a future cursor, of either kind, gets the live tail', async () => {
  const bySeq = await connect(network.jetstreamUrl, `?cursor=${network.tip() + 1000}`)
  const byTime = await connect(network.jetstreamUrl, `?cursor=${(Date.now() + 3_600_000) * 1000}`)
  await alice.put('dev.example.later', 'a', {})
  assert.deepEqual(commits(await bySeq.has(1)), ['dev.example.later/a create'])
  assert.deepEqual(commits(await byTime.has(1)), ['dev.example.later/a create'])
  await Promise.all([bySeq.end(), byTime.end()])
})

test('what is replayed and what is live join without a gap and without a repetition', async () => {
  const writes = Array.from({ length: 40 }, (_, n) => n)
  const writing = (async () => {
    for (const n of writes) await alice.put('dev.example.joined', `k${n}`, {})
  })()
  await until(async () => (await alice.list('dev.example.joined')).length > 5)
  const consumer = await connect(network.jetstreamUrl, '?cursor=1&wantedCollections=dev.example.joined')
  await writing
  await until(() => commits(consumer.events).length >= 40)
  assert.deepEqual(
    commits(consumer.events),
    writes.map(n => `dev.example.joined/k${n} create`),
  )
  await consumer.end()
})

test('what was made older is not replayed to whoever asks for the last moments, and what comes after it is', async () => {
  await alice.put('dev.example.aged', 'old', {})
  await network.settled()
  network.age(60_000)
  const recent = await connect(network.jetstreamUrl, `?wantedCollections=dev.example.aged&cursor=${(Date.now() - 30_000) * 1_000}`)
  await alice.put('dev.example.aged', 'new', {})
  assert.deepEqual(commits(await recent.has(1)), ['dev.example.aged/new create'])
  const all = await connect(network.jetstreamUrl, `?wantedCollections=dev.example.aged&cursor=${(Date.now() - 90_000) * 1_000}`)
  assert.deepEqual(commits(await all.has(2)), ['dev.example.aged/old create', 'dev.example.aged/new create'])
  await Promise.all([recent.end(), all.end()])
})
