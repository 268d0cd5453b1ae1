import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type LandingWorld, landerOf, startLandingWorld } from './world.ts'

let world: LandingWorld
before(async () => {
  world = await startLandingWorld({ delegate: false })
})
after(() => world?.end())

test('WHO-8 GWY-14 a lease is taken with the live settings; a second process of the account stands by until it runs out, then takes it', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('lease')
  const [one, other] = [world.hand(rigby, { settings: { batch: 3, waitMs: 90_000 } }), world.hand()]
  const ground = await one.ground(repo)
  const first = await one.book.claim(ground)
  assert.ok(first.ok)
  const record = await landerOf(rigby, repo)
  const { lease, startedAt, createdAt, $type, ...fields } = record ?? {}
  assert.deepEqual(fields, {
    repo: repo.uri,
    batch: 3,
    depth: 2,
    wait: 90,
    notice: 30,
    sweep: 300,
    timeout: 60,
    jobs: 2,
    executor: 'host',
    version: '0.1.0',
    git: '2.39.5',
  })
  const until = Date.parse(first.record.value.lease?.until ?? '')
  assert.ok(Math.abs(until - Date.now() - one.book.leaseMs) < 60_000)
  assert.deepEqual(await other.book.claim(ground), { ok: false, until })
  assert.equal(other.book.held(repo.uri, 0), undefined)

  const later = world.hand(rigby, { ahead: () => one.book.leaseMs + 1_000 })
  assert.ok((await later.book.claim(ground)).ok)
  assert.equal(later.book.taken(repo.uri), 1)
  const lost = await one.book.intend(repo.uri, { branch: 'main', generation: 1, base: repo.tip, tip: repo.tip, pulls: [] })
  assert.deepEqual({ ok: lost.ok, lost: !lost.ok && lost.lost }, { ok: false, lost: true }, 'what it writes swaps with what it had')
  assert.equal(one.book.held(repo.uri, 0), undefined)
})

test('WHO-8 of two processes that take it at once one has it', async () => {
  const repo = await world.orchard('race')
  const hands = [world.hand(), world.hand(), world.hand()]
  const ground = await hands[0]?.ground(repo)
  assert.ok(ground)
  const claims = await Promise.all(hands.map(hand => hand.book.claim(ground)))
  assert.equal(claims.filter(claim => claim.ok).length, 1)
})

test('WHO-8 it is renewed once half of it is gone, by itself while a pass takes long, and by no more writes than that needs', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('renewed')
  let ahead = 0
  let tick = () => undefined
  const every = (_: number, work: () => void) => {
    tick = () => void work()
    return () => undefined
  }
  const hand = world.hand(rigby, { ahead: () => ahead, every })
  const ground = await hand.ground(repo)
  const first = await hand.book.claim(ground)
  ahead = hand.book.leaseMs / 2 - 5_000
  assert.deepEqual(await hand.book.claim(ground), first, 'more than half is left')
  ahead = hand.book.leaseMs / 2 + 1_000
  tick()
  const renewed = await hand.book.alone(repo.uri, async () => hand.book.held(repo.uri, hand.book.leaseMs / 2))
  assert.ok(renewed !== undefined)
  assert.equal(hand.book.taken(repo.uri), 1)
  const lease = (await landerOf(rigby, repo))?.lease
  assert.deepEqual(lease, renewed.value.lease)
})

test('WHO-7 WHO-8 one that stops says so and gives the lease back; what it was about to land stays on the record', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('released')
  const hand = world.hand()
  const ground = await hand.ground(repo)
  await hand.book.claim(ground)
  const intent = { branch: 'main', generation: 1, base: repo.tip, tip: repo.tip, pulls: [] }
  assert.deepEqual(await hand.book.intend(repo.uri, intent), { ok: true })
  await hand.book.release(repo.uri)
  const record = await landerOf(rigby, repo)
  assert.equal(typeof record?.stoppedAt, 'string')
  assert.equal(record?.lease, undefined)
  assert.deepEqual(record?.intent, intent)

  const next = world.hand()
  const claimed = await next.book.claim(ground)
  assert.ok(claimed.ok && claimed.record.value.stoppedAt === undefined)
  assert.deepEqual(claimed.record.value.intent, intent)
  assert.equal(claimed.record.value.createdAt, record?.createdAt)
})

test('WHO-8 a lost answer to a claim is no lost lease, and a server that refuses to renew leaves the lease that stands', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('answers')
  let ahead = 0
  const hand = world.hand(rigby, { ahead: () => ahead })
  const ground = await hand.ground(repo)
  const put = 'com.atproto.repo.putRecord'
  world.network.faults.add({ fault: 'lose', method: put, account: rigby.did, times: 1 })
  assert.ok((await hand.book.claim(ground)).ok)
  const fault = world.network.faults.add({ fault: 'refuse', method: put, account: rigby.did })
  ahead = hand.book.leaseMs / 2 + 1_000
  assert.ok((await hand.book.claim(ground)).ok)
  ahead = hand.book.leaseMs + 1_000
  assert.equal((await hand.book.claim(ground)).ok, false)
  fault.clear()
  assert.ok((await hand.book.claim(ground)).ok)
})
