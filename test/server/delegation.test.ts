import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { z } from 'zod'
import { parseDid } from '../../src/atproto/ids.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { atConsent, delegate, giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { createSeal, deriveKey } from '../../src/server/auth/seal.ts'
import { logIn, openSignIn } from './log-in.ts'
import { type Served, serve } from './serve.ts'
import { tokenOn, Visitor } from './visitor.ts'

const DAY = 24 * 60 * 60_000
const SCOPE =
  'atproto repo:dev.knotless.refs?action=create&action=update repo:dev.knotless.state?action=create repo:dev.knotless.queue?action=create blob:application/octet-stream'
let network: Network
let server: Served
let alice: DevAccount
let bob: DevAccount
let ahead = 0

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  bob = await network.createAccount('bob.test')
  server = await serve(network, { overrides: { now: () => Date.now() + ahead } })
})
after(async () => {
  await server?.end()
  await network?.stop()
})
beforeEach(() => {
  ahead = 0
})

function did(account: DevAccount) {
  const parsed = parseDid(account.did)
  assert(parsed !== undefined)
  return parsed
}

const tokens = z.object({
  tokenSet: z.object({ scope: z.string(), access_token: z.string(), refresh_token: z.string(), expires_at: z.string() }),
  dpopJwk: z.object({ d: z.string() }),
})

function sealedOf(account: DevAccount) {
  const rows = server.context.db.selectFrom('oauth_session').selectAll().where('client', '=', 'gateway').where('key', '=', account.did)
  return rows.executeTakeFirst()
}

/** What is kept of an account's delegation, opened with the secret. */
async function keptOf(account: DevAccount) {
  const row = await sealedOf(account)
  const seal = createSeal(deriveKey(server.context.config.secret, 'oauth at rest'))
  return row && tokens.parse(JSON.parse(seal.open(`oauth_session\ngateway\n${account.did}`, row.sealed) ?? 'null'))
}

/** Writes as an account by its delegation; gives the status. */
async function write(account: DevAccount, collection: string, method = 'createRecord', rkey?: string): Promise<number | string> {
  const found = await server.context.delegations.session(did(account))
  if (!found.ok) return found.why
  const answer = await found.session.fetchHandler(`/xrpc/com.atproto.repo.${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ repo: account.did, collection, rkey, record: { $type: collection, createdAt: new Date().toISOString() } }),
  })
  return answer.status
}

const stateOf = (account: DevAccount) => server.context.delegations.of(account.did)
const onSettings = async (visitor: Visitor) => (await visitor.get(`${server.url}/settings`)).text

async function loggedIn(account: DevAccount): Promise<Visitor> {
  const visitor = new Visitor()
  await logIn(visitor, server.url, account)
  return visitor
}

async function withdraw(visitor: Visitor) {
  return visitor.post(`${server.url}/settings/delegation/withdraw`, { _csrf: tokenOn(await onSettings(visitor)) })
}

test('GWY-1 an owner gives a delegation on Settings over the consent page of their own server, and nothing was written before', async () => {
  const visitor = await loggedIn(alice)
  assert.deepEqual(stateOf(alice), { state: 'never' })
  assert.equal(await write(alice, 'dev.knotless.refs'), 'not-delegated')
  assert.match(await onSettings(visitor), /Not given<\/span> This server writes nothing for you yet/)
  const answer = await delegate(visitor, server.url, alice)
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.location, '/settings#delegation')
  const given = stateOf(alice)
  assert(given.state === 'given' && given.until !== undefined)
  assert.equal(given.until - given.since, 14 * DAY, 'two weeks, as public clients have')
  const page = await onSettings(visitor)
  assert.match(page, /Given<\/span> This server may write to your account\. You gave it that right on/)
  assert.match(page, /Withdraw delegation/)
})

test('GWY-1 what is granted is to write git states, merged states and requeues, and to upload packs; nothing else', async () => {
  await giveDelegation(server.url, alice)
  assert.equal((await keptOf(alice))?.tokenSet.scope, SCOPE)
  for (const collection of ['refs', 'state', 'queue']) assert.equal(await write(alice, `dev.knotless.${collection}`), 200)
  assert.equal(await write(alice, 'dev.knotless.refs', 'putRecord', 'orchard'), 200)
  assert.equal(await write(alice, 'dev.knotless.refs', 'putRecord', 'orchard'), 200)
  for (const collection of ['dev.knotless.repo', 'dev.knotless.pull', 'app.bsky.feed.post'])
    assert.equal(await write(alice, collection), 403)
  assert.equal(await write(alice, 'dev.knotless.refs', 'deleteRecord', 'orchard'), 403)
  const found = await server.context.delegations.session(did(alice))
  assert(found.ok)
  const upload = (type: string) =>
    found.session.fetchHandler('/xrpc/com.atproto.repo.uploadBlob', { method: 'POST', headers: { 'content-type': type }, body: 'PACK' })
  assert.equal((await upload('application/octet-stream')).status, 200)
  assert.equal((await upload('image/png')).status, 403)
})

test('GWY-7 Settings say that a delegation covers all repositories, what it allows and what not, since and until when', async () => {
  const visitor = await loggedIn(alice)
  await delegate(visitor, server.url, alice)
  const page = await onSettings(visitor)
  assert.match(page, /It covers all repositories of your account/)
  assert.match(page, /may write to your account\. You gave it that right on <time[^>]*>[^<]*<\/time>, until <time/)
  assert.match(page, /record those pulls as merged/)
  assert.match(page, /touch anything that is not a knotless record/)
  assert.match(page, /Taking it back works at once/)
})

test('GWY-7 tokens and keys of a delegation lie readable in no file', async () => {
  await giveDelegation(server.url, alice)
  const kept = await keptOf(alice)
  assert(kept !== undefined)
  let read = 0
  for (const name of readdirSync(server.dir)) {
    const bytes = readFileSync(join(server.dir, name))
    read += bytes.length
    for (const secret of [kept.tokenSet.access_token, kept.tokenSet.refresh_token, kept.dpopJwk.d]) {
      assert(!bytes.includes(secret), `${name} holds a secret`)
    }
  }
  assert(read > 100_000, 'the database was looked at')
})

test('a log-in and a delegation of one account stand beside one another, and outlive each other', async () => {
  const visitor = await loggedIn(alice)
  await delegate(visitor, server.url, alice)
  await loggedIn(alice)
  assert.equal(await write(alice, 'dev.knotless.state'), 200)
  assert((await server.context.oauth.restore(did(alice))) !== undefined)
  await withdraw(visitor)
  assert((await server.context.oauth.restore(did(alice))) !== undefined, 'the log-in stands')
  await delegate(visitor, server.url, alice)
  await visitor.post(`${server.url}/logout`, { _csrf: tokenOn(await onSettings(visitor)) })
  assert.equal(await write(alice, 'dev.knotless.state'), 200, 'nobody needs to be logged in')
})

test('a denied consent is said on Settings, and nothing is delegated', async () => {
  const visitor = await loggedIn(bob)
  const answer = await delegate(visitor, server.url, bob, 'deny')
  assert.equal(answer.status, 422)
  assert.match(answer.text, /role="alert"[\s\S]*You denied the request, so nothing was delegated\./)
  assert.deepEqual(stateOf(bob), { state: 'never' })
})

test('an answer that was used, or that another browser or log-in brings, gives nothing', async () => {
  const visitor = await loggedIn(bob)
  const back = await atConsent(visitor, server.url, bob)
  const cross = { headers: { 'sec-fetch-site': 'cross-site' } }
  const nobody = await new Visitor().get(back, cross)
  assert.equal(nobody.headers.location, '/login?next=%2Fsettings')
  for (const other of [await loggedIn(bob), await loggedIn(alice)]) {
    const refused = await other.get(back, cross)
    assert.equal(refused.status, 422)
    assert.match(refused.text, /was begun in another browser or under another log-in/)
  }
  assert.deepEqual(stateOf(bob), { state: 'never' })
  assert.equal((await visitor.get(back, cross)).status, 303, 'it was left for the browser that waits for it')
  const again = await visitor.get(back, cross)
  assert.equal(again.status, 422)
  assert.match(again.text, /was used already/)
  assert.equal(stateOf(bob).state, 'given')
  await withdraw(visitor)
})

test('a delegation given by another account than the one that is logged in is refused in words and given back; what that one gave stands', async () => {
  await giveDelegation(server.url, alice)
  const stood = await keptOf(alice)
  const visitor = await loggedIn(bob)
  const settings = await onSettings(visitor)
  await visitor.post(`${server.url}/settings/delegation/give`, { _csrf: tokenOn(settings) })
  const started = await visitor.get(`${server.url}/settings/delegation/start`, { headers: { 'sec-fetch-site': 'same-origin' } })
  const page = await openSignIn(visitor, (started.headers.location ?? '').replace(/login_hint=[^&]*/, ''), alice)
  const answer = await visitor.get(await page.authorize(), { headers: { 'sec-fetch-site': 'cross-site' } })
  assert.equal(answer.status, 422)
  assert.match(answer.text, /allowed it as another account .* given back at once/)
  assert.notEqual(stateOf(bob).state, 'given')
  assert.deepEqual(await keptOf(alice), stood)
  assert.equal(await write(alice, 'dev.knotless.state'), 200)
})

test('a delegation that comes back under another log-in of the same browser is refused and given back', async () => {
  const visitor = await loggedIn(bob)
  const back = await atConsent(visitor, server.url, bob)
  await visitor.post(`${server.url}/logout`, { _csrf: tokenOn(await onSettings(visitor)) })
  await logIn(visitor, server.url, alice)
  const answer = await visitor.get(back, { headers: { 'sec-fetch-site': 'cross-site' } })
  assert.equal(answer.status, 422)
  assert.match(answer.text, /allowed it as another account/)
  assert.equal(await sealedOf(bob), undefined)
  assert.notEqual(stateOf(bob).state, 'given')
})

test('what one account began gives nothing for another that logged in meanwhile, though that one allows it', async () => {
  const visitor = await loggedIn(bob)
  await visitor.post(`${server.url}/settings/delegation/give`, { _csrf: tokenOn(await onSettings(visitor)) })
  const started = await visitor.get(`${server.url}/settings/delegation/start`, { headers: { 'sec-fetch-site': 'same-origin' } })
  await visitor.post(`${server.url}/logout`, { _csrf: tokenOn(await onSettings(visitor)) })
  await logIn(visitor, server.url, alice)
  const before = stateOf(alice)
  const page = await openSignIn(visitor, started.headers.location ?? '', alice)
  const answer = await visitor.get(await page.authorize(), { headers: { 'sec-fetch-site': 'cross-site' } })
  assert.equal(answer.status, 422)
  assert.deepEqual(stateOf(alice), before)
})

test('a link from elsewhere begins nothing: the way on is open only to the browser that sent the form', async () => {
  const visitor = await loggedIn(bob)
  const answer = await visitor.get(`${server.url}/settings/delegation/start`, { headers: { 'sec-fetch-site': 'cross-site' } })
  assert.equal(answer.status, 422)
  assert.match(answer.text, /Begin again here/)
  const forged = await visitor.post(`${server.url}/settings/delegation/give`, { _csrf: 'x' })
  assert.equal(forged.status, 403)
})

test('GWY-7 withdrawn: the next write is refused, and the tokens are of no use at the account’s server either', async () => {
  const visitor = await loggedIn(alice)
  await delegate(visitor, server.url, alice)
  const found = await server.context.delegations.session(did(alice))
  assert(found.ok)
  const sealed = await sealedOf(alice)
  assert(sealed !== undefined)
  const answer = await withdraw(visitor)
  assert.equal(answer.headers.location, '/settings#delegation')
  assert.equal(stateOf(alice).state, 'withdrawn')
  assert.equal(await write(alice, 'dev.knotless.state'), 'not-delegated')
  await assert.rejects(found.session.fetchHandler('/xrpc/com.atproto.server.getSession'), { name: 'SessionGoneError' })
  assert.equal(await sealedOf(alice), undefined, 'and forgotten')
  const page = await onSettings(visitor)
  assert.match(page, /Withdrawn<\/span> You took it back/)
  assert.match(page, /Give delegation/)
  // Whoever had a copy of the tokens can do nothing with them.
  await server.context.db.insertInto('oauth_session').values(sealed).execute()
  const copied = await server.context.delegations.oauth.restore(did(alice))
  assert.equal((await copied?.fetchHandler('/xrpc/com.atproto.server.getSession'))?.status, 401)
  assert.equal(await sealedOf(alice), undefined, 'refused as refresh token as well')
  assert.equal(stateOf(alice).state, 'withdrawn', 'which it was, and not lost')
})
