import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { clockSkewMs } from '../../src/atproto/clock-skew.ts'
import { logIn } from '../../src/atproto/password-session.ts'
import type { AccountSession } from '../../src/atproto/session.ts'
import { createWriter } from '../../src/atproto/writer.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'

let network: Network
let alice: DevAccount
let session: AccountSession
let sent: string[] = []
/** How far the writer's clock is ahead of the machine's, in milliseconds. */
let ahead = 0

const things = 'dev.example.thing'
const now = (): number => Date.now() + ahead

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  const login = await logIn({ fetch: globalThis.fetch }, { pds: network.pdsUrl, identifier: alice.did, password: alice.password })
  assert.ok(login.ok)
  const real = login.session
  session = {
    did: real.did,
    fetchHandler(path, init) {
      sent.push(path)
      return real.fetchHandler(path, init)
    },
  }
})
after(() => network.stop())

const one = { collection: things, rkey: 'one', record: { $type: things } } as const
const health = '/xrpc/_health'

test('REC-8 the difference is the server’s time less ours; without a readable header it is not known', () => {
  const noon = Date.UTC(2026, 10, 30, 12)
  assert.equal(clockSkewMs('Mon, 30 Nov 2026 12:00:30 GMT', noon), 30_000)
  assert.equal(clockSkewMs('Mon, 30 Nov 2026 11:59:00 GMT', noon), -60_000)
  for (const none of [null, undefined, '', 'noon']) assert.equal(clockSkewMs(none, noon), undefined)
})

test('REC-8 over 60 s apart nothing is sent, and it is said which way', async () => {
  for (const [shift, way] of [
    [90_000, 'ahead of'],
    [-90_000, 'behind'],
  ] as const) {
    ahead = shift
    sent = []
    const writer = createWriter({ session, now })
    const outcomes = [
      await writer.createRecord(one),
      await writer.putRecord(one),
      await writer.deleteRecord(one),
      await writer.applyWrites({ writes: [{ action: 'create', ...one }] }),
    ]
    for (const outcome of outcomes) {
      assert.ok(!outcome.ok)
      assert.deepEqual([outcome.code, outcome.settled], ['clock', true])
      assert.match(outcome.message, new RegExp(`this clock is (89|90|91) s ${way} the account's server's`))
    }
    assert.deepEqual(new Set(sent), new Set([health]))
  }
  assert.equal(await alice.get(things, 'one'), undefined)
})

test('REC-8 within 60 s it writes; the clocks are compared once and again after a while', async () => {
  ahead = 50_000
  sent = []
  const writer = createWriter({ session, now })
  assert.ok((await writer.putRecord(one)).ok)
  assert.ok((await writer.putRecord(one)).ok)
  assert.equal(sent.filter(path => path === health).length, 1)
})

test('REC-8 a clock that goes wrong is noticed, and one that was mended writes again', async () => {
  ahead = 0
  const writer = createWriter({ session, now })
  assert.ok((await writer.putRecord(one)).ok)
  ahead = 6 * 60_000
  const refused = await writer.putRecord(one)
  assert.ok(!refused.ok && refused.code === 'clock')
  ahead = 0
  assert.ok((await writer.putRecord(one)).ok)
})

test('REC-8 a server that sends no Date is believed', async () => {
  ahead = 90_000
  const dateless: AccountSession = {
    did: session.did,
    async fetchHandler(path, init) {
      const response = await session.fetchHandler(path, init)
      const headers = new Headers(response.headers)
      headers.delete('date')
      return new Response(response.body, { status: response.status, headers })
    },
  }
  assert.ok((await createWriter({ session: dateless, now }).putRecord(one)).ok)
  ahead = 0
})
