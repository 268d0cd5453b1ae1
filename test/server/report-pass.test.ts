import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { z } from 'zod'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { dev } from '../../src/lexicons/index.ts'
import { until } from '../support/until.ts'
import { post, tokenOf } from './gateway-world.ts'
import { type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

const lxm = 'dev.knotless.reportPass'
const MINUTE = 60_000
let ahead = 0
let network: Network
let server: Served
let orchard: Orchard
let people: Record<'alice' | 'bob' | 'rigby' | 'mallory', DevAccount>

before(async () => {
  network = await startNetwork()
  const [alice, bob, rigby, mallory] = await Promise.all(
    ['alice', 'bob', 'rigby', 'mallory'].map(name => network.createAccount(`${name}.test`)),
  )
  assert(alice && bob && rigby && mallory)
  people = { alice, bob, rigby, mallory }
  server = await serve(network, { overrides: { now: () => Date.now() + ahead } })
  const roles = { owner: alice.did, collaborator: bob.did, runner: rigby.did, author: mallory.did }
  orchard = await plantOrchard(server.context, { people: roles })
  await orchard.queue(orchard.pulls[0] ?? '')
})
beforeEach(() => {
  ahead = 0
})
after(async () => {
  await orchard?.stop()
  await server?.end()
  await network?.stop()
})

async function report(account: DevAccount, more: Record<string, unknown> = {}) {
  const token = await tokenOf(server, account, { lxm, exp: Math.floor(Date.now() / 1000) + 290 })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const answer = await fetch(`${server.url}/xrpc/${lxm}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ repo: orchard.repo, ...more }),
  })
  const text = await answer.text()
  return { status: answer.status, error: text === '' ? undefined : z.object({ error: z.string() }).parse(JSON.parse(text)).error }
}

const at = (ms: number) => new Date(Date.now() + ahead + ms).toISOString()

async function queue() {
  const answer = await fetch(`${server.url}/xrpc/dev.knotless.getQueue?${new URLSearchParams({ repo: orchard.repo })}`)
  return dev.knotless.getQueue.main.output.schema.parse(await answer.json())
}

/** The answer once it is no longer the one of a moment ago. */
async function queueAfterMoment() {
  const { version } = await queue()
  await server.context.indexer.touch(people.alice.did)
  const answer = await queue()
  assert(answer.version > version)
  return answer
}

test('STA-4 a lander that reports is seen; 2 minutes past the pass that it said was due it is not', async () => {
  assert.equal((await queue()).health.kind, 'never-lander')
  const heard: string[] = []
  const end = server.context.passes.onChanged(repo => heard.push(repo))
  const passed = await report(people.rigby, { passedAt: at(0), nextBy: at(30_000), waitsFor: [{ text: 'Waiting for a free job.' }] })
  assert.deepEqual(passed, { status: 200, error: undefined })
  assert.deepEqual(heard, [orchard.repo], 'open pages are told')
  const seen = await queueAfterMoment()
  assert.equal(seen.health.kind, 'waiting')
  assert.equal(seen.lander?.waitsFor, 'Waiting for a free job.')
  assert.ok(Math.abs(Date.parse(seen.lander?.nextBy ?? '') - (Date.now() + 30_000)) < 10_000)

  await report(people.rigby, { passedAt: at(0), nextBy: at(30_000), waitsFor: [{ text: 'Waiting for a free job.' }] })
  assert.equal(heard.length, 1, 'the same again is no news')
  ahead += 2 * MINUTE
  assert.equal((await queueAfterMoment()).health.kind, 'waiting', 'not yet')
  ahead += MINUTE
  const silent = await queueAfterMoment()
  assert.equal(silent.health.kind, 'no-lander')
  assert.match(silent.health.says, /no lander has been seen since/)
  await report(people.rigby, { passedAt: at(0), nextBy: at(30_000) })
  assert.equal(heard.length, 2, 'that it is back is news')
  end()
})

test('STA-4 a runner’s clock may be wrong: how long until its next pass is what counts', async () => {
  await report(people.rigby, { passedAt: at(-60 * MINUTE), nextBy: at(-59 * MINUTE) })
  assert.equal((await queueAfterMoment()).health.kind, 'waiting')
  await report(people.rigby, { passedAt: at(0), nextBy: '9999-12-31T00:00:00.000Z' })
  ahead += 25 * 60 * MINUTE
  assert.equal((await queueAfterMoment()).health.kind, 'no-lander', 'nobody is away for longer than a day and seen')
})

test('what was told is still known after a restart', async () => {
  await report(people.rigby, { passedAt: at(0), nextBy: at(30_000) })
  const { createPasses } = await import('../../src/server/passes/passes.ts')
  const again = createPasses({ database: server.context.database, now: server.context.now })
  const told = again.lastSeen(orchard.repo).get(people.rigby.did)
  assert.ok(told)
  again.stop()
  const later = createPasses({ database: server.context.database, now: () => (told.dueAt ?? 0) + 2 * MINUTE + 990 })
  const heard: string[] = []
  later.onChanged(repo => heard.push(repo))
  await until(() => heard.length > 0, { what: 'that open pages are told that it is not seen any more' })
  later.stop()
  assert.deepEqual(heard, [orchard.repo])
  ahead += 31 * 24 * 60 * MINUTE
  again.purge()
  assert.equal(again.lastSeen(orchard.repo).size, 0, 'and forgotten after a month')
})

test('WHO-1 owner, collaborators and named runners may report; nobody else, and nobody without a token', async () => {
  for (const account of [people.alice, people.bob, people.rigby]) assert.equal((await report(account, { passedAt: at(0) })).status, 200)
  assert.deepEqual(await report(people.mallory, { passedAt: at(0) }), { status: 400, error: 'NotAllowed' })
  assert.equal(server.context.passes.lastSeen(orchard.repo).has(people.mallory.did), false)
  assert.equal((await post(server, lxm, { repo: orchard.repo })).body.error, 'AuthMissing')
  const other = await tokenOf(server, people.rigby, { lxm: 'dev.knotless.mergePull' })
  assert.equal((await post(server, lxm, { repo: orchard.repo }, other)).body.error, 'WrongMethod')
  const unknown = await report(people.rigby, { repo: `at://${people.alice.did}/dev.knotless.repo/nowhere` })
  assert.equal(unknown.error, 'RepoNotFound')
})

test('what is too much or no report is refused by name', async () => {
  for (const wrong of [
    { waitsFor: Array.from({ length: 21 }, () => ({ text: 'x' })) },
    { waitsFor: [{ text: 'x'.repeat(1_001) }] },
    { passedAt: 'yesterday' },
    { logs: [{ check: 'x', offset: 0, text: '' }] },
  ]) {
    assert.deepEqual(await report(people.rigby, wrong), { status: 400, error: 'InvalidRequest' }, JSON.stringify(wrong).slice(0, 80))
  }
  const check = `at://${people.rigby.did}/dev.knotless.check/x`
  const huge = await report(people.rigby, { logs: Array.from({ length: 20 }, () => ({ check, offset: 0, text: 'x'.repeat(65_000) })) })
  assert.equal(huge.status, 413)
})

test('CHK-13 pieces of a log are put together; a runner sends those of its own checks only', async () => {
  const { liveLogs } = server.context
  const check = `at://${people.rigby.did}/dev.knotless.check/live`
  const grown: string[] = []
  const end = liveLogs.onGrown(of => grown.push(of))
  await report(people.rigby, { logs: [{ check, offset: 0, text: 'é one\n' }] })
  await report(people.rigby, { logs: [{ check, offset: 7, text: 'two\n' }] })
  await report(people.rigby, { logs: [{ check, offset: 7, text: 'two\nthree\n' }] })
  assert.deepEqual(liveLogs.of(check), { text: 'é one\ntwo\nthree\n', from: 0 })
  await report(people.rigby, { logs: [{ check, offset: 0, text: 'é one\n' }] })
  assert.equal(grown.length, 3, 'what was there already is no news')
  const theirs = `at://${people.alice.did}/dev.knotless.check/live`
  await report(people.rigby, {
    logs: [
      { check: theirs, offset: 0, text: 'x' },
      { check: orchard.pulls[0], offset: 0, text: 'x' },
    ],
  })
  assert.equal(liveLogs.of(theirs), undefined)
  await report(people.rigby, { logs: [{ check, offset: 1_000, text: 'later' }] })
  assert.deepEqual(liveLogs.of(check), { text: 'later', from: 1_000 }, 'a gap starts anew')
  end()
})

test('of a long log the end is kept', () => {
  const { liveLogs } = server.context
  const piece = `${'x'.repeat(59_999)}\n`
  for (let n = 0; n < 10; n++) liveLogs.add('at://did:plc:a/dev.knotless.check/long', { offset: n * 60_000, text: piece })
  const log = liveLogs.of('at://did:plc:a/dev.knotless.check/long')
  assert.equal(log?.text.length, 256 * 1024)
  assert.equal(log?.from, 600_000 - 256 * 1024)
})
