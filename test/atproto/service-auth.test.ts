import assert from 'node:assert/strict'
import { after, before, beforeEach, type TestContext, test } from 'node:test'
import { createGuardedFetch, type GuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity, type Identity } from '../../src/atproto/identity.ts'
import { type Did, type Nsid, parseDid } from '../../src/atproto/ids.ts'
import { createReplayMemory } from '../../src/atproto/replay-memory.ts'
import { type ServiceAuth, verifyServiceAuth } from '../../src/atproto/service-auth.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { serveHttp } from '../support/http-server.ts'

let network: Network
let fetch: GuardedFetch
let identity: Identity
let alice: DevAccount
let bob: DevAccount
/** How far this server's clock is ahead, in milliseconds. */
let ahead = 0

const serverDid: Did = 'did:web:q.example.com'
const lxm: Nsid = 'dev.knotless.mergePull'
const now = (): number => Date.now() + ahead

before(async () => {
  network = await startNetwork()
  fetch = createGuardedFetch({ allowLoopback: true })
  alice = await network.createAccount('alice.test')
  bob = await network.createAccount('bob.test')
})
beforeEach(() => {
  ahead = 0
  identity = createIdentity({ plcUrl: network.plcUrl, fetch, now })
})
after(async () => {
  fetch.close()
  await network.stop()
})

/** A token as the account's own server signs it. */
async function tokenOf(account: DevAccount, wanted: { aud?: string; lxm?: string | undefined; seconds?: number } = {}): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + (wanted.seconds ?? 60)
  const params = { aud: wanted.aud ?? serverDid, exp, lxm: 'lxm' in wanted ? wanted.lxm : lxm }
  const made = await account.call('com.atproto.server.getServiceAuth', { params })
  assert.ok(typeof made === 'object' && made !== null && 'token' in made && typeof made.token === 'string')
  return made.token
}

function verify(token: string, demands: Partial<Parameters<typeof verifyServiceAuth>[2]> = {}, by = identity): Promise<ServiceAuth> {
  return verifyServiceAuth({ serverDid, identity: by, now }, token, { lxm, ...demands })
}

async function refused(token: string, code: string, demands: Partial<Parameters<typeof verifyServiceAuth>[2]> = {}): Promise<void> {
  const auth = await verify(token, demands)
  assert.ok(!auth.ok, 'it was taken')
  assert.equal(auth.code, code)
}

/** The token with claims of our own, under the old signature. */
function retold(token: string, claims: object): string {
  const [head, body, signature] = token.split('.')
  const told = { ...JSON.parse(Buffer.from(body ?? '', 'base64url').toString()), ...claims }
  return `${head}.${Buffer.from(JSON.stringify(told)).toString('base64url')}.${signature}`
}

/** An identity whose directory says what the test wants of an account, the first time, and the truth afterwards. */
async function oldDirectory(t: TestContext, first: (document: string) => string) {
  let asked = 0
  const server = await serveHttp(async (request, response) => {
    const real = await (await globalThis.fetch(network.plcUrl + request.url)).text()
    asked += 1
    response.end(asked === 1 ? first(real) : real)
  })
  t.after(() => server.close())
  return { identity: createIdentity({ plcUrl: server.url, fetch, now }), asked: () => asked }
}

test('a token for this server and this method says whose it is, with or without the service in its audience', async () => {
  for (const aud of [serverDid, `${serverDid}#knotless_appview`]) {
    const auth = await verify(await tokenOf(alice, { aud }))
    assert.ok(auth.ok, JSON.stringify(auth))
    assert.equal(auth.did, alice.did)
    assert.ok(auth.jti)
  }
})

test('a token for another server, another service of ours, another method, or any method is refused', async () => {
  await refused(await tokenOf(alice, { aud: 'did:web:other.example.com' }), 'wrong-audience')
  await refused(await tokenOf(alice, { aud: `${serverDid}#other` }), 'wrong-audience')
  await refused(await tokenOf(alice, { lxm: 'dev.knotless.createCommit' }), 'wrong-method')
  await refused(await tokenOf(alice, { lxm: undefined }), 'wrong-method')
})

test('GWY-10 a token that is over, or good for more than 5 minutes, is refused', async () => {
  const token = await tokenOf(alice, { seconds: 290 })
  assert.ok((await verify(token)).ok)
  ahead = 291_000
  await refused(token, 'token-expired')
  ahead = 0
  await refused(await tokenOf(alice, { seconds: 330 }), 'token-too-long')
  await refused(await tokenOf(alice, { seconds: 3_000 }), 'token-too-long')
  await refused(retold(token, { iat: Math.floor(Date.now() / 1000) + 3_000, exp: Math.floor(Date.now() / 1000) + 3_100 }), 'token-too-long')
})

test('a token that was changed, or signed by another account, is refused', async () => {
  const token = await tokenOf(alice)
  await refused(retold(token, { jti: 'another' }), 'bad-signature')
  await refused(retold(token, { iss: bob.did }), 'bad-signature')
  await refused(retold(await tokenOf(alice, { aud: 'did:web:other.example.com' }), { aud: serverDid }), 'bad-signature')
  await refused(token.slice(0, -4), 'bad-signature')
  await refused(`${token.split('.').slice(0, 2).join('.')}.`, 'bad-signature')
})

test('what is no token is refused, and costs no look-up', async t => {
  const directory = await oldDirectory(t, document => document)
  const token = await tokenOf(alice)
  const none = [
    '',
    'a',
    'a.b',
    'a.b.c',
    '..',
    'null.bnVsbA.x',
    'x'.repeat(5_000),
    `${token}.x`,
    retold(token, { iss: 'did:key:z' }),
    retold(token, { exp: '9' }),
  ]
  for (const one of none) {
    const auth = await verify(one, {}, directory.identity)
    assert.ok(!auth.ok && auth.code === 'bad-token', one.slice(0, 40))
  }
  for (const other of [{ aud: 'did:web:other.example.com' }, { lxm: 'dev.knotless.createCommit' }, { exp: 1 }]) {
    assert.ok(!(await verify(retold(token, other), {}, directory.identity)).ok)
  }
  assert.equal(directory.asked(), 0)
})

test('a token of an account that does not exist, and one whose directory is down, are told apart', async t => {
  await refused(retold(await tokenOf(alice), { iss: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz' }), 'unknown-issuer')
  const directory = await oldDirectory(t, () => '<html>')
  const auth = await verify(await tokenOf(alice), {}, directory.identity)
  assert.ok(!auth.ok && auth.code === 'upstream-failed')
})

test('a key that was changed is looked up afresh, once, when a signature does not fit', async t => {
  const key = JSON.parse(await (await globalThis.fetch(`${network.plcUrl}/${bob.did}`)).text()).verificationMethod[0].publicKeyMultibase
  const directory = await oldDirectory(t, document => document.replace(/"publicKeyMultibase":"[^"]+"/, `"publicKeyMultibase":"${key}"`))
  const did = parseDid(alice.did)
  assert.ok(did)
  await directory.identity.resolveDocument(did)
  assert.equal(directory.asked(), 1)
  ahead = 10_000
  assert.ok((await verify(await tokenOf(alice), {}, directory.identity)).ok)
  assert.equal(directory.asked(), 2)
  const auth = await verify(retold(await tokenOf(alice), { jti: 'x' }), {}, directory.identity)
  assert.ok(!auth.ok && auth.code === 'bad-signature')
  assert.ok(directory.asked() <= 3, 'a bad signature cannot make us ask without end')
})

test('GWY-10 a token is spent by its first use, and asking whether it is spent does not spend it', async () => {
  const replay = createReplayMemory({ now })
  const token = await tokenOf(alice)
  assert.ok((await verify(token, { replay })).ok)
  assert.ok((await verify(token, { replay })).ok)
  assert.ok((await verify(token, { replay, spend: true })).ok)
  await refused(token, 'token-spent', { replay, spend: true })
  await refused(token, 'token-spent', { replay })
  assert.ok((await verify(await tokenOf(alice), { replay, spend: true })).ok, 'another token of the same account is another')
})

test('GWY-10 a forged token spends nothing', async () => {
  const replay = createReplayMemory({ now })
  const token = await tokenOf(alice)
  await refused(`${token.slice(0, -6)}AAAAAA`, 'bad-signature', { replay, spend: true })
  assert.ok((await verify(token, { replay, spend: true })).ok)
})
