import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dev } from '../../../src/lexicons/index.ts'
import type { Planted } from '../../server/gateway-world.ts'
import { until } from '../../support/until.ts'
import { type Hand, type LandingWorld, landerOf, startLandingWorld, statesOf } from './world.ts'

let world: LandingWorld
before(async () => {
  world = await startLandingWorld()
})
after(() => world?.end())

const writes = 'com.atproto.repo.applyWrites'

function intentOf(record: Record<string, unknown> | undefined) {
  return record === undefined ? undefined : dev.knotless.lander.main.parse({ $type: 'dev.knotless.lander', ...record }).intent
}

/** A process after a crash, with nothing but records: it holds the lease by its name. */
async function afterCrash(before: Hand, as = world.people.rigby, more: Parameters<LandingWorld['hand']>[1] = {}): Promise<Hand> {
  before.book.close()
  return world.hand(as, { instance: before.ctx.instance, ...more })
}

async function repair(hand: Hand, repo: Planted) {
  const ground = await hand.ground(repo)
  assert.ok((await hand.book.claim(ground)).ok)
  return await hand.landing.repair(ground)
}

test('LND-8 landed and not recorded: the next process writes what the intent says, under its keys, once', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('unrecorded')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  const fault = world.network.faults.add({ fault: 'refuse', method: writes, account: rigby.did })
  const { batch, done } = await hand.land(repo, [a])
  assert.ok(done.ok, 'the branch moved, so that it has landed')
  assert.deepEqual(await statesOf(rigby, a.uri), [])
  const intent = intentOf(await landerOf(rigby, repo))
  assert.equal(intent?.tip, batch.tip)
  fault.clear()

  const next = await afterCrash(hand)
  assert.deepEqual(await repair(next, repo), { ok: true, landed: [batch.members[0]?.key] })
  assert.deepEqual(await repair(next, repo), { ok: true, landed: [] })
  const states = (await rigby.list('dev.knotless.state')).filter(({ value }) => value.subject === a.uri)
  assert.deepEqual(
    states.map(({ uri, value }) => [uri.split('/').at(-1), value.state, value.commit]),
    [[intent?.pulls[0]?.state, 'merged', batch.tip]],
  )
  assert.equal(intentOf(await landerOf(rigby, repo)), undefined)
})

test('LND-8 STO-7 a lost answer to what was recorded writes nothing twice', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('lost')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  world.network.faults.add({ fault: 'lose', method: writes, account: rigby.did, times: 1 })
  const { done } = await hand.land(repo, [a])
  assert.ok(done.ok)
  await repair(hand, repo)
  assert.equal((await statesOf(rigby, a.uri)).length, 1)
  assert.equal(intentOf(await landerOf(rigby, repo)), undefined)
})

test('LND-8 a server that stalls on what is recorded, and takes it all the same, takes it once', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('stalled')
  const a = await world.queued(repo, 'a')
  const hand = world.hand(rigby, { patience: 1_500 })
  const stall = world.network.faults.add({ fault: 'stall', method: writes, account: rigby.did, times: 1 })
  const { done } = await hand.land(repo, [a])
  assert.ok(done.ok)
  const next = await afterCrash(hand)
  const [repaired] = await Promise.all([repair(next, repo), stall.clear()])
  if (!repaired.ok) assert.ok((await repair(next, repo)).ok)
  await until(async () => (await statesOf(rigby, a.uri)).length > 0, { what: 'the state' })
  assert.ok((await repair(next, repo)).ok)
  assert.equal((await statesOf(rigby, a.uri)).length, 1)
  assert.equal(intentOf(await landerOf(rigby, repo)), undefined)
})

test('LND-8 a push that was never made: the intent stays while it may be under way, its keys are used by the next try, and it is given up later', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('unpushed')
  const a = await world.queued(repo, 'a')
  const hand = world.hand(rigby, { more: {} })
  const appview = { ...hand.ctx.appview, url: 'http://127.0.0.1:9' }
  const lost = world.hand(rigby, { instance: hand.ctx.instance, more: { appview } })
  const { batch, done } = await lost.land(repo, [a])
  assert.ok(!done.ok && done.why === 'trouble', JSON.stringify(done))
  const intent = intentOf(await landerOf(rigby, repo))
  assert.equal(intent?.tip, batch.tip)
  assert.deepEqual(await repair(lost, repo), { ok: true, landed: [] })
  assert.deepEqual(intentOf(await landerOf(rigby, repo)), intent, 'left as it is')

  const late = await afterCrash(lost, rigby, { ahead: () => 11 * 60_000 })
  assert.deepEqual(await repair(late, repo), { ok: true, landed: [] })
  assert.equal(intentOf(await landerOf(rigby, repo)), undefined, 'given up')
  assert.equal((await repo.refs()).get('main'), repo.tip)
  assert.deepEqual(await statesOf(rigby, a.uri), [])
})

test('LND-8 LND-11 the same batch lands at its second try, under the keys of the first', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('again')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  const batch = await hand.batch(repo, [a])
  assert.ok((await hand.book.claim(await hand.ground(repo))).ok)
  const url = Object.getOwnPropertyDescriptor(hand.ctx.appview, 'url')
  Object.defineProperty(hand.ctx.appview, 'url', { value: 'http://127.0.0.1:9', configurable: true })
  const first = await hand.landing.land(await hand.ground(repo), batch)
  assert.equal(first.ok, false)
  const intent = intentOf(await landerOf(rigby, repo))
  Object.defineProperty(hand.ctx.appview, 'url', url ?? {})
  const second = await hand.landing.land(await hand.ground(repo), batch)
  assert.ok(second.ok, JSON.stringify(second))
  const states = (await rigby.list('dev.knotless.state')).filter(({ value }) => value.subject === a.uri)
  assert.deepEqual(
    states.map(({ uri }) => uri.split('/').at(-1)),
    intent?.pulls.map(one => one.state),
  )
})

test('LND-8 what a lander before it left undone is written by the next one, in its own account, and by the first one never again', async () => {
  const { rigby, bob } = world.people
  const repo = await world.orchard('former')
  const a = await world.queued(repo, 'a')
  const before = world.hand(bob)
  const fault = world.network.faults.add({ fault: 'refuse', method: writes, account: bob.did })
  const { batch, done } = await before.land(repo, [a])
  assert.ok(done.ok)
  await before.book.release(repo.uri)
  fault.clear()
  assert.equal(intentOf(await landerOf(bob, repo))?.tip, batch.tip, 'one that stops leaves it')

  const after = world.hand()
  assert.deepEqual(await repair(after, repo), { ok: true, landed: [batch.members[0]?.key] })
  assert.equal((await statesOf(rigby, a.uri))[0]?.commit, batch.tip)
  const again = world.hand(bob)
  await repair(again, repo)
  assert.deepEqual(await statesOf(bob, a.uri), [])
  assert.equal(intentOf(await landerOf(bob, repo)), undefined)
})

test('LND-8 nothing is concluded from a commit’s message, nor from an intent whose commits are not those of its pulls', async () => {
  const { rigby, alice } = world.people
  const repo = await world.orchard('forged')
  const [a, b] = [await world.queued(repo, 'a'), await world.queued(repo, 'b')]
  const hand = world.hand()
  const { batch } = await hand.land(repo, [a])
  const record = await landerOf(rigby, repo)
  const entry = (await hand.ground(repo)).view.pulls.get(b.uri)?.entry?.record.uri ?? ''
  const pull = { pull: b.uri, entry, head: b.head, commit: batch.tip, state: hand.ctx.nextKey() }
  const forged = { branch: 'main', generation: 1, base: batch.base, tip: batch.tip, pulls: [pull] }
  const key =
    (await rigby.list('dev.knotless.lander'))
      .find(({ value }) => value.repo === repo.uri)
      ?.uri.split('/')
      .at(-1) ?? ''
  await rigby.put('dev.knotless.lander', key, { ...record, intent: forged })
  await alice.put('dev.knotless.lander', key, { ...record, stoppedAt: new Date().toISOString(), intent: forged })
  const next = await afterCrash(hand)
  assert.deepEqual(await repair(next, repo), { ok: true, landed: [] })
  assert.deepEqual(await statesOf(rigby, b.uri), [])
  assert.equal(intentOf(await landerOf(rigby, repo)), undefined)
})

test('LND-8 BLD-8 an intent whose branch went another way is given up', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('another')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  const batch = await hand.batch(repo, [a])
  Object.defineProperty(hand.ctx.appview, 'url', { value: 'http://127.0.0.1:9' })
  assert.ok((await hand.book.claim(await hand.ground(repo))).ok)
  assert.equal((await hand.landing.land(await hand.ground(repo), batch)).ok, false)
  await repo.push('main', a.head)
  assert.deepEqual(await repair(hand, repo), { ok: true, landed: [] })
  assert.equal(intentOf(await landerOf(rigby, repo)), undefined)
  const after = await hand.landing.land(await hand.ground(repo), batch)
  assert.deepEqual(after, { ok: false, why: 'branch-moved' })
})
