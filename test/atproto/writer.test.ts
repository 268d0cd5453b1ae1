import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { cidForRawBytes } from '@atproto/lex-data'
import type { RecordKey } from '../../src/atproto/ids.ts'
import { logIn } from '../../src/atproto/password-session.ts'
import type { AccountSession } from '../../src/atproto/session.ts'
import { type AccountWriter, createWriter } from '../../src/atproto/writer.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'

let network: Network
let alice: DevAccount
let session: AccountSession
let writer: AccountWriter

const things = 'dev.example.thing'

before(async () => {
  network = await startNetwork({ pds: { blobUploadLimit: 2 ** 20 } })
  alice = await network.createAccount('alice.test')
  session = await sessionOf(alice)
  writer = createWriter({ session, now: Date.now })
})
after(() => network.stop())

async function sessionOf(account: DevAccount): Promise<AccountSession> {
  const login = await logIn({ fetch: globalThis.fetch }, { pds: network.pdsUrl, identifier: account.handle, password: account.password })
  assert.ok(login.ok)
  return login.session
}

function thing(rkey: RecordKey, n = 1) {
  return { collection: things, rkey, record: { $type: things, n } } as const
}

test('a record is created, put, and taken away; each answer says as what it stands now', async () => {
  const created = await writer.createRecord(thing('a'))
  assert.ok(created.ok && created.rev)
  assert.equal((await alice.get(things, 'a'))?.cid, created.cid)
  const put = await writer.putRecord({ ...thing('a', 2), swapRecord: created.cid })
  assert.ok(put.ok && put.rev && put.rev > created.rev)
  assert.equal((await alice.get(things, 'a'))?.cid, put.cid)
  assert.deepEqual(await writer.deleteRecord({ collection: things, rkey: 'a', swapRecord: put.cid }), { ok: true })
  assert.equal(await alice.get(things, 'a'), undefined)
  assert.deepEqual(await writer.deleteRecord({ collection: things, rkey: 'a' }), { ok: true }, 'what is not there is away')
})

test('STO-6 a swap that is lost is said, settled, and writes nothing', async () => {
  const first = await writer.putRecord({ ...thing('swap'), swapRecord: null })
  assert.ok(first.ok)
  await alice.put(things, 'swap', { n: 2 })
  const lost = await writer.putRecord({ ...thing('swap', 3), swapRecord: first.cid })
  assert.ok(!lost.ok)
  assert.deepEqual([lost.code, lost.settled], ['swap-lost', true])
  const taken = await writer.putRecord({ ...thing('swap', 4), swapRecord: null })
  assert.ok(!taken.ok && taken.code === 'swap-lost')
  const kept = await writer.deleteRecord({ collection: things, rkey: 'swap', swapRecord: first.cid })
  assert.ok(!kept.ok && kept.code === 'swap-lost')
  assert.equal((await alice.get(things, 'swap'))?.value.n, 2)
})

test('STO-6 of many puts on one version exactly one wins', async () => {
  const base = await writer.putRecord(thing('race'))
  assert.ok(base.ok)
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, i) => writer.putRecord({ ...thing('race', 100 + i), swapRecord: base.cid })),
  )
  assert.equal(outcomes.filter(one => one.ok).length, 1)
  for (const one of outcomes) assert.ok(one.ok || (one.code === 'swap-lost' && one.settled))
})

test('STO-7 the very same record again is success and changes nothing, by create, put and batch', async () => {
  const first = await writer.createRecord(thing('same'))
  const head = await alice.call('com.atproto.sync.getLatestCommit', { params: { did: alice.did } })
  assert.ok(first.ok)
  const again = await writer.createRecord(thing('same'))
  assert.deepEqual(again, { ok: true, cid: first.cid })
  const put = await writer.putRecord({ ...thing('same'), swapRecord: null })
  assert.ok(put.ok && put.cid === first.cid)
  const batch = await writer.applyWrites({ writes: [{ action: 'create', ...thing('same') }] })
  assert.deepEqual(batch, { ok: true, cids: [first.cid] })
  assert.deepEqual(await alice.call('com.atproto.sync.getLatestCommit', { params: { did: alice.did } }), head)
})

test('STO-7 a key that holds another record is said to be taken, not to be a fault of the server', async () => {
  await alice.put(things, 'taken', { n: 7 })
  const taken = await writer.createRecord(thing('taken'))
  assert.ok(!taken.ok)
  assert.deepEqual([taken.code, taken.settled], ['key-taken', true])
  const batch = await writer.applyWrites({
    writes: [
      { action: 'create', ...thing('free') },
      { action: 'create', ...thing('taken') },
    ],
  })
  assert.ok(!batch.ok)
  assert.equal(await alice.get(things, 'free'), undefined, 'all or none')
})

test('a batch is one commit under the head that it was made for', async () => {
  const head = await alice.call('com.atproto.sync.getLatestCommit', { params: { did: alice.did } })
  assert.ok(typeof head === 'object' && head !== null && 'cid' in head && typeof head.cid === 'string')
  await alice.put(things, 'old', { n: 1 })
  const writes = [
    { action: 'create', ...thing('new', 3) },
    { action: 'update', ...thing('old', 2) },
    { action: 'delete', collection: things, rkey: 'same' },
  ] as const
  const stale = await writer.applyWrites({ writes, swapCommit: head.cid })
  assert.ok(!stale.ok)
  assert.deepEqual([stale.code, stale.settled], ['swap-lost', true])
  assert.equal(await alice.get(things, 'new'), undefined)
  const done = await writer.applyWrites({ writes })
  assert.ok(done.ok && done.rev)
  assert.deepEqual(done.cids, [(await alice.get(things, 'new'))?.cid, (await alice.get(things, 'old'))?.cid, undefined])
  assert.equal(await alice.get(things, 'same'), undefined)
})

test('an upload of any size is taken', async () => {
  for (const size of [1, 255, 257, 1_000]) assert.ok((await writer.uploadBlob(randomBytes(size), 'application/octet-stream')).ok, `${size}`)
})

test('STO-5 a blob reference is the server’s own, its type included', async () => {
  const xml = Buffer.from('<?xml version="1.0"?><testsuites/>')
  const upload = await writer.uploadBlob(xml, 'text/plain')
  assert.ok(upload.ok)
  assert.equal(upload.blob.mimeType, 'application/xml', 'the server looks into it')
  const place = { collection: things, rkey: 'report' } as const
  const other = await writer.putRecord({ ...place, record: { $type: things, report: { ...upload.blob, mimeType: 'text/plain' } } })
  assert.ok(!other.ok && other.code === 'refused' && other.settled, 'with another type the server refuses it')
  const put = await writer.putRecord({ ...place, record: { $type: things, report: upload.blob } })
  assert.ok(put.ok)
  assert.equal((await alice.get(things, 'report'))?.cid, put.cid)
})

test('STO-2 a blob over the server’s limit is too large, however it goes away', async () => {
  for (const size of [2 ** 20 + 1, 8 * 2 ** 20]) {
    const upload = await writer.uploadBlob(randomBytes(size), 'application/octet-stream')
    assert.ok(!upload.ok)
    assert.equal(upload.code, 'too-large', upload.message)
  }
  assert.ok((await writer.uploadBlob(randomBytes(2 ** 20), 'application/octet-stream')).ok)
})

test('STO-1 a record over the server’s limit is too large', async () => {
  const put = await writer.putRecord({ collection: things, rkey: 'big', record: { $type: things, text: 'x'.repeat(1_100_000) } })
  assert.ok(!put.ok)
  assert.deepEqual([put.code, put.settled], ['too-large', true])
})

test('STO-4 a record that names a blob which is not there says so', async () => {
  const blob = { $type: 'blob' as const, ref: await cidForRawBytes(randomBytes(10)), mimeType: 'application/octet-stream', size: 10 }
  const put = await writer.putRecord({ collection: things, rkey: 'blobless', record: { $type: things, blob } })
  assert.ok(!put.ok)
  assert.deepEqual([put.code, put.settled], ['blob-not-found', true])
})

test('a token for another service is had, good for as long as was asked', async () => {
  const asked = await writer.getServiceAuth({ aud: 'did:web:q.example.com', lxm: 'dev.knotless.mergePull', seconds: 60 })
  assert.ok(asked.ok)
  const claims = JSON.parse(Buffer.from(asked.token.split('.')[1] ?? '', 'base64url').toString())
  assert.deepEqual([claims.iss, claims.aud, claims.lxm], [alice.did, 'did:web:q.example.com', 'dev.knotless.mergePull'])
  assert.ok(Math.abs(claims.exp - Date.now() / 1000 - 60) < 5)
})

test('a deactivated account writes nothing, and the server’s words are passed on', async () => {
  const erin = await network.createAccount('erin.test')
  const erins = createWriter({ session: await sessionOf(erin), now: Date.now })
  await erin.call('com.atproto.server.deactivateAccount', { input: {} })
  const put = await erins.putRecord(thing('a'))
  assert.ok(!put.ok)
  assert.ok(put.settled)
  assert.match(put.message, /deactivated/i)
})
