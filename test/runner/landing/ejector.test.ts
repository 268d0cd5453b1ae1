import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dev } from '../../../src/lexicons/index.ts'
import type { Action } from '../../../src/runner/planner/types.ts'
import type { OpenedPull, Planted } from '../../server/gateway-world.ts'
import { type Hand, type LandingWorld, startLandingWorld } from './world.ts'

let world: LandingWorld
before(async () => {
  world = await startLandingWorld({ delegate: false })
})
after(() => world?.end())

type Ejection = Action & { do: 'eject' }

async function ejectionOf(hand: Hand, repo: Planted, pull: OpenedPull, more: Partial<Ejection> = {}): Promise<Ejection> {
  const view = (await hand.ground(repo)).view.pulls.get(pull.uri)
  const entry = view?.entry ?? view?.heldEntry
  assert.ok(entry)
  const why = { key: 'conflict', branch: 'main', tip: repo.tip, head: pull.head, files: ['a.txt'], more: 0 } as const
  return {
    do: 'eject',
    pull: pull.uri,
    entry: entry.record.uri,
    key: entry.key,
    head: pull.head,
    kind: 'conflict',
    why,
    checks: [],
    ...more,
  }
}

async function ejections(pull: OpenedPull) {
  const all = await world.people.rigby.list('dev.knotless.queue')
  return all.filter(({ value }) => value.subject === pull.uri && value.state === 'ejected')
}

test('REC-2 REC-7 REC-10 an ejection says why, at which head, which checks failed, and which queueing it ends; its key is above all', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('ejected')
  const pull = await world.queued(repo, 'a')
  const hand = world.hand()
  const check = `at://${rigby.did}/dev.knotless.check/x`
  const why = { key: 'alone', names: ['test'], commit: pull.head, branch: 'main', tip: repo.tip, newer: 0 } as const
  const ejection = await ejectionOf(hand, repo, pull, { kind: 'checks', why, checks: [{ workflow: 'test', status: 'failure', check }] })
  const done = await hand.ejector.eject(await hand.ground(repo), ejection)
  assert.ok(done.ok, JSON.stringify(done))
  const [record, ...more] = await ejections(pull)
  assert.deepEqual(more, [])
  assert.equal(record?.uri, done.record)
  const { createdAt, $type, ...fields } = record?.value ?? {}
  const short = (id: string) => id.slice(0, 7)
  assert.deepEqual(fields, {
    repo: repo.uri,
    subject: pull.uri,
    state: 'ejected',
    ends: ejection.entry,
    reason: `test failed. It failed alone, at ${short(pull.head)} on main at ${short(repo.tip)}.`,
    kind: 'checks',
    commit: pull.head,
    checks: [{ workflow: 'test', status: 'failure', check }],
  })
  assert.ok(dev.knotless.queue.main.safeParse(record?.value).success)
  assert.ok((record?.uri.split('/').at(-1) ?? '') > ejection.key)
  const after = await hand.ground(repo)
  assert.equal(after.view.pulls.get(pull.uri)?.ejection?.uri, done.record)
})

test('REC-7 its key is above one from a clock that is ahead', async () => {
  const { bob } = world.people
  const repo = await world.orchard('ahead')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const { tidAt } = await import('../../../src/queue/tid.ts')
  const record = { repo: repo.uri, subject: pull.uri, state: 'queued', createdAt: new Date().toISOString() }
  const key = tidAt(Date.now() + 4 * 60_000)
  await bob.create('dev.knotless.queue', record, key)
  const hand = world.hand()
  const done = await hand.ejector.eject(await hand.ground(repo), await ejectionOf(hand, repo, pull))
  assert.ok(done.ok)
  assert.ok((done.record.split('/').at(-1) ?? '') > key)
})

test('STO-7 lost answers make no second ejection, in this process or the next', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('lost')
  const pull = await world.queued(repo, 'a')
  const hand = world.hand(rigby, { patience: 1_500 })
  const ejection = await ejectionOf(hand, repo, pull)
  const create = 'com.atproto.repo.createRecord'
  const stall = world.network.faults.add({ fault: 'stall', method: create, account: rigby.did })
  const first = await hand.ejector.eject(await hand.ground(repo), ejection)
  assert.equal(first.ok, false)
  stall.clear()
  const again = await hand.ejector.eject(await hand.ground(repo), ejection)
  assert.ok(again.ok, JSON.stringify(again))
  const next = world.hand()
  assert.deepEqual(await next.ejector.eject(await next.ground(repo), ejection), again)
  assert.equal((await ejections(pull)).length, 1)
})

test('REC-10 what is not queued any more under that key is not ejected', async () => {
  const { bob } = world.people
  const repo = await world.orchard('left')
  const pull = await world.queued(repo, 'a')
  const hand = world.hand()
  const ground = await hand.ground(repo)
  const ejection = await ejectionOf(hand, repo, pull)
  const left = { repo: repo.uri, subject: pull.uri, state: 'left', ends: ejection.entry, createdAt: new Date().toISOString() }
  await bob.create('dev.knotless.queue', left)
  assert.equal((await hand.ejector.eject(ground, ejection)).ok, false)
  await world.queue(pull, repo)
  assert.equal((await hand.ejector.eject(ground, ejection)).ok, false, 'queued anew: under another key')
  assert.deepEqual(await ejections(pull), [])
})

test('REC-2 REC-8 a reason is bounded, and a refused write ejects nobody', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('bounded')
  const pull = await world.queued(repo, 'a')
  const hand = world.hand()
  const why = { key: 'other', detail: '🍎'.repeat(5_000) } as const
  const ejection = await ejectionOf(hand, repo, pull, { kind: 'other', why })
  const fault = world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.createRecord', account: rigby.did, status: 400 })
  assert.equal((await hand.ejector.eject(await hand.ground(repo), ejection)).ok, false)
  assert.deepEqual(await ejections(pull), [])
  fault.clear()
  assert.ok((await hand.ejector.eject(await hand.ground(repo), ejection)).ok)
  const [record] = await ejections(pull)
  const reason = String(record?.value.reason)
  assert.ok(Buffer.byteLength(reason) <= 10_000 && reason.isWellFormed() && reason.endsWith('🍎…'), reason.slice(-5))
})
