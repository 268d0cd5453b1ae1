import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { createOAuth } from '../../src/server/auth/oauth.ts'
import { createSeal, deriveKey } from '../../src/server/auth/seal.ts'
import { until } from '../support/until.ts'
import { goToServer, logIn, openSignIn } from './log-in.ts'
import { type Served, serve } from './serve.ts'
import { tokenOn, Visitor } from './visitor.ts'

const DAY = 24 * 60 * 60_000
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

const tokens = z.object({
  tokenSet: z.object({ scope: z.string(), access_token: z.string(), refresh_token: z.string() }),
  dpopJwk: z.object({ d: z.string() }),
})

/** What is kept of an account's grant, opened with the secret. */
async function grantOf(account: DevAccount) {
  const row = await server.context.db.selectFrom('oauth_session').selectAll().where('key', '=', account.did).executeTakeFirst()
  if (row === undefined) return undefined
  const seal = createSeal(deriveKey(server.context.config.secret, 'oauth at rest'))
  return tokens.parse(JSON.parse(seal.open(`oauth_session\nlog-in\n${account.did}`, row.sealed) ?? 'null'))
}

test('logging in at the account’s own server leads back to the page one came from', async () => {
  const visitor = new Visitor()
  const answer = await logIn(visitor, server.url, alice, '/settings?from=here')
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.location, '/settings?from=here')
  const [cookie = ''] = answer.headers['set-cookie'] ?? []
  assert.match(cookie, /; HttpOnly/)
  assert.match(cookie, /; SameSite=Lax/)
  const expires = Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? '')
  assert(Math.abs(expires - Date.now() - 14 * DAY) < 60_000, 'two weeks on loopback')
  const page = await visitor.follow(`${server.url}/settings`, answer)
  assert.equal(page.status, 200)
  assert.match(page.text, /alice\.test/)
  assert.match(page.text, /Firefox on Linux/)
  assert.match(page.text, /this one/)
})

test('what was granted is to write queue records, and nothing else', async () => {
  await logIn(new Visitor(), server.url, alice)
  const grant = await grantOf(alice)
  assert.deepEqual(grant?.tokenSet.scope.split(' ').sort(), ['atproto', 'repo:dev.knotless.queue?action=create'])
  const session = await server.context.oauth.restore(did(alice))
  const write = (collection: string) =>
    session?.fetchHandler('/xrpc/com.atproto.repo.createRecord', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ repo: alice.did, collection, record: { $type: collection, createdAt: new Date().toISOString() } }),
    })
  assert.equal((await write('dev.knotless.queue'))?.status, 200)
  assert.equal((await write('dev.knotless.repo'))?.status, 403)
})

test('what was granted is checked, not what was asked: a grant that lacks something is given back', async () => {
  const { context } = server
  const seal = createSeal(deriveKey(context.config.secret, 'oauth at rest'))
  const { publicUrl, plcUrl } = context.config
  const wanted = {
    name: 'wanting',
    scope: 'atproto repo:dev.knotless.queue?action=create other:thing',
    callbackPath: '/oauth/callback',
    metadataPath: '/oauth-client-metadata.json',
    onGone() {},
  }
  const oauth = createOAuth({ ...context, seal, publicUrl, plcUrl, loopback: true, allowHttp: true }, wanted)
  const begun = await oauth.begin(did(bob), 'the state')
  assert(begun.ok)
  const address = await (await openSignIn(new Visitor(), begun.href, bob)).authorize()
  const finished = await oauth.finish(new URL(address).searchParams, state => state === 'the state')
  assert.deepEqual(finished, { ok: false, why: 'too-little', state: 'the state' })
  assert.equal(await oauth.restore(did(bob)), undefined)
})

test('no token, key or session id lies readable in any file', async () => {
  const visitor = new Visitor()
  await logIn(visitor, server.url, alice)
  const grant = await grantOf(alice)
  const cookie = visitor.cookies(server.url).get(server.context.cookies.session)
  assert(grant !== undefined && cookie !== undefined)
  const secrets = [grant.tokenSet.access_token, grant.tokenSet.refresh_token, grant.dpopJwk.d, cookie]
  let read = 0
  for (const name of readdirSync(server.dir)) {
    const bytes = readFileSync(join(server.dir, name))
    read += bytes.length
    for (const secret of secrets) assert(!bytes.includes(secret), `${name} holds a secret`)
  }
  assert(read > 100_000, 'the database was looked at')
})

test('a handle that nobody has, and what is no handle, come back into the form', async () => {
  const visitor = new Visitor()
  const token = tokenOn((await visitor.get(`${server.url}/login?next=/a/b`)).text)
  for (const [handle, says] of [
    ['bob.tset', /Nobody found/],
    ['nobody.test', /There is no account called nobody\.test/],
    ['did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', /Nobody found/],
    ['<b>x</b>', /That is no handle/],
    ['', /That is no handle/],
    ['a'.repeat(2_000), /That is no handle/],
  ] as const) {
    const answer = await visitor.post(`${server.url}/login`, { handle, next: '/a/b', _csrf: token })
    assert(answer.status >= 400 && answer.status < 500, `${handle}: ${answer.status}`)
    assert.match(answer.text, says)
    assert.match(answer.text, /role="alert"/)
    assert.match(answer.text, /name="next" value="\/a\/b"/)
    assert(!answer.text.includes('<b>x</b>'))
  }
})

test('a handle may be typed with @, in capitals, or copied with invisible marks; a DID does as well', async () => {
  const visitor = new Visitor()
  const token = tokenOn((await visitor.get(`${server.url}/login`)).text)
  for (const handle of ['@alice.test', 'ALICE.test ', '\u202aalice.test\u202c', alice.did]) {
    const answer = await visitor.post(`${server.url}/login`, { handle, _csrf: token })
    assert.equal(answer.status, 303, handle)
    assert.match(String(answer.headers.location), /^\/login\/continue\?handle=alice\.test&/)
  }
})

test('denied consent comes back into the form, and nobody is logged in', async () => {
  const visitor = new Visitor()
  const page = await goToServer(visitor, server.url, bob, '/a/b')
  const answer = await visitor.get(await page.deny())
  assert.equal(answer.status, 422)
  assert.match(answer.text, /You denied the request/)
  assert.match(answer.text, /value="bob\.test"/)
  assert.match(answer.text, /name="next" value="\/a\/b"/)
  assert.equal(visitor.cookies(server.url).has(server.context.cookies.session), false)
  assert(!answer.text.includes('oauth/callback'), 'the page does not lead back into the log-in')
})

test('an answer that was used, or that another browser brings, logs nobody in', async () => {
  const visitor = new Visitor()
  const address = await (await goToServer(visitor, server.url, bob)).authorize()
  const other = new Visitor()
  assert.equal((await other.get(address)).status, 400)
  assert.equal(other.cookies(server.url).has(server.context.cookies.session), false)
  assert.equal((await visitor.get(address)).status, 303, 'the one who waits for it can still use it')
  const again = await visitor.get(address)
  assert.equal(again.status, 400)
  assert.match(again.text, /was used already/)
  for (const query of ['', '?state=x&code=y', '?state=&error=access_denied', '?state=a&state=b', '?response=x']) {
    const answer = await visitor.get(`${server.url}/oauth/callback${query}`)
    assert.equal(answer.status, 400, query)
  }
})

test('a server that is down is said to be, in the form', async () => {
  const visitor = new Visitor()
  const token = tokenOn((await visitor.get(`${server.url}/login`)).text)
  const found = await visitor.post(`${server.url}/login`, { handle: 'bob.test', _csrf: token })
  const between = await visitor.follow(`${server.url}/login`, found)
  const href = /href="(\/login\/start[^"]*)"/.exec(between.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const broken = await serve(
    { ...network, pdsUrl: network.pdsUrl },
    {
      overrides: { fetch: Object.assign(async () => Promise.reject(new Error('down')), { close() {} }), identity: server.context.identity },
    },
  )
  try {
    const answer = await visitor.get(`${broken.url}${href}`)
    assert.equal(answer.status, 422)
    assert.match(answer.text, /does not answer/)
    assert.match(answer.text, /value="bob\.test"/)
  } finally {
    await broken.end()
  }
})

test('sessions of one account are listed, and each can be ended from any other', async () => {
  const firefox = new Visitor()
  const phone = new Visitor('Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36')
  await logIn(firefox, server.url, bob)
  await logIn(phone, server.url, bob)
  const page = await firefox.get(`${server.url}/settings`)
  assert.match(page.text, /Chrome on Android/)
  const sessions = await server.context.sessions.list(bob.did)
  const target = sessions.find(session => session.userAgent.includes('Android'))?.name ?? ''
  const ended = await firefox.post(`${server.url}/settings/sessions/${target}/end`, { _csrf: tokenOn(page.text) })
  assert.equal(ended.headers.location, '/settings')
  const out = await phone.get(`${server.url}/settings`)
  assert.equal(out.headers.location, '/login?next=%2Fsettings')
  assert.equal((await firefox.get(`${server.url}/settings`)).status, 200)
  assert.notEqual(await grantOf(bob), undefined, 'the grant is still used')
})

test('nobody can end a session of somebody else', async () => {
  const [visitor, other] = [new Visitor(), new Visitor()]
  await logIn(visitor, server.url, alice)
  await logIn(other, server.url, bob)
  const [bobs] = await server.context.sessions.list(bob.did)
  const page = await visitor.get(`${server.url}/settings`)
  await visitor.post(`${server.url}/settings/sessions/${bobs?.name}/end`, { _csrf: tokenOn(page.text) })
  assert.equal((await other.get(`${server.url}/settings`)).status, 200)
})

test('all others are ended at once', async () => {
  const visitors = [new Visitor(), new Visitor(), new Visitor()]
  for (const visitor of visitors) await logIn(visitor, server.url, alice)
  const [one, two, three] = visitors
  assert(one !== undefined && two !== undefined && three !== undefined)
  const page = await two.get(`${server.url}/settings`)
  await two.post(`${server.url}/settings/sessions/end-others`, { _csrf: tokenOn(page.text) })
  assert.equal((await two.get(`${server.url}/settings`)).status, 200)
  for (const visitor of [one, three]) assert.equal((await visitor.get(`${server.url}/settings`)).status, 303)
  assert.equal((await server.context.sessions.list(alice.did)).length, 1)
})

test('logging out ends the session, and with the last one the grant at the account’s server', async () => {
  await server.context.sessions.endAll(alice.did)
  const [one, two] = [new Visitor(), new Visitor()]
  await logIn(one, server.url, alice)
  await logIn(two, server.url, alice)
  const kept = await server.context.db.selectFrom('oauth_session').selectAll().where('key', '=', alice.did).executeTakeFirstOrThrow()
  const held = one.cookies(server.url).get(server.context.cookies.session) ?? ''
  const out = await one.post(`${server.url}/logout`, { _csrf: tokenOn((await one.get(`${server.url}/settings`)).text) })
  assert.equal(out.headers.location, '/')
  assert.equal(one.cookies(server.url).has(server.context.cookies.session), false)
  one.cookies(server.url).set(server.context.cookies.session, held)
  assert.equal((await one.get(`${server.url}/settings`)).status, 303, 'the cookie is worth nothing any more')
  assert.notEqual(await grantOf(alice), undefined, 'another browser still uses the grant')
  await two.post(`${server.url}/logout`, { _csrf: tokenOn((await two.get(`${server.url}/settings`)).text) })
  assert.equal(await grantOf(alice), undefined)
  await server.context.db.insertInto('oauth_session').values(kept).execute()
  const restored = await server.context.oauth.restore(did(alice))
  assert.equal((await restored?.fetchHandler('/xrpc/com.atproto.server.getSession'))?.status, 401, 'the server took it back')
})

test('a grant taken back at the account’s server is noticed when it is used: log in again, and back to the same page', async () => {
  const visitor = new Visitor()
  await logIn(visitor, server.url, bob)
  const { db, oauth } = server.context
  const kept = await db.selectFrom('oauth_session').selectAll().where('key', '=', bob.did).executeTakeFirstOrThrow()
  assert.equal(await oauth.revoke(did(bob)), true)
  await db.insertInto('oauth_session').values(kept).execute()
  assert.equal((await visitor.get(`${server.url}/settings`)).status, 200, 'nobody has told the server')
  const session = await oauth.restore(did(bob))
  await session?.fetchHandler('/xrpc/com.atproto.server.getSession')
  await until(async () => (await server.context.sessions.list(bob.did)).length === 0)
  assert.equal(await server.context.oauth.restore(did(bob)), undefined)
  const away = await visitor.get(`${server.url}/settings?x=1`)
  assert.equal(away.headers.location, '/login?next=%2Fsettings%3Fx%3D1')
  const door = await visitor.follow(`${server.url}/settings`, away)
  assert.match(door.text, /Your log-in has ended/)
  const back = await logIn(visitor, server.url, bob, '/settings?x=1')
  assert.equal(back.headers.location, '/settings?x=1')
})

test('a session ends by itself after two weeks, and an unfinished log-in within the hour', async () => {
  const visitor = new Visitor()
  await logIn(visitor, server.url, alice)
  await goToServer(new Visitor(), server.url, alice)
  const states = () => server.context.db.selectFrom('oauth_state').selectAll().execute()
  assert((await states()).length > 0)
  try {
    ahead = 14 * DAY - 60_000
    assert.equal((await visitor.get(`${server.url}/settings`)).status, 200)
    ahead = 14 * DAY + 60_000
    assert.equal((await visitor.get(`${server.url}/settings`)).status, 303)
    await server.purge()
    assert.deepEqual(await states(), [])
    assert.deepEqual(await server.context.db.selectFrom('web_session').selectAll().where('did', '=', alice.did).execute(), [])
  } finally {
    ahead = 0
  }
})

function did(account: DevAccount): `did:plc:${string}` {
  if (!account.did.startsWith('did:plc:')) throw new Error('no DID')
  return `did:plc:${account.did.slice('did:plc:'.length)}`
}
