import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createGitDoor } from '../../src/server/git-http/door.ts'
import { readPushCaller } from '../../src/server/git-http/push-caller.ts'
import { until } from '../support/until.ts'
import { type GatewayWorld, type Planted, startGatewayWorld } from './gateway-world.ts'
import { addressOf, type Clone, cloneOf, pushMethod, tokenFor } from './git-push-world.ts'
import { git } from './git-world.ts'
import { serve } from './serve.ts'

let world: GatewayWorld
let dir: string
let grove: Planted
let clone: Clone
/** How far the server's clock is moved on, in milliseconds. */
let ahead = 0
before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'knotless-git-tokens-'))
  world = await startGatewayWorld({ overrides: { now: () => Date.now() + ahead } })
  grove = await world.plant('grove')
  clone = await cloneOf(world, 'grove', dir)
})
after(async () => {
  await world?.end()
  rmSync(dir, { recursive: true, force: true })
})

let count = 0
const change = () => clone.commit({ 'n.txt': `${++count}\n` })
const seconds = () => Math.floor(Date.now() / 1000)
const wanted = () =>
  `a service token of your account for ${pushMethod}, audience ${world.server.context.config.did}, good for 5 minutes at most and for one push`

async function refused(code: string): Promise<number> {
  const metric = await world.server.context.metrics.gitTokensRefused.get()
  return metric.values.find(one => one.labels.code === code)?.value ?? 0
}

/** A push with a token that is none, which ends with the words of the refusal and moves nothing. */
async function turnedAway(token: string, why: string, code: string): Promise<void> {
  const before = await refused(code)
  const tip = (await grove.refs()).get('main')
  await change()
  const ran = await clone.push({ token }, 'HEAD:main')
  assert.ok(ran.err.startsWith(`remote: Not let in: ${why}. The password of a push is ${wanted()}.`), ran.err)
  assert.match(ran.err, /^fatal: Authentication failed for /m)
  assert.equal((await grove.refs()).get('main'), tip)
  assert.ok((await refused(code)) > before, code)
}

test('GWY-10 a token for this server pushes whatever the user name, its audience with or without the name of the service', async () => {
  for (const aud of [world.server.context.config.did, `${world.server.context.config.did}#knotless_appview`]) {
    const made = await change()
    const ran = await clone.push({ token: await tokenFor(world, world.people.bob, { aud }) }, 'HEAD:main')
    assert.equal(ran.code, 0, ran.err)
    assert.equal((await grove.refs()).get('main'), made)
  }
})

test('GWY-10 a push without a token is told which one it takes', async () => {
  await change()
  const ran = await git(['push', addressOf(world, 'grove'), 'HEAD:main'], { cwd: clone.dir })
  assert.equal(ran.code, 128)
  assert.match(ran.err, /could not read Username/)
  const answer = await fetch(`${addressOf(world, 'grove')}/info/refs?service=git-receive-pack`)
  assert.equal(answer.status, 401)
  assert.match(answer.headers.get('www-authenticate') ?? '', /^Basic /)
  assert.equal(await answer.text(), `Pushing needs a password: ${wanted()}. Any user name does.\n`)
})

test('GWY-10 a token for another method, another server, too long or over is turned away, each in its words', async () => {
  const { bob } = world.people
  await turnedAway(await tokenFor(world, bob, { lxm: 'dev.knotless.mergePull' }), `the token is not for ${pushMethod}`, 'wrong-method')
  const aud = 'did:web:elsewhere.example'
  await turnedAway(
    await tokenFor(world, bob, { aud }),
    `the token is for another server, not for ${world.server.context.config.did}`,
    'wrong-audience',
  )
  await turnedAway(await tokenFor(world, bob, { exp: seconds() + 20 * 60 }), 'the token is good for more than 5 minutes', 'token-too-long')
  await turnedAway('nonsense', 'the token is none that an account signs', 'bad-token')
  await turnedAway('a.b.c', 'the token is none that an account signs', 'bad-token')
})

test('GWY-10 a token that has expired is turned away', async t => {
  const token = await tokenFor(world, world.people.bob)
  t.after(() => {
    ahead = 0
  })
  ahead = 61_000
  await turnedAway(token, 'the token has expired', 'token-expired')
})

test('GWY-10 a token signed by another account, or changed, is turned away', async () => {
  const { bob, mallory } = world.people
  const [head, payload] = (await tokenFor(world, bob)).split('.')
  const [, , signature] = (await tokenFor(world, mallory)).split('.')
  await turnedAway(`${head}.${payload}.${signature}`, 'the token is not signed by its account', 'bad-signature')
  const [mine, claims = '', mySignature] = (await tokenFor(world, mallory)).split('.')
  const changed = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
  const forged = Buffer.from(JSON.stringify({ ...changed, iss: bob.did })).toString('base64url')
  await turnedAway(`${mine}.${forged}.${mySignature}`, 'the token is not signed by its account', 'bad-signature')
})

test('GWY-10 a token is spent by the first push with commands, and is then turned away at the first request', async () => {
  const token = await tokenFor(world, world.people.bob)
  const made = await change()
  assert.equal((await clone.push({ token }, 'HEAD:main')).code, 0)
  assert.equal((await grove.refs()).get('main'), made)
  await turnedAway(token, 'the token was used before', 'token-spent')
})

test('GWY-10 looking around and probing spends nothing', async () => {
  const token = await tokenFor(world, world.people.bob)
  const url = addressOf(world, 'grove')
  const headers = { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` }
  for (let n = 0; n < 3; n++) {
    assert.equal((await fetch(`${url}/info/refs?service=git-receive-pack`, { headers })).status, 200)
    const type = { 'content-type': 'application/x-git-receive-pack-request' }
    const probe = await fetch(`${url}/git-receive-pack`, { method: 'POST', headers: { ...headers, ...type }, body: '0000' })
    assert.equal(probe.status, 200)
    assert.equal(await probe.text(), '')
  }
  const made = await change()
  assert.equal((await clone.push({ token }, 'HEAD:main')).code, 0)
  assert.equal((await grove.refs()).get('main'), made)
})

test('GWY-10 of two pushes with one token at the same instant one is let in, and the other told so behind each ref', async () => {
  const token = await tokenFor(world, world.people.bob)
  const others = [clone, await cloneOf(world, 'grove', dir)]
  const ran = await Promise.all(
    others.map(async (one, n) => {
      await one.commit({ [`racer-${n}.txt`]: `${n}\n` })
      return one.push({ token }, `HEAD:refs/heads/racer-${n}`)
    }),
  )
  const lost = ran.find(one => one.code !== 0)
  assert.ok(
    ran.some(one => one.code === 0),
    JSON.stringify(ran),
  )
  assert.match(lost?.err ?? '', /the token was used before/)
  const refs = await grove.refs()
  assert.equal([0, 1].filter(n => refs.has(`racer-${n}`)).length, 1)
})

test('GWY-10 a token that was seen by two requests before either spent it is good for one of them', async () => {
  const door = createGitDoor(world.server.context)
  const password = await tokenFor(world, world.people.bob)
  const authorization = `Basic ${Buffer.from(`anyone:${password}`).toString('base64')}`
  const read = () => readPushCaller(door, { ip: '127.0.0.1', headers: { authorization } }, { fresh: true })
  const [first, second] = await Promise.all([read(), read()])
  assert.ok(first.ok && second.ok)
  assert.equal(first.spend(), undefined)
  assert.equal(second.spend()?.code, 'token-spent')
})

test('GWY-10 a key that was taken out of the account’s document writes nothing, though it was known a moment ago', async t => {
  const { carol, mallory } = world.people
  await grove.edit({ collaborators: [{ did: world.people.bob.did }, { did: carol.did }] })
  await change()
  const known = await clone.push(carol, 'HEAD:refs/heads/carol')
  assert.equal(known.code, 0, known.err)
  const other = await world.server.context.identity.resolveDocument(mallory.did)
  assert.ok(other?.signingKey !== undefined)
  await world.network.replaceKey(carol.did, other.signingKey)
  // What is younger than this is not asked for again.
  ahead = 6_000
  t.after(() => {
    ahead = 0
  })
  const ran = await clone.push(carol, 'HEAD:refs/heads/carol-2')
  assert.match(ran.err, /the token is not signed by its account/)
  assert.equal((await grove.refs()).has('carol-2'), false)
})

test('GWY-6 GWY-10 who is turned away too often has to wait, whatever the token', async t => {
  const strict = await serve(world.network, { env: { KNOTLESS_RATE_LIMIT: '250', KNOTLESS_RELAY: world.network.relayUrl } })
  t.after(() => strict.end())
  const url = `${strict.url}/alice.test/grove.git`
  await until(async () => (await fetch(`${url}/info/refs?service=git-upload-pack`)).status === 200)
  const ask = (password: string) =>
    fetch(`${url}/info/refs?service=git-receive-pack`, {
      headers: { authorization: `Basic ${Buffer.from(`x:${password}`).toString('base64')}` },
    })
  for (let n = 0; n < 5; n++) assert.equal((await ask('wrong')).status, 401)
  const token = await tokenFor(world, world.people.bob, { aud: strict.context.config.did })
  const late = await ask(token)
  assert.equal(late.status, 429)
  assert.match(await late.text(), /^Too many requests from you just now\. Try again in (\d+ s|1 min)\.$/m)
  assert.ok(Number(late.headers.get('retry-after')) > 0)
})
