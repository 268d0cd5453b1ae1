import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { git } from '../../git/support.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
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

test('LND-11 GWY-15 a push whose answer got lost has landed where the branch is at the tip', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('unanswered')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  const proxy = await startCuttingProxy(world.server.url)
  Object.defineProperty(hand.ctx.appview, 'url', { value: proxy.url })
  const { batch, done } = await hand.land(repo, [a])
  await proxy.close()
  assert.ok(done.ok, JSON.stringify(done))
  assert.equal((await repo.refs()).get('main'), batch.tip)
  assert.equal((await statesOf(rigby, a.uri)).length, 1)
})

test('LND-3 LND-8 a branch that moved meanwhile is not pushed to, and no intent is left', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('moved')
  const a = await world.queued(repo, 'a')
  const hand = world.hand()
  const batch = await hand.batch(repo, [a])
  const ground = await hand.ground(repo)
  await hand.book.claim(ground)
  await repo.push('main', a.head)
  assert.deepEqual(await hand.landing.land(ground, batch), { ok: false, why: 'branch-moved' })
  assert.equal((await repo.refs()).get('main'), a.head)
  assert.equal((await landerOf(rigby, repo))?.intent, undefined)
})

test('GWY-5 of two landers that land at once one wins, and the other is told that the branch moved; nothing lands twice', async () => {
  const { rigby, bob } = world.people
  const repo = await world.orchard('two')
  const a = await world.queued(repo, 'a')
  const hands = [world.hand(rigby), world.hand(bob)]
  const ready = await Promise.all(hands.map(async hand => ({ hand, batch: await hand.batch(repo, [a]), ground: await hand.ground(repo) })))
  for (const { hand, ground } of ready) assert.ok((await hand.book.claim(ground)).ok)
  const done = await Promise.all(ready.map(({ hand, batch, ground }) => hand.landing.land(ground, batch)))
  const tip = (await repo.refs()).get('main') ?? ''
  const winners = ready.filter(({ batch }) => batch.tip === tip)
  assert.equal(winners.length, 1)
  for (const [at, one] of ready.entries()) {
    const outcome = done[at]
    if (winners.includes(one)) assert.ok(outcome?.ok, JSON.stringify(outcome))
    else assert.ok(outcome?.ok === false && ['branch-moved', 'not-lander', 'out'].includes(outcome.why), JSON.stringify(outcome))
  }
  const states = [...(await statesOf(rigby, a.uri)), ...(await statesOf(bob, a.uri))]
  assert.deepEqual(
    states.map(state => state.commit),
    [tip],
  )
})

test('LND-2 LND-10 a head that moved after it was built does not land unseen; one that moved while it landed is not lost', async () => {
  const { rigby, carol } = world.people
  const repo = await world.orchard('head')
  const a = await world.queued(repo, 'a', { fork: true, author: carol })
  const hand = world.hand()
  const batch = await hand.batch(repo, [a])
  const newer = git(repo.gitDir, ['commit-tree', '-p', a.head, '-m', 'More', `${a.head}^{tree}`])
  await hand.book.claim(await hand.ground(repo))
  await repo.pushAs(carol, 'a', newer)
  const moved = await hand.landing.land(await hand.ground(repo), batch)
  assert.deepEqual(moved, { ok: false, why: 'head-moved', keys: [batch.members[0]?.key] })
  assert.equal((await repo.refs()).get('main'), repo.tip)

  await repo.pushAs(carol, 'a', a.head)
  const done = await hand.landing.land(await hand.ground(repo), batch)
  assert.ok(done.ok, JSON.stringify(done))
  await repo.pushAs(carol, 'a', newer)
  const [state] = await statesOf(rigby, a.uri)
  assert.deepEqual([state?.commit, state?.head], [batch.tip, a.head], 'which commit landed, and of which head')
  assert.equal((await hand.ground(repo)).view.pulls.get(a.uri)?.state, 'merged')
})

test('LND-9 a stack whose tree is not the one that was checked is not pushed', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('tree')
  const [a, b] = [await world.queued(repo, 'a'), await world.queued(repo, 'b')]
  const hand = world.hand()
  const [batch, other] = [await hand.batch(repo, [a]), await hand.batch(repo, [b])]
  const ground = await hand.ground(repo)
  await hand.book.claim(ground)
  for (const wrong of [
    { ...batch, tree: other.tree },
    { ...batch, tip: other.tip },
    { ...batch, base: a.head },
    { ...batch, members: batch.members.map(one => ({ ...one, pull: b.uri })) },
  ]) {
    const done = await hand.landing.land(ground, wrong)
    assert.ok(!done.ok && (done.why === 'not-a-batch' || done.why === 'branch-moved'), JSON.stringify(done))
  }
  assert.equal((await repo.refs()).get('main'), repo.tip)
  assert.equal((await landerOf(rigby, repo))?.intent, undefined)
})

test('LND-4 a head branch goes only where it is spent: not one that is a target, has a rule, or that another pull brings', async () => {
  const { carol } = world.people
  const repo = await world.orchard('spent', { protections: [{ branch: 'ruled', queue: false }] })
  const landing = [await world.queued(repo, 'plain'), await world.queued(repo, 'ruled'), await world.queued(repo, 'target')]
  const shared = await world.queued(repo, 'shared')
  await repo.openPull({ branch: 'more', files: { 'more.txt': 'more\n' }, onto: 'target' })
  const other = {
    repo: repo.uri,
    branch: 'target',
    head: { repo: repo.uri, branch: 'shared' },
    title: 'Another way',
    createdAt: new Date().toISOString(),
  }
  await world.indexed((await carol.create('dev.knotless.pull', other)).uri)
  const { done } = await world.hand().land(repo, [...landing, shared])
  assert.ok(done.ok, JSON.stringify(done))
  assert.deepEqual([...(await repo.refs()).keys()].sort(), ['main', 'more', 'ruled', 'shared', 'target'])
})

test('WHO-4 LND-11 STO-7 answers of the owner’s account that get lost at every step land it once', async () => {
  const { alice } = world.people
  const repo = await world.orchard('straight-lost')
  const a = await world.queued(repo, 'a')
  const faults = ['putRecord', 'applyWrites'].map(method =>
    world.network.faults.add({ fault: 'lose', method: `com.atproto.repo.${method}`, account: alice.did }),
  )
  const { batch, done } = await world.hand(alice).land(repo, [a])
  for (const fault of faults) fault.clear()
  assert.ok(done.ok, JSON.stringify(done))
  assert.deepEqual(await repo.refs(), new Map([['main', batch.tip]]))
  assert.equal((await statesOf(alice, a.uri)).length, 1)
  assert.equal((await landerOf(alice, repo))?.intent, undefined)
})

test('WHO-4 LND-3 straight to the account: a branch that moves between reading and writing is not overwritten', async () => {
  const { alice } = world.people
  const repo = await world.orchard('straight-moved')
  const a = await world.queued(repo, 'a')
  const hand = world.hand(alice)
  const batch = await hand.batch(repo, [a])
  await hand.book.claim(await hand.ground(repo))
  const intend = hand.book.intend.bind(hand.book)
  hand.book.intend = async (...asked) => {
    const done = await intend(...asked)
    if (asked[1] !== undefined) await repo.push('main', a.head)
    return done
  }
  assert.deepEqual(await hand.landing.land(await hand.ground(repo), batch), { ok: false, why: 'branch-moved' })
  assert.equal((await repo.refs()).get('main'), a.head)
  assert.equal((await landerOf(alice, repo))?.intent, undefined)
})
