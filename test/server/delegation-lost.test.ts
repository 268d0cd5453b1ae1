import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { z } from 'zod'
import { createGuardedFetch, type GuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { parseDid } from '../../src/atproto/ids.ts'
import { UpstreamError } from '../../src/atproto/upstream-error.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { freePort } from '../../src/devnet/ports.ts'
import { createOAuth } from '../../src/server/auth/oauth.ts'
import { createSeal, deriveKey } from '../../src/server/auth/seal.ts'
import { createDelegations } from '../../src/server/gateway/delegations.ts'
import { logIn, openSignIn } from './log-in.ts'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

const grantShape = z.looseObject({ tokenSet: z.looseObject({ expires_at: z.string() }) })
const HOUR = 60 * 60_000
const DAY = 24 * HOUR
const PING = '/xrpc/com.atproto.server.getSession'
let network: Network
let elsewhere: Network
let server: Served
let alice: DevAccount
let dir: string
let port: number
let url: string
let ahead = 0
let down = false
let moved = false

const real = createGuardedFetch({ allowLoopback: true })

/** The real fetch, over which the account's server may be down, or the directory say that accounts lie at another one. */
const fetch: GuardedFetch = Object.assign(
  async (...[url, request]: Parameters<GuardedFetch>) => {
    if (down && new URL(url).port === new URL(network.pdsUrl).port) throw new UpstreamError('refused', 'the account server', 'is down')
    const answer = await real(url, request)
    if (!moved || !`${url}`.startsWith(network.plcUrl)) return answer
    const text = Buffer.from(await answer.bytes()).toString('utf8')
    return { ...answer, bytes: async () => Buffer.from(text.replaceAll(network.pdsUrl, elsewhere.pdsUrl)) }
  },
  { close: () => undefined },
)

/** At the same address over restarts: what was granted was granted to it. */
const start = () =>
  serve(network, {
    env: { KNOTLESS_DB: join(dir, 'knotless.sqlite'), KNOTLESS_DATA: dir, PORT: String(port), KNOTLESS_PUBLIC_URL: url },
    overrides: { now: () => Date.now() + ahead, fetch },
  })

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'knotless-delegation-'))
  port = await freePort()
  url = `http://127.0.0.1:${port}`
  network = await startNetwork()
  elsewhere = await startNetwork()
  alice = await network.createAccount('alice.test')
  server = await start()
})
after(async () => {
  await server?.end()
  await network?.stop()
  await elsewhere?.stop()
  real.close()
  rmSync(dir, { recursive: true, force: true })
})
beforeEach(async () => {
  ahead = 0
  down = false
  moved = false
  await giveDelegation(url, alice)
})

function owner() {
  const did = parseDid(alice.did)
  assert(did !== undefined)
  return did
}

const state = () => server.context.delegations.of(alice.did)
const rows = () => server.context.db.selectFrom('oauth_session').selectAll().where('client', '=', 'gateway')
const row = () => rows().executeTakeFirst()

async function use(): Promise<number | string> {
  const found = await server.context.delegations.session(owner())
  return found.ok ? (await found.session.fetchHandler(PING)).status : found.why
}

/** The grant is ended at the account's server, as its own page does it, and nobody tells us. */
async function revokeThere(): Promise<void> {
  const kept = await row()
  assert(kept !== undefined)
  assert.equal(await server.context.delegations.oauth.revoke(owner()), true)
  await server.context.db.insertInto('oauth_session').values(kept).execute()
}

async function settingsPage(): Promise<string> {
  const visitor = new Visitor()
  await logIn(visitor, url, alice)
  return (await visitor.get(`${url}/settings`)).text
}

test('GWY-1 a grant revoked at the account’s server is noticed when it is used, and said to be lost by that', async () => {
  await revokeThere()
  assert.equal(state().state, 'given', 'nobody has told the server')
  assert.equal(await use(), 401)
  const lost = state()
  assert(lost.state === 'lost' && lost.why === 'revoked')
  assert.equal(await use(), 'not-delegated')
  assert.match(await settingsPage(), /Lost<\/span> It was revoked at <code>[^<]*<\/code>, or that server ended it/)
})

test('GWY-1 a grant revoked at the account’s server is noticed by the next renewal as well', async () => {
  await revokeThere()
  await server.context.delegations.renew()
  assert.equal(state().state, 'given', 'not due yet')
  ahead = 7 * HOUR
  await server.context.delegations.renew()
  assert.deepEqual({ ...state(), at: 0 }, { state: 'lost', at: 0, why: 'revoked' })
})

test('GWY-1 a writer that is refused for good tells, and nothing is kept', async () => {
  await server.context.delegations.gone(owner(), 'revoked')
  assert.deepEqual({ ...state(), at: 0 }, { state: 'lost', at: 0, why: 'revoked' })
  assert.equal(await row(), undefined)
})

test('GWY-1 a grant that runs out is over at its time, said so, and its tokens are forgotten', async () => {
  const given = state()
  assert(given.state === 'given' && given.until !== undefined)
  ahead = 14 * DAY - HOUR
  assert.equal(state().state, 'given')
  ahead = 14 * DAY + HOUR
  assert.deepEqual(state(), { state: 'lost', at: given.until, why: 'expired' })
  assert.equal(await use(), 'not-delegated')
  await server.context.delegations.renew()
  assert.deepEqual(state(), { state: 'lost', at: given.until, why: 'expired' })
  assert.equal(await row(), undefined)
  ahead = 0
  await server.context.delegations.renew()
  assert.match(await settingsPage(), /Lost<\/span> It ran out <time/)
})

test('a server that is down for a while loses nothing: what is due is tried again', async () => {
  const before = await row()
  down = true
  ahead = 7 * HOUR
  await server.context.delegations.renew()
  assert.equal(state().state, 'given')
  assert.deepEqual(await row(), before)
  down = false
  await server.context.delegations.renew()
  assert.deepEqual(await row(), before, 'not at once')
  ahead = 7 * HOUR + 11 * 60_000
  await server.context.delegations.renew()
  assert.notDeepEqual(await row(), before, 'renewed')
  assert.equal(await use(), 200)
})

test('a server that does not answer when a renewal is needed to write is told apart from no delegation', async () => {
  const kept = await row()
  assert(kept !== undefined)
  const seal = createSeal(deriveKey(server.context.config.secret, 'oauth at rest'))
  const place = `oauth_session\ngateway\n${alice.did}`
  const grant = grantShape.parse(JSON.parse(seal.open(place, kept.sealed) ?? 'null'))
  grant.tokenSet.expires_at = new Date(Date.now() - 1_000).toISOString()
  await server.context.db
    .updateTable('oauth_session')
    .set({ sealed: seal.close(place, JSON.stringify(grant)) })
    .where('client', '=', 'gateway')
    .execute()
  down = true
  assert.equal(await use(), 'unreachable')
  assert.equal(state().state, 'given')
  down = false
  assert.equal(await use(), 200, 'renewed, and used')
})

test('GWY-7 withdrawn while the account’s server is down: nothing is written from then on, and the owner is told that it did not hear', async () => {
  down = true
  assert.equal(await server.context.delegations.withdraw(owner()), false)
  assert.equal(state().state, 'withdrawn')
  assert.equal(await row(), undefined)
  assert.equal(await use(), 'not-delegated')
})

test('GWY-7 a delegation survives restarts, and is renewed after one when it is due', async () => {
  const before = await row()
  await server.end()
  server = await start()
  assert.equal(await use(), 200)
  assert.deepEqual(await row(), before)
  await server.end()
  ahead = 7 * HOUR
  server = await start()
  await server.end()
  ahead = 0
  server = await start()
  assert.notDeepEqual(await row(), before, 'renewed at the start')
  assert.equal(await use(), 200)
})

test('GWY-7 two programs over one database never use a refresh token twice', async () => {
  const { config } = server.context
  const env = {
    KNOTLESS_PUBLIC_URL: config.publicUrl,
    KNOTLESS_DB: config.db,
    KNOTLESS_DATA: dir,
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: config.secret,
    KNOTLESS_LOG: 'silent',
  }
  const asked = JSON.stringify({ env, did: alice.did, times: 8 })
  const children = [1, 2].map(() => fork(join(import.meta.dirname, 'renewing-child.ts'), [asked]))
  try {
    await Promise.all(children.map(child => once(child, 'message')))
    const told = children.map(async child => (await once(child, 'message'))[0])
    for (const child of children) child.send('go')
    for (const said of await Promise.all(told)) assert.deepEqual(said, { renewed: 8, state: 'given' })
    assert.equal(await use(), 200)
    assert.deepEqual(await server.context.db.selectFrom('lease').selectAll().execute(), [])
  } finally {
    for (const child of children) child.kill()
  }
})

test('GWY-7 a lease that a killed program left behind lapses, and renewing goes on', async () => {
  const name = 'renewing delegations'
  await server.context.db
    .insertInto('lease')
    .values({ name, holder: 'a dead one', until: Date.now() + 60_000 })
    .execute()
  const before = await row()
  ahead = 7 * HOUR
  await server.context.delegations.renew()
  assert.deepEqual(await row(), before, 'another one is at it')
  await server.context.db
    .updateTable('lease')
    .set({ until: Date.now() - 1 })
    .where('name', '=', name)
    .execute()
  await server.context.delegations.renew()
  assert.notDeepEqual(await row(), before)
})

test('a grant of less than was asked is refused and given back, and what stood before it stands', async () => {
  const { context } = server
  const { publicUrl, plcUrl, secret } = context.config
  const seal = createSeal(deriveKey(secret, 'oauth at rest'))
  const stood = await row()
  const asking = createDelegations({
    ...context,
    loopback: true,
    createOAuth: kind =>
      createOAuth(
        { ...context, seal, publicUrl, plcUrl, loopback: true, allowHttp: true },
        { ...kind, scope: `${kind.scope} repo:dev.knotless.made-up` },
      ),
  })
  const begun = await asking.oauth.begin(owner(), 'the state')
  assert(begun.ok)
  const address = await (await openSignIn(new Visitor(), begun.href, alice)).authorize()
  const finished = await asking.oauth.finish(new URL(address).searchParams, given => given === 'the state')
  assert.deepEqual(finished, { ok: false, why: 'too-little', state: 'the state' })
  assert.deepEqual(await row(), stood)
  assert.equal(await use(), 200)
})

test('off loopback a delegation is renewed for as long as servers let it stand, and each renewal pushes its end out', async () => {
  const { context } = server
  const { publicUrl, plcUrl, secret } = context.config
  const seal = createSeal(deriveKey(secret, 'oauth at rest'))
  const oauth = { ...context, seal, publicUrl, plcUrl, loopback: true, allowHttp: true }
  const kept = createDelegations({ ...context, loopback: false, createOAuth: kind => createOAuth(oauth, kind) })
  kept.given(owner())
  const given = kept.of(owner())
  assert(given.state === 'given')
  assert.equal(given.until, given.since + 90 * DAY)
  ahead = 7 * HOUR
  await kept.renew()
  const renewed = kept.of(owner())
  assert(renewed.state === 'given' && renewed.until !== undefined)
  assert(renewed.until >= given.since + 90 * DAY + 7 * HOUR)
  assert.equal(renewed.since, given.since)
})

test('GWY-1 an account that moved to another server has not delegated there: said so, and nothing more is written at the old one', async () => {
  const visitor = new Visitor()
  await logIn(visitor, url, alice)
  moved = true
  server.context.identity.forget(owner())
  assert.equal(await use(), 'not-delegated')
  assert.deepEqual({ ...state(), at: 0 }, { state: 'lost', at: 0, why: 'moved' })
  assert.match((await visitor.get(`${url}/settings`)).text, /Lost<\/span> Your account moved to another server/)
})
