import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { after, before, type TestContext, test } from 'node:test'
import { logIn, type PasswordTokens, resumeSession } from '../../src/atproto/password-session.ts'
import { createWriter } from '../../src/atproto/writer.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { serveHttp } from '../support/http-server.ts'
import { until } from '../support/until.ts'

let network: Network
let alice: DevAccount
const things = 'dev.example.thing'
const one = { collection: things, rkey: 'one', record: { $type: things } } as const

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
})
after(() => network.stop())

/**
 * A server in front of the real one where access tokens run out when the test says so, until the session is refreshed: it answers as the
 * reference server does to an expired token. Everything else goes through.
 */
async function expiring(t: TestContext) {
  let expired = false
  let refreshable = true
  let refreshes = 0
  const listener: RequestListener = async (request, response) => {
    const refresh = request.url?.includes('refreshSession') ?? false
    const body = Buffer.concat(await Array.fromAsync(request))
    if (refresh) refreshes += 1
    if (refresh ? !refreshable : expired) {
      // An answer under way while the session is refreshed.
      if (request.url?.includes('describeServer')) await until(() => !expired)
      response.writeHead(400).end(JSON.stringify({ error: 'ExpiredToken', message: 'Token has expired' }))
      return
    }
    const headers = new Headers()
    for (const name of ['authorization', 'content-type']) if (request.headers[name]) headers.set(name, String(request.headers[name]))
    const inner = await fetch(network.pdsUrl + request.url, { method: request.method ?? 'GET', headers, ...(body.length > 0 && { body }) })
    if (refresh && inner.ok) expired = false
    response.writeHead(inner.status, { 'content-type': inner.headers.get('content-type') ?? '' })
    response.end(Buffer.from(await inner.arrayBuffer()))
  }
  const server = await serveHttp(listener)
  t.after(() => server.close())
  return {
    url: server.url,
    refreshes: () => refreshes,
    /** Access tokens are over; with `forGood` the refresh token is, too. */
    expire(forGood = false): void {
      expired = true
      refreshable = !forGood
    },
  }
}

async function logInAt(pds: string, onChange?: (tokens: PasswordTokens | undefined) => void) {
  const login = await logIn(
    { fetch: globalThis.fetch, ...(onChange === undefined ? {} : { onChange }) },
    { pds, identifier: alice.handle, password: alice.password },
  )
  assert.ok(login.ok, JSON.stringify(login))
  return login.session
}

test('a wrong password, an unknown account and a server that is down are told apart', async () => {
  const at = (pds: string, identifier: string, password: string) =>
    logIn({ fetch: globalThis.fetch, timeoutMs: 5_000 }, { pds, identifier, password })
  const wrong = await at(network.pdsUrl, alice.handle, 'wrong')
  assert.ok(!wrong.ok && wrong.code === 'wrong-password')
  const unknown = await at(network.pdsUrl, 'nobody.test', 'wrong')
  assert.ok(!unknown.ok && unknown.code === 'wrong-password')
  const down = await at('http://127.0.0.1:9', alice.handle, alice.password)
  assert.ok(!down.ok && down.code === 'upstream-failed')
  network.faults.add({ fault: 'garble', method: 'com.atproto.server.createSession', times: 1 })
  const garbled = await at(network.pdsUrl, alice.handle, alice.password)
  assert.ok(!garbled.ok && garbled.code === 'upstream-failed')
})

test('an expired session is refreshed, the request sent again, and the new tokens kept', async t => {
  const pds = await expiring(t)
  const kept: (PasswordTokens | undefined)[] = []
  const session = await logInAt(pds.url, tokens => kept.push(tokens))
  const writer = createWriter({ session, now: Date.now })
  assert.ok((await writer.putRecord(one)).ok)
  pds.expire()
  const put = await writer.putRecord({ ...one, record: { $type: things, n: 2 } })
  assert.ok(put.ok)
  assert.equal((await alice.get(things, 'one'))?.cid, put.cid)
  assert.equal(pds.refreshes(), 1)
  assert.equal(kept.length, 2)
  assert.equal(kept[1]?.did, alice.did)
  assert.notEqual(kept[0]?.refreshJwt, kept[1]?.refreshJwt)
})

test('many requests with an expired token refresh it once', async t => {
  const pds = await expiring(t)
  const session = await logInAt(pds.url)
  await session.fetchHandler('/xrpc/com.atproto.server.getSession')
  pds.expire()
  const all = await Promise.all(Array.from({ length: 5 }, () => session.fetchHandler('/xrpc/com.atproto.server.getSession')))
  assert.deepEqual(
    all.map(response => response.status),
    [200, 200, 200, 200, 200],
  )
  assert.equal(pds.refreshes(), 1)
})

test('an answer that comes late, to the token before, does not refresh again', async t => {
  const pds = await expiring(t)
  const session = await logInAt(pds.url)
  pds.expire()
  const [late, early] = await Promise.all([
    session.fetchHandler('/xrpc/com.atproto.server.describeServer'),
    session.fetchHandler('/xrpc/com.atproto.server.getSession'),
  ])
  assert.deepEqual([late.status, early.status], [200, 200])
  assert.equal(pds.refreshes(), 1)
})

test('a session that was kept goes on later', async () => {
  let tokens: PasswordTokens | undefined
  await logInAt(network.pdsUrl, fresh => {
    tokens = fresh
  })
  assert.ok(tokens)
  const resumed = resumeSession({ fetch: globalThis.fetch }, tokens)
  assert.equal(resumed.did, alice.did)
  assert.ok((await createWriter({ session: resumed, now: Date.now }).putRecord(one)).ok)
})

test('a session that cannot be refreshed is gone, for good and for the writer', async t => {
  const pds = await expiring(t)
  const kept: (PasswordTokens | undefined)[] = []
  const session = await logInAt(pds.url, tokens => kept.push(tokens))
  const writer = createWriter({ session, now: Date.now })
  assert.ok((await writer.putRecord(one)).ok)
  pds.expire(true)
  for (let i = 0; i < 2; i++) {
    const gone = await writer.putRecord({ ...one, record: { $type: things, n: 3 } })
    assert.ok(!gone.ok)
    assert.deepEqual([gone.code, gone.settled], ['session-gone', true])
  }
  assert.equal(kept.at(-1), undefined)
})

test('a refresh that fails for the moment does not end the session', async t => {
  const pds = await expiring(t)
  const session = await logInAt(pds.url)
  const writer = createWriter({ session, now: Date.now })
  assert.ok((await writer.putRecord(one)).ok)
  pds.expire()
  network.faults.add({ fault: 'refuse', method: 'com.atproto.server.refreshSession', status: 503, times: 2 })
  const failed = await writer.getServiceAuth({ aud: 'did:web:q.example.com', lxm: 'dev.knotless.mergePull', seconds: 60 })
  assert.ok(!failed.ok && failed.code === 'upstream-failed')
  assert.ok((await writer.putRecord({ ...one, record: { $type: things, n: 4 } })).ok)
})

test('after logging out the session is gone here and at the server', async () => {
  let tokens: PasswordTokens | undefined
  const session = await logInAt(network.pdsUrl, fresh => {
    tokens = fresh ?? tokens
  })
  await session.logOut()
  await assert.rejects(session.fetchHandler('/xrpc/com.atproto.server.getSession'), { name: 'SessionGoneError' })
  assert.ok(tokens)
  const refreshed = await fetch(`${network.pdsUrl}/xrpc/com.atproto.server.refreshSession`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.refreshJwt}` },
  })
  await refreshed.body?.cancel()
  assert.equal(refreshed.ok, false)
})

test('an app password logs in as well', async () => {
  const made = await alice.call('com.atproto.server.createAppPassword', { input: { name: 'knotless' } })
  assert.ok(typeof made === 'object' && made !== null && 'password' in made && typeof made.password === 'string')
  const login = await logIn({ fetch: globalThis.fetch }, { pds: network.pdsUrl, identifier: alice.handle, password: made.password })
  assert.ok(login.ok)
  assert.ok((await createWriter({ session: login.session, now: Date.now }).putRecord(one)).ok)
})
