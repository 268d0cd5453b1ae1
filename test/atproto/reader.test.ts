import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { cidForRawBytes, isTypedBlobRef } from '@atproto/lex-data'
import { createGuardedFetch, type GuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../src/atproto/identity.ts'
import { type Did, parseDid } from '../../src/atproto/ids.ts'
import { createReader, type Reader } from '../../src/atproto/reader.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { until } from '../support/until.ts'
import { because } from './because.ts'

let network: Network
let fetch: GuardedFetch
let reader: Reader
let alice: DevAccount
let aliceDid: Did

const things = 'dev.example.thing'
const nobody: Did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'

before(async () => {
  network = await startNetwork()
  fetch = createGuardedFetch({ allowLoopback: true })
  const identity = createIdentity({ plcUrl: network.plcUrl, handleResolver: network.pdsUrl, fetch, now: Date.now })
  reader = createReader({ identity, fetch, now: Date.now })
  alice = await network.createAccount('alice.test')
  aliceDid = didOf(alice)
})
after(async () => {
  fetch.close()
  await network.stop()
})

function didOf(account: DevAccount): Did {
  const did = parseDid(account.did)
  assert.ok(did)
  return did
}

test('a record is read at its account’s server, as atproto’s data model', async () => {
  const bytes = randomBytes(100)
  const blob = await alice.upload(bytes, 'application/octet-stream')
  const written = await alice.put(things, 'one', { n: 1, file: blob })
  const record = await reader.getRecord(aliceDid, things, 'one')
  assert.equal(record?.uri, written.uri)
  assert.equal(record?.cid, written.cid)
  assert.equal(record?.rkey, 'one')
  const value = record?.value
  assert.ok(typeof value === 'object' && value !== null && 'file' in value)
  assert.ok(isTypedBlobRef(value.file), 'links are CIDs')
})

test('a record, key, collection or account that is not there is undefined', async () => {
  assert.equal(await reader.getRecord(aliceDid, things, 'none'), undefined)
  assert.equal(await reader.getRecord(aliceDid, 'dev.example.none', 'one'), undefined)
  assert.equal(await reader.getRecord(nobody, things, 'one'), undefined)
})

test('a server that is down, slow, or talks nonsense is an error, never "not there"', async () => {
  await alice.put(things, 'there', { n: 1 })
  const read = (signal?: AbortSignal) => reader.getRecord(aliceDid, things, 'there', signal === undefined ? {} : { signal })
  network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', status: 503, times: 1 })
  await assert.rejects(read(), because('status'))
  network.faults.add({ fault: 'garble', method: 'com.atproto.repo.getRecord', times: 1 })
  await assert.rejects(read(), because('bad-answer'))
  network.faults.add({ fault: 'lose', method: 'com.atproto.repo.getRecord', times: 1 })
  await assert.rejects(read(), because('refused'))
  network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', status: 429, times: 1 })
  await assert.rejects(read(), because('status'))
  assert.ok(await read(), 'and afterwards it is read as before')
})

test('records are listed newest first or oldest first, page by page, up to a bound', async () => {
  const carol = await network.createAccount('carol.test')
  const did = didOf(carol)
  for (let i = 0; i < 7; i++) await carol.put(things, `k${i}`, { n: i })
  const first = await reader.listRecords(did, things, { limit: 3 })
  assert.deepEqual(
    first.records.map(record => record.rkey),
    ['k6', 'k5', 'k4'],
  )
  assert.ok(first.cursor)
  const second = await reader.listRecords(did, things, { limit: 3, cursor: first.cursor, reverse: false })
  assert.deepEqual(
    second.records.map(record => record.rkey),
    ['k3', 'k2', 'k1'],
  )

  const all: string[] = []
  for await (const record of reader.listAllRecords(did, things, { max: 100, reverse: true })) all.push(record.rkey)
  assert.deepEqual(all, ['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6'])
  const some: string[] = []
  for await (const record of reader.listAllRecords(did, things, { max: 2 })) some.push(record.rkey)
  assert.deepEqual(some, ['k6', 'k5'])
  assert.deepEqual(await reader.listRecords(did, 'dev.example.none'), { records: [] })
})

test('a page of records too large to take at once is taken in parts', async () => {
  const dave = await network.createAccount('dave.test')
  const text = 'x'.repeat(900_000)
  for (let i = 0; i < 10; i++) await dave.put(things, `k${String(i).padStart(2, '0')}`, { n: i, text })
  await assert.rejects(reader.listRecords(didOf(dave), things), because('too-large'))
  const keys: string[] = []
  for await (const record of reader.listAllRecords(didOf(dave), things, { max: 100 })) keys.push(record.rkey)
  assert.equal(keys.length, 10)
  assert.equal(new Set(keys).size, 10)
})

test('an account that is gone is not an empty account', async () => {
  await assert.rejects(reader.listRecords(nobody, things), because('no-account'))
  const erin = await network.createAccount('erin.test')
  await erin.put(things, 'one', {})
  assert.equal(await reader.getRepoStatus(didOf(erin)), 'active')
  await erin.call('com.atproto.server.deactivateAccount', { input: {} })
  assert.equal(await reader.getRepoStatus(didOf(erin)), 'deactivated')
  await assert.rejects(reader.listRecords(didOf(erin), things), because('no-account'))
  assert.equal(await reader.getLatestCommit(didOf(erin)), undefined)
  assert.equal(await reader.getRepoStatus(nobody), 'gone')
  assert.equal(await reader.getLatestCommit(nobody), undefined)
  assert.equal(await reader.describeRepo(nobody), undefined)
})

test('the head of an account’s repository moves with each write', async () => {
  const before = await reader.getLatestCommit(aliceDid)
  await alice.put(things, 'moving', { at: 1 })
  const now = await reader.getLatestCommit(aliceDid)
  assert.ok(before && now && now.rev > before.rev && now.cid !== before.cid)
})

test('STO-4 a blob is read as long as a record names it, and its absence is no failure', async () => {
  const bytes = randomBytes(300_000)
  const cid = (await cidForRawBytes(bytes)).toString()
  assert.equal(await reader.getBlob(aliceDid, cid, { maxBytes: 2 ** 20 }), undefined, 'never uploaded')
  await alice.put(things, 'pack', { pack: await alice.upload(bytes, 'application/octet-stream') })
  const chunks = await reader.getBlob(aliceDid, cid, { maxBytes: 2 ** 20 })
  assert.ok(chunks)
  assert.deepEqual(Buffer.concat(await Array.fromAsync(chunks)), bytes)
  await assert.rejects(reader.getBlob(aliceDid, cid, { maxBytes: 1_000 }), because('too-large'))
  await alice.put(things, 'pack', { n: 2 })
  await until(async () => (await reader.getBlob(aliceDid, cid, { maxBytes: 2 ** 20 })) === undefined)
  assert.equal(await reader.getBlob(nobody, cid, { maxBytes: 2 ** 20 }), undefined)
  assert.equal(await reader.getBlob(aliceDid, 'not a cid', { maxBytes: 2 ** 20 }), undefined)
})

test('the relay tells which accounts have records of a collection', async () => {
  await alice.put('dev.example.rare', 'one', {})
  await network.settled()
  const { dids } = await reader.listReposByCollection(network.relayUrl, 'dev.example.rare')
  assert.deepEqual(dids, [aliceDid])
})

test('REC-8 the difference of clocks is known from the last answer', async () => {
  await reader.getLatestCommit(aliceDid)
  const skew = await reader.clockSkew(aliceDid)
  assert.ok(skew !== undefined && Math.abs(skew) < 5_000)
  assert.equal(await reader.clockSkew(nobody), undefined)
})
