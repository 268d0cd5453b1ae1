/** What happens to a write for an owner when others write, answers get lost, and servers race. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { checkRefsRecord, readBlobRef } from '../../src/git/refs-record.ts'
import { commit as makeCommit, makePack } from '../git/support.ts'
import { until } from '../support/until.ts'
import {
  type Answer,
  auditOf,
  baseFiles,
  fileAt,
  type GatewayWorld,
  type OpenedPull,
  type Planted,
  post,
  startGatewayWorld,
  tokenOf,
} from './gateway-world.ts'
import { type Served, serve } from './serve.ts'

let world: GatewayWorld
/** Another server over the same network, to which the owner delegated as well. */
let second: Served
before(async () => {
  world = await startGatewayWorld()
  second = await serve(world.network, { env: { KNOTLESS_RELAY: world.network.relayUrl } })
  await giveDelegation(second.url, world.people.alice)
})
after(async () => {
  await second?.end()
  await world?.end()
})
afterEach(() => world.network.faults.clear())

const method = 'dev.knotless.mergePull'
const now = () => new Date().toISOString()

async function merge(account: GatewayWorld['people']['bob'], pull: OpenedPull, server = world.server): Promise<Answer> {
  return await post(server, method, { pull: pull.uri }, await tokenOf(server, account, { lxm: method }))
}

/** A repository and a pull onto it that both servers know. */
async function plantForBoth(name: string): Promise<{ repo: Planted; pull: OpenedPull }> {
  const repo = await world.plant(name)
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  await until(() => second.context.repositories.viewOf(repo.uri)?.view.pulls.size === 1, { what: 'the second server to know the pull' })
  return { repo, pull }
}

async function bothFiles(repo: Planted, server: Served): Promise<void> {
  const tip = (await repo.refs()).get('main') ?? ''
  assert.equal(await fileAt(server, repo.uri, tip, 'a.txt'), 'a')
  assert.equal(await fileAt(server, repo.uri, tip, 'b.txt'), 'b')
}

test('GWY-5 two merges at the same instant in one server both land, one on the other', async () => {
  const repo = await world.plant('race')
  const a = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const b = await repo.openPull({ branch: 'b', files: { 'b.txt': 'b\n' } })
  const answers = await Promise.all([merge(world.people.bob, a), merge(world.people.alice, b)])
  assert.deepEqual(
    answers.map(answer => answer.status),
    [200, 200],
  )
  await bothFiles(repo, world.server)
  assert.deepEqual([...(await repo.refs()).keys()], ['main'])
})

test('GWY-15 the same merge asked for many times at once lands once and answers the same', async () => {
  const repo = await world.plant('clicks')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const answers = await Promise.all(Array.from({ length: 4 }, () => merge(world.people.bob, pull)))
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  assert.equal(answers[0]?.status, 200)
  assert.equal((await repo.states(pull.uri)).length, 1)
})

test('GWY-5 LND-14 two servers at the same instant: both pulls land, one on the other, each once', async () => {
  const repo = await world.plant('servers')
  const a = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const b = await repo.openPull({ branch: 'b', files: { 'b.txt': 'b\n' } })
  await until(() => second.context.repositories.viewOf(repo.uri)?.view.pulls.size === 2, { what: 'the second server to know the pulls' })
  const answers = await Promise.all([merge(world.people.bob, a), merge(world.people.alice, b, second)])
  assert.deepEqual(
    answers.map(answer => answer.status),
    [200, 200],
    JSON.stringify(answers),
  )
  const tip = (await repo.refs()).get('main') ?? ''
  const known = await Promise.all([world.server, second].map(server => fileAt(server, repo.uri, tip, 'b.txt').catch(() => undefined)))
  assert.ok(known.includes('b'))
  for (const pull of [a, b]) assert.equal((await repo.states(pull.uri)).length, 1)
})

test('GWY-15 the same pull merged by one person through two servers at the same instant lands once, and both say how', async () => {
  for (const name of ['twice', 'twice-more', 'twice-again']) {
    const { repo, pull } = await plantForBoth(name)
    const answers = await Promise.all([merge(world.people.bob, pull), merge(world.people.bob, pull, second)])
    assert.equal(answers[0]?.status, 200, JSON.stringify(answers))
    assert.deepEqual(answers[1], answers[0])
    assert.equal((await repo.states(pull.uri)).length, 1)
    assert.equal((await repo.refs()).get('main'), answers[0]?.body.commit)
  }
})

test('GWY-15 a merge that lands while another of the same pull reads is answered as the one that landed it', async () => {
  const { pull } = await plantForBoth('torn')
  await second.context.indexer.settled()
  // The branch is read before it moves, and what the owner wrote after.
  const method = 'com.atproto.repo.listRecords'
  const held = world.network.faults.add({ fault: 'stall', method, account: world.people.alice.did, times: 2 })
  const later = merge(world.people.bob, pull, second)
  await until(() => held.hits() === 2, { what: 'the second server to read' })
  const first = await merge(world.people.bob, pull)
  held.clear()
  assert.equal(first.status, 200, JSON.stringify(first))
  assert.deepEqual(await later, first)
})

test('GWY-15 a merge that reads the branch after another of the same pull landed, and the states before, is answered as that one', async () => {
  const { pull } = await plantForBoth('torn-too')
  await second.context.indexer.settled()
  const account = world.people.alice.did
  const lists = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.listRecords', account, ms: 0 })
  const held = world.network.faults.add({ fault: 'stall', method: 'com.atproto.sync.getLatestCommit', account, times: 1 })
  const later = merge(world.people.bob, pull, second)
  await until(() => held.hits() === 1 && lists.hits() >= 2, { what: 'the second server to read' })
  const first = await merge(world.people.bob, pull)
  held.clear()
  assert.equal(first.status, 200, JSON.stringify(first))
  assert.deepEqual(await later, first)
})

test('GWY-15 a merge whose pack is long on its way while another of the same pull lands is answered as that one', async () => {
  const { repo, pull } = await plantForBoth('overtaken')
  const held = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.uploadBlob', times: 1 })
  const later = merge(world.people.bob, pull, second)
  await until(() => held.hits() === 1, { what: 'the second server to send its pack' })
  const since = performance.now()
  const first = await merge(world.people.bob, pull)
  assert.equal(first.status, 200, JSON.stringify(first))
  await until(() => performance.now() - since > 1_000, { what: 'its judgement to be old' })
  held.clear()
  assert.deepEqual(await later, first)
  assert.equal((await repo.states(pull.uri)).length, 1)
})

for (const [how, step, ms] of [
  ['whose write loses to it', 'com.atproto.repo.applyWrites', 0],
  ['judged again before it is sent', 'com.atproto.repo.uploadBlob', 1_000],
] as const) {
  test(`GWY-15 a merge that judged one head, ${how}, is not answered as the landing of another`, async () => {
    const { repo, pull } = await plantForBoth(`other-head-${ms}`)
    const held = world.network.faults.add({ fault: 'stall', method: step, times: 1 })
    const later = merge(world.people.bob, pull, second)
    await until(() => held.hits() === 1, { what: 'the second server to be on its way' })
    const since = performance.now()
    const files = { ...baseFiles, 'a.txt': 'more\n' }
    await repo.push('a', makeCommit(repo.gitDir, 'more', files, { parents: [pull.head] }))
    const first = await merge(world.people.bob, pull)
    assert.equal(first.status, 200, JSON.stringify(first))
    await until(() => performance.now() - since > ms, { what: 'its judgement to be old' })
    held.clear()
    const { status, body } = await later
    assert.deepEqual([status, body.error], [400, 'PullNotOpen'])
  })
}

test('STO-7 a write whose answer is lost is found by reading: it lands once, and the log says written', async () => {
  const repo = await world.plant('lost')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const fault = world.network.faults.add({ fault: 'lose', method: 'com.atproto.repo.applyWrites', times: 1 })
  const answer = await merge(world.people.bob, pull)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal(fault.hits(), 1)
  const [state, ...more] = await repo.states(pull.uri)
  assert.deepEqual([state?.uri, more.length], [answer.body.uri, 0])
  assert.equal((await repo.refs()).get('main'), answer.body.commit)
  const lines = auditOf(world.server, world.people.alice).filter(line => line.repo === repo.uri)
  assert.deepEqual(
    lines.map(line => line.outcome),
    ['written', 'written'],
  )
})

test('STO-7 LND-11 a write that was made and cannot even be read back is found at the next reading', async () => {
  const { alice, bob } = world.people
  const repo = await world.plant('blind')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const held = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.applyWrites', times: 1 })
  world.network.faults.add({ fault: 'lose', method: 'com.atproto.repo.applyWrites', times: 1 })
  const answering = merge(bob, pull)
  await until(() => held.hits() > 0, { what: 'the write to be sent' })
  const blind = world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', account: alice.did, times: 1 })
  held.clear()
  const answer = await answering
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal(blind.hits(), 1)
  const [state, ...more] = await repo.states(pull.uri)
  assert.deepEqual([state?.uri, more.length], [answer.body.uri, 0])
  assert.equal((await repo.refs()).get('main'), answer.body.commit)
  const lines = auditOf(world.server, alice).filter(line => line.repo === repo.uri)
  assert.deepEqual([...new Set(lines.map(line => line.outcome))], ['written'])
})

test('STO-6 an unrelated write of the owner’s in between loses the swap, and the merge is written all the same', async () => {
  const { alice, bob } = world.people
  const repo = await world.plant('unrelated')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const fault = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.applyWrites', account: alice.did })
  const answering = merge(bob, pull)
  await until(() => fault.hits() === 1, { what: 'the write to be sent' })
  await alice.create('dev.knotless.marker', { at: now() })
  fault.clear()
  const answer = await answering
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal((await repo.refs()).get('main'), answer.body.commit)
  assert.equal((await repo.states(pull.uri)).length, 1)
})

test('GWY-5 a branch that moves in between is merged onto again, and nothing of either is lost', async () => {
  const { alice, bob } = world.people
  const repo = await world.plant('moving')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const fault = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.applyWrites', account: alice.did })
  const answering = merge(bob, pull)
  await until(() => fault.hits() === 1, { what: 'the write to be sent' })
  const moved = makeCommit(repo.gitDir, 'main', { ...baseFiles, 'b.txt': 'b\n' })
  await repo.push('main', moved)
  fault.clear()
  const answer = await answering
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await bothFiles(repo, world.server)
  const [state, ...more] = await repo.states(pull.uri)
  assert.deepEqual([state?.value.commit, more.length], [answer.body.commit, 0])
})

test('GWY-5 GWY-13 a pull that is closed, a collaborator that is removed in between: everything is judged again, and nothing lands', async () => {
  const { alice, bob } = world.people
  for (const [name, code] of [
    ['shut', 'PullNotOpen'],
    ['removed', 'NotAllowed'],
  ] as const) {
    const repo = await world.plant(name)
    const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
    const fault = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.applyWrites', account: alice.did })
    const answering = merge(bob, pull)
    await until(() => fault.hits() === 1, { what: 'the write to be sent' })
    if (name === 'shut') await alice.create('dev.knotless.state', { repo: repo.uri, subject: pull.uri, state: 'closed', createdAt: now() })
    else await repo.edit({ collaborators: [] })
    fault.clear()
    assert.equal((await answering).body.error, code)
    assert.equal((await repo.refs()).get('main'), repo.tip)
    const lines = auditOf(world.server, alice).filter(line => line.repo === repo.uri)
    assert.deepEqual([...new Set(lines.map(line => line.outcome))], ['refused'], 'what was begun is settled')
  }
})

test('LND-14 where the account is has to be known: without that nothing is written over anybody', async () => {
  const repo = await world.plant('headless')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const nothing = { fault: 'refuse', method: 'com.atproto.sync.getLatestCommit', status: 400, error: 'RepoNotFound' } as const
  world.network.faults.add(nothing)
  const answer = await merge(world.people.bob, pull)
  assert.equal(answer.body.error, 'UpstreamFailed', JSON.stringify(answer.body))
  assert.equal((await repo.refs()).get('main'), repo.tip)
  assert.deepEqual(await repo.states(pull.uri), [])
})

test('GWY-7 a grant that the owner’s server takes no longer is noticed at the write, and the delegation is said to be lost', async () => {
  const { alice, bob } = world.people
  const repo = await world.plant('revoked')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.applyWrites', status: 403, error: 'ScopeMissing', times: 1 })
  const answer = await merge(bob, pull)
  assert.equal(answer.body.error, 'NotDelegated', JSON.stringify(answer.body))
  assert.match(String(answer.body.message), /revoked/)
  assert.equal(world.server.context.delegations.of(alice.did).state, 'lost')
  await giveDelegation(world.server.url, alice)
  assert.equal((await merge(bob, pull)).status, 200)
})

test('an account server that takes no more just now is said to, and nothing is written', async () => {
  const { bob } = world.people
  const repo = await world.plant('parts')
  const a = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.uploadBlob', status: 429, error: 'RateLimitExceeded', times: 1 })
  const limited = await merge(bob, a)
  assert.equal(limited.body.error, 'RateLimited', JSON.stringify(limited.body))
  assert.equal((await repo.refs()).get('main'), repo.tip)
  assert.equal((await merge(bob, a)).status, 200)
})

test('GWY-13 a collaborator whose server does not answer is taken from the index, and the log says so; a fork that cannot be read refuses', async () => {
  const { bob, carol } = world.people
  const repo = await world.plant('unreadable')
  const own = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const fork = await repo.openPull({ branch: 'b', files: { 'b.txt': 'b\n' }, fork: true })
  const silent = world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.listRecords', account: bob.did })
  assert.equal((await merge(bob, own)).status, 200)
  silent.clear()
  const [line] = auditOf(world.server, world.people.alice).filter(one => one.repo === repo.uri)
  assert.match(line?.note ?? '', new RegExp(`taken from the index: the records of ${bob.did}`))
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', account: carol.did })
  const answer = await merge(bob, fork)
  assert.equal(answer.body.error, 'UpstreamFailed', JSON.stringify(answer.body))
  assert.match(String(answer.body.message), /Nothing was written/)
})

/** Moves main on by commits of a pack each, as so many pushes would have. */
async function manyPacks(repo: Planted, count: number): Promise<void> {
  const { alice } = world.people
  const value = (await alice.get('dev.knotless.refs', repo.name))?.value
  const checked = checkRefsRecord(value)
  assert.ok(checked.ok)
  const { refs, packs } = checked.record
  let tip = repo.tip
  for (let n = 0; n < count; n++) {
    const next = makeCommit(repo.gitDir, 'main', { ...baseFiles, 'count.txt': `${n}\n` })
    const pack = makePack(repo.gitDir, [next], [tip])
    const part = readBlobRef(await alice.upload(pack, 'application/octet-stream'))
    assert.ok(part)
    packs.push({ id: pack.subarray(-20).toString('hex'), parts: [part], objects: pack.readUInt32BE(8), bytes: pack.length })
    tip = next
  }
  const moved = refs.map(row => (row.name === 'refs/heads/main' ? { ...row, commit: tip } : row))
  await alice.put('dev.knotless.refs', repo.name, { ...checked.record, refs: moved, packs, updatedAt: now() })
}

test('STO-3 many packs are joined beside the merges, and a later merge goes on from there', async () => {
  const { alice, bob } = world.people
  const repo = await world.plant('packs')
  await manyPacks(repo, 33)
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n', 'count.txt': '32\n' } })
  assert.equal((await merge(bob, pull)).status, 200)
  const packs = async () => {
    const value = (await alice.get('dev.knotless.refs', repo.name))?.value
    return Array.isArray(value?.packs) ? value.packs.length : 0
  }
  await until(async () => (await packs()) <= 16, { what: 'the packs to be joined' })
  const next = await repo.openPull({ branch: 'b', files: { 'b.txt': 'b\n' } })
  assert.equal((await merge(bob, next)).status, 200)
  await bothFiles(repo, world.server)
})
