import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { until } from '../support/until.ts'
import { commits, connect } from './consumer.ts'

let network: Network
let alice: DevAccount

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  await network.settled()
})
after(() => network.stop())

const update = (payload: unknown) => ({ type: 'options_update', payload })

test('options_update replaces the whole filter', async () => {
  const consumer = await connect(network.jetstreamUrl, `?wantedCollections=dev.example.one&wantedDids=did:plc:nobody`)
  consumer.send(update({ wantedCollections: ['dev.example.two'] }))
  // The update and the write travel on different connections: write until the new filter shows.
  let n = 0
  await until(async () => {
    await alice.put('dev.example.one', `k${n}`, {})
    await alice.put('dev.example.two', `k${n++}`, {})
    return consumer.events.length > 0
  })
  assert.ok(commits(consumer.events).every(commit => commit.startsWith('dev.example.two/')))
  await consumer.end()
})

test('requireHello holds the stream until the first options_update', async () => {
  await alice.put('dev.example.hello', 'a', {})
  await network.settled()
  const quiet = await connect(network.jetstreamUrl, '?cursor=1&requireHello=true')
  const control = await connect(network.jetstreamUrl, '?cursor=1&requireHello=True')
  await until(() => commits(control.events).includes('dev.example.hello/a create'))
  assert.deepEqual(quiet.events, [])
  quiet.send(update({ wantedCollections: ['dev.example.hello'] }))
  await until(() => commits(quiet.events).length > 0)
  assert.deepEqual(commits(quiet.events), ['dev.example.hello/a create'])
  await Promise.all([quiet.end(), control.end()])
})

test('a message that is no JSON closes with 1007, an update that is not valid with 1008, one of another type is passed over', async () => {
  const cases: Array<[unknown, number]> = [
    ['{', 1007],
    [update({ wantedCollections: ['x.fo*'] }), 1008],
    [update({ wantedDids: ['alice.test'] }), 1008],
    [update({ wantedCollections: 'dev.example.one' }), 1008],
    [{ payload: {} }, 1008],
  ]
  for (const [message, code] of cases) {
    const consumer = await connect(network.jetstreamUrl)
    consumer.send(message)
    assert.equal(await until(() => consumer.closed()), code, JSON.stringify(message))
  }
  const consumer = await connect(network.jetstreamUrl)
  consumer.send({ type: 'something_new' })
  await alice.put('dev.example.still', 'a', {})
  assert.deepEqual(commits(await consumer.has(1)), ['dev.example.still/a create'])
  await consumer.end()
})
