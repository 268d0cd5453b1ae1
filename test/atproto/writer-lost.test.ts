import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { RecordKey } from '../../src/atproto/ids.ts'
import { logIn } from '../../src/atproto/password-session.ts'
import type { AccountSession } from '../../src/atproto/session.ts'
import { createWriter } from '../../src/atproto/writer.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'

let network: Network
let alice: DevAccount
let session: AccountSession
/** Every request that was sent, by method. */
let sent: string[] = []

const things = 'dev.example.thing'
const create = 'com.atproto.repo.createRecord'
const put = 'com.atproto.repo.putRecord'
const apply = 'com.atproto.repo.applyWrites'
const read = 'com.atproto.repo.getRecord'

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  const login = await logIn({ fetch: globalThis.fetch }, { pds: network.pdsUrl, identifier: alice.handle, password: alice.password })
  assert.ok(login.ok)
  const real = login.session
  session = {
    did: real.did,
    fetchHandler(path, init) {
      sent.push(path.slice('/xrpc/'.length).split('?')[0] ?? '')
      return real.fetchHandler(path, init)
    },
  }
})
after(() => network.stop())
afterEach(() => network.faults.clear())

/** A writer that has compared clocks already, so that only the write itself is counted. */
async function writer(options: { timeoutMs?: number; tries?: number } = {}) {
  const made = createWriter({ session, now: Date.now, ...options })
  const warm = await made.deleteRecord({ collection: things, rkey: 'warm' })
  assert.ok(warm.ok)
  sent = []
  return made
}

function thing(rkey: RecordKey, n = 1) {
  return { collection: things, rkey, record: { $type: things, n } } as const
}

/** A session in which somebody else is quicker than each look at what was written. */
function racing(other: () => Promise<unknown>): AccountSession {
  sent = []
  return {
    did: session.did,
    async fetchHandler(path, init) {
      if (path.includes(read)) await other()
      return session.fetchHandler(path, init)
    },
  }
}

test('STO-7 a create whose answer was lost is found by reading and not sent again', async () => {
  const w = await writer()
  network.faults.add({ fault: 'lose', method: create, times: 1 })
  const made = await w.createRecord(thing('lost'))
  assert.deepEqual(made, { ok: true, cid: (await alice.get(things, 'lost'))?.cid })
  assert.deepEqual(sent, [create, read])
})

test('STO-7 a put and a delete whose answers were lost are found by reading', async () => {
  const w = await writer()
  const before = await alice.put(things, 'put', { n: 0 })
  network.faults.add({ fault: 'lose', method: put, times: 1 })
  const made = await w.putRecord({ ...thing('put'), swapRecord: before.cid })
  assert.deepEqual(made, { ok: true, cid: (await alice.get(things, 'put'))?.cid })
  assert.ok(made.ok && made.cid !== before.cid)
  network.faults.add({ fault: 'lose', method: 'com.atproto.repo.deleteRecord', times: 1 })
  assert.deepEqual(await w.deleteRecord({ collection: things, rkey: 'put', swapRecord: made.cid }), { ok: true })
  assert.deepEqual(sent, [put, read, 'com.atproto.repo.deleteRecord', read])
  assert.equal(await alice.get(things, 'put'), undefined)
})

test('STO-7 a batch whose answer was lost is found by the keys it created, though the head has moved', async () => {
  const w = await writer()
  const head = await alice.call('com.atproto.sync.getLatestCommit', { params: { did: alice.did } })
  assert.ok(typeof head === 'object' && head !== null && 'cid' in head && typeof head.cid === 'string')
  network.faults.add({ fault: 'lose', method: apply, times: 1 })
  const one = { writes: [{ action: 'create', ...thing('batch', 5) }], swapCommit: head.cid } as const
  const made = await w.applyWrites(one)
  assert.deepEqual(made, { ok: true, cids: [(await alice.get(things, 'batch'))?.cid] })
  const again = await w.applyWrites(one)
  assert.deepEqual(again, made, 'and the same call again, its swap lost to itself, is success')
})

test('STO-7 a batch whose answer was lost is known by what it created, though what it changed was changed again', async () => {
  await alice.put(things, 'changed', { n: 0 })
  network.faults.add({ fault: 'lose', method: apply, times: 1 })
  const raced = createWriter({ session: racing(() => alice.put(things, 'changed', { n: 99 })), now: Date.now })
  const writes = [
    { action: 'update', ...thing('changed', 6) },
    { action: 'create', ...thing('made', 7) },
  ] as const
  assert.ok((await raced.applyWrites({ writes })).ok)
  assert.deepEqual(
    sent.filter(method => method === apply),
    [apply],
  )
})

test('STO-7 a write that never arrived is sent again, once reading has shown so', async () => {
  const w = await writer()
  network.faults.add({ fault: 'refuse', method: create, status: 503, times: 1 })
  const made = await w.createRecord(thing('again'))
  assert.ok(made.ok && made.rev)
  assert.deepEqual(sent, [create, read, create])
})

test('STO-7 tries are bounded, and what no server has said is not settled', async () => {
  const w = await writer({ tries: 3 })
  network.faults.add({ fault: 'refuse', method: create, status: 502 })
  const failed = await w.createRecord(thing('never'))
  assert.ok(!failed.ok)
  assert.deepEqual([failed.code, failed.settled], ['upstream-failed', false])
  assert.deepEqual(sent, [create, read, create, read, create, read])
})

test('STO-7 a failure that the server itself reports is settled when the key shows nothing', async () => {
  const w = await writer()
  network.faults.add({ fault: 'refuse', method: create, status: 500, error: 'InternalServerError' })
  const failed = await w.createRecord(thing('broken'))
  assert.ok(!failed.ok)
  assert.deepEqual([failed.code, failed.settled], ['upstream-failed', true])
  assert.equal(await alice.get(things, 'broken'), undefined)
})

test('STO-7 a lost answer that cannot be read back is not known, and the same call later settles it', async () => {
  const w = await writer()
  network.faults.add({ fault: 'lose', method: create, times: 1 })
  network.faults.add({ fault: 'refuse', method: read, status: 503, times: 1 })
  const unknown = await w.createRecord(thing('unknown'))
  assert.ok(!unknown.ok)
  assert.deepEqual([unknown.code, unknown.settled], ['upstream-failed', false])
  assert.deepEqual(sent, [create, read])
  const settled = await w.createRecord(thing('unknown'))
  assert.deepEqual(settled, { ok: true, cid: (await alice.get(things, 'unknown'))?.cid })
})

test('STO-7 a garbled answer is a lost one', async () => {
  const w = await writer()
  network.faults.add({ fault: 'garble', method: put, times: 1 })
  const made = await w.putRecord(thing('garbled'))
  assert.ok(made.ok && made.cid === (await alice.get(things, 'garbled'))?.cid)
  assert.deepEqual(sent.slice(0, 2), [put, read])
})

test('STO-7 a swap lost after a lost answer is not settled: the write may have been there and gone', async () => {
  const before = await alice.put(things, 'over', { n: 0 })
  network.faults.add({ fault: 'lose', method: put, times: 1 })
  const raced = createWriter({ session: racing(() => alice.put(things, 'over', { n: 99 })), now: Date.now })
  const lost = await raced.putRecord({ ...thing('over'), swapRecord: before.cid })
  assert.ok(!lost.ok)
  assert.deepEqual([lost.code, lost.settled], ['swap-lost', false])
})

test('a server that is slow is waited for once, as long as was said', async () => {
  const w = await writer({ timeoutMs: 1_000, tries: 5 })
  network.faults.add({ fault: 'stall', method: put })
  const failed = await w.putRecord(thing('slow'))
  assert.ok(!failed.ok)
  assert.deepEqual([failed.code, failed.settled], ['upstream-failed', false])
  assert.deepEqual(sent, [put, read])
})

test('a server that asks to wait is not asked again, and says for how long', async () => {
  const w = await writer()
  network.faults.add({ fault: 'refuse', method: put, status: 429, error: 'RateLimitExceeded' })
  const failed = await w.putRecord(thing('waiting'))
  assert.ok(!failed.ok)
  assert.deepEqual([failed.code, failed.settled], ['rate-limited', true])
  assert.deepEqual(sent, [put])
})

test('a server that is down says so, and nothing is thrown', async () => {
  const gone: AccountSession = { did: session.did, fetchHandler: () => Promise.reject(new TypeError('fetch failed')) }
  const failed = await createWriter({ session: gone, now: Date.now }).createRecord(thing('down'))
  assert.deepEqual(failed, { ok: false, code: 'upstream-failed', message: "the account's server: connection lost", settled: true })
})

test('an upload whose answer was lost is sent again: the same bytes are the same blob', async () => {
  const w = await writer()
  network.faults.add({ fault: 'lose', method: 'com.atproto.repo.uploadBlob', times: 1 })
  const upload = await w.uploadBlob(Buffer.from('bytes'), 'text/plain')
  assert.ok(upload.ok && upload.blob.size === 5)
})

test('STO-5 a reference to other bytes than those uploaded is not taken', async () => {
  const other = await (await writer()).uploadBlob(Buffer.from('other bytes'), 'text/plain')
  assert.ok(other.ok)
  const lying: AccountSession = {
    did: session.did,
    fetchHandler: async () => Response.json({ blob: { ...other.blob, ref: { $link: other.blob.ref.toString() } } }),
  }
  const upload = await createWriter({ session: lying, now: Date.now }).uploadBlob(Buffer.from('these bytes'), 'text/plain')
  assert.ok(!upload.ok && upload.code === 'upstream-failed')
})
