import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type LandingWorld, landerOf, startLandingWorld, statesOf } from './world.ts'

let world: LandingWorld
before(async () => {
  world = await startLandingWorld({ delegate: false })
})
after(() => world?.end())

test('GWY-8 GWY-1 without a delegation nothing lands, and the gateway’s words say whose move it is; the token is in no line of the log', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('undelegated')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  const tokens: string[] = []
  const { pushToken } = hand.ctx.appview
  hand.ctx.appview.pushToken = async () => {
    const token = await pushToken()
    if (token.ok) tokens.push(token.token)
    return token
  }
  const { done } = await hand.land(repo, [a])
  assert.ok(!done.ok && done.why === 'not-delegated', JSON.stringify(done))
  assert.match(done.said, /^Not landed: this server may not write for alice\.test, as no delegation was given\. Ask alice\.test to give/)
  assert.equal((await landerOf(rigby, repo))?.intent, undefined)
  assert.deepEqual(await statesOf(rigby, a.uri), [])
  const told = JSON.stringify([done, hand.lines])
  assert.equal(tokens.length, 1)
  for (const token of tokens) assert.ok(!told.includes(token))
  assert.ok(!told.includes('/tmp/'), told)
})

test('GWY-10 the token is on no command line of git', async () => {
  const repo = await world.orchard('command-line')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  const tokens: string[] = []
  const { pushToken } = hand.ctx.appview
  hand.ctx.appview.pushToken = async () => {
    const token = await pushToken()
    if (token.ok) tokens.push(token.token)
    return token
  }
  const dir = mkdtempSync(join(tmpdir(), 'knotless-argv-'))
  const { PATH = '' } = process.env
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  writeFileSync(join(dir, 'git'), `#!/bin/sh\nprintf '%s\\n' "$@" >> '${dir}/argv'\nexec '${git}' "$@"\n`, { mode: 0o755 })
  process.env.PATH = `${dir}:${PATH}`
  try {
    await hand.land(repo, [a])
  } finally {
    process.env.PATH = PATH
  }
  const said = readFileSync(join(dir, 'argv'), 'utf8')
  rmSync(dir, { recursive: true })
  assert.match(said, /^push$/m)
  assert.equal(tokens.length, 1)
  for (const token of tokens) assert.ok(!said.includes(token))
})

test('LND-11 a gateway that cannot be reached, or gives no token, is trouble, and the batch stays', async () => {
  const repo = await world.orchard('unreachable')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  hand.ctx.appview.pushToken = async () => ({ ok: false, said: 'the account’s server answered 503' })
  const { done } = await hand.land(repo, [a])
  assert.ok(!done.ok && done.why === 'trouble' && done.said.includes('503'), JSON.stringify(done))
})

test('WHO-4 another gateway is found by its document, with a token that is for it alone; one without a document is trouble', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('elsewhere', { gateway: 'did:web:127.0.0.1%3A9' })
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  const { done } = await hand.land(repo, [a])
  assert.ok(!done.ok && done.why === 'trouble', JSON.stringify(done))

  // Beside a server of another name, the one that the record names is asked, and it answers.
  await repo.edit({ gateway: world.server.context.config.did })
  const beside = world.hand(rigby, { instance: hand.ctx.instance })
  beside.ctx.appview.did = async () => rigby.did
  beside.ctx.appview.pushToken = async () => assert.fail('a token for the other server')
  const named = await beside.land(repo, [a])
  assert.ok(!named.done.ok && named.done.why === 'not-delegated', JSON.stringify(named.done))
})

test('WHO-8 a process that lost its lease to another one lands nothing', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('lost-lease')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  const batch = await hand.batch(repo, [a])
  const other = world.hand(rigby)
  assert.ok((await other.book.claim(await other.ground(repo))).ok)
  assert.deepEqual(await hand.landing.land(await hand.ground(repo), batch), { ok: false, why: 'not-lander' })
})
