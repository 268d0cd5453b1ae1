import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { XrpcFailure, xrpc } from '../../src/devnet/xrpc.ts'
import { until } from '../support/until.ts'

let network: Network
let alice: DevAccount
let bob: DevAccount

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  bob = await network.createAccount('bob.test')
})
after(() => network.stop())
afterEach(() => network.faults.clear())

const refused = (status: number) => (error: unknown) => error instanceof XrpcFailure && error.status === status

test('refuse answers a method with a status, as often as told', async () => {
  const fault = network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.putRecord', status: 502, error: 'Broken', times: 1 })
  await assert.rejects(alice.put('dev.example.thing', 'a', {}), (error: unknown) => refused(502)(error) && String(error).includes('Broken'))
  assert.equal(await alice.get('dev.example.thing', 'a'), undefined, 'other methods pass, and nothing was written')
  await alice.put('dev.example.thing', 'a', {})
  assert.equal(fault.hits(), 1)
})

test('a fault may be for one account: by its token, or by the account that is read', async () => {
  network.faults.add({ fault: 'refuse', account: 'alice.test', method: 'com.atproto.repo.*' })
  await assert.rejects(alice.put('dev.example.thing', 'b', {}), refused(503))
  await bob.put('dev.example.thing', 'b', {})
  const read = (repo: string) => xrpc(network.pdsUrl, 'com.atproto.repo.listRecords', { params: { repo, collection: 'dev.example.thing' } })
  await assert.rejects(read(alice.did), refused(503))
  await assert.rejects(read('alice.test'), refused(503))
  await read(bob.did)
})

test('a large upload that is refused is answered, and the next call works', async () => {
  network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.uploadBlob', status: 413, error: 'PayloadTooLarge' })
  await assert.rejects(alice.upload(new Uint8Array(20e6), 'application/octet-stream'), refused(413))
  network.faults.clear()
  await alice.upload(new Uint8Array(1000), 'application/octet-stream')
})

test('stall keeps a call waiting until it is cleared, then it is carried out', async () => {
  const fault = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.putRecord' })
  let done = false
  const write = alice.put('dev.example.thing', 'stalled', {}).then(() => {
    done = true
  })
  await until(() => fault.hits() === 1)
  assert.equal(await alice.get('dev.example.thing', 'stalled'), undefined)
  assert.equal(done, false)
  fault.clear()
  await write
  assert.ok(await alice.get('dev.example.thing', 'stalled'))
})

test('stall with a time goes on after it', async () => {
  network.faults.add({ fault: 'stall', method: 'com.atproto.repo.getRecord', ms: 200 })
  const start = Date.now()
  await alice.get('dev.example.thing', 'stalled')
  assert.ok(Date.now() - start >= 200)
})

test('garble answers 200 with something that is no answer, and does not reach the PDS', async () => {
  network.faults.add({ fault: 'garble', method: 'com.atproto.repo.putRecord', body: '<html>' })
  await assert.rejects(alice.put('dev.example.thing', 'garbled', {}), SyntaxError)
  assert.equal(await alice.get('dev.example.thing', 'garbled'), undefined)
})

test('lose makes the write and breaks the connection instead of answering', async () => {
  const fault = network.faults.add({ fault: 'lose', method: 'com.atproto.repo.putRecord', times: 1 })
  await assert.rejects(alice.put('dev.example.thing', 'lost', {}), TypeError)
  assert.ok(await alice.get('dev.example.thing', 'lost'))
  assert.equal(fault.hits(), 1)
  await alice.put('dev.example.thing', 'found', {})
})

test('the firehose goes past the gate: a stalled PDS still streams', async () => {
  await alice.put('dev.example.thing', 'before', {})
  network.faults.add({ fault: 'stall' })
  await network.settled()
})
