import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type LandingWorld, landerOf, startLandingWorld, statesOf } from './world.ts'

let world: LandingWorld
before(async () => {
  world = await startLandingWorld()
})
after(() => world?.end())

test('LND-1 LND-4 LND-5 WHO-4 a named runner’s batch lands through the gateway in one push, spent branches go, and one call says what landed', async () => {
  const { rigby, carol } = world.people
  const repo = await world.orchard('through')
  const [a, b] = [await world.queued(repo, 'a'), await world.queued(repo, 'b', { fork: true, author: carol })]
  const hand = world.hand()
  const { batch, done } = await hand.land(repo, [a, b])
  assert.ok(done.ok, JSON.stringify(done))
  assert.deepEqual(await repo.refs(), new Map([['main', batch.tip]]))
  assert.equal(done.moved.refs.refs.find(ref => ref.name === 'refs/heads/main')?.commit, batch.tip)
  for (const [at, pull] of [a, b].entries()) {
    const [state, ...more] = await statesOf(rigby, pull.uri)
    assert.deepEqual(more, [])
    const { createdAt, $type, repo: about, subject, ...fields } = state ?? {}
    assert.deepEqual(fields, { state: 'merged', commit: batch.members[at]?.commit, batch: batch.tip, head: pull.head, nothingRan: true })
    assert.equal(done.moved.view.pulls.get(pull.uri)?.state, 'merged')
  }
  const record = await landerOf(rigby, repo)
  assert.equal(record?.intent, undefined)
  assert.equal(record?.git, '2.39.5')
})

test('WHO-4 LND-4 the owner’s own runner pushes straight to the owner’s account, with no gateway', async () => {
  const { alice } = world.people
  const repo = await world.orchard('straight')
  const a = await world.queued(repo, 'a')
  const hand = world.hand(alice)
  hand.ctx.appview.pushToken = async () => assert.fail('no gateway is asked')
  const { batch, done } = await hand.land(repo, [a])
  assert.ok(done.ok, JSON.stringify(done))
  assert.deepEqual(await repo.refs(), new Map([['main', batch.tip]]))
  assert.equal((await statesOf(alice, a.uri)).length, 1)
  assert.equal((await landerOf(alice, repo))?.intent, undefined)
})

test('WHO-1 WHO-4 a collaborator’s runner lands through the gateway, named or not', async () => {
  const { bob } = world.people
  const repo = await world.orchard('collaborator')
  const a = await world.queued(repo, 'a')
  const { batch, done } = await world.hand(bob).land(repo, [a])
  assert.ok(done.ok, JSON.stringify(done))
  assert.equal((await repo.refs()).get('main'), batch.tip)
  assert.equal((await statesOf(bob, a.uri)).length, 1)
})
