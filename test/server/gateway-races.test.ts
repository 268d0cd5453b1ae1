/** Attacks and races on the gateway: names that no reader takes, headers nobody reads, rights that go while a pack is on its way, the dead. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import type { Did } from '../../src/atproto/ids.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { readCommits } from '../../src/git/commit-objects.ts'
import { squashCommit } from '../../src/git/squash.ts'
import type { Gateway, RefMove } from '../../src/server/gateway/types.ts'
import { git, commit as makeCommit } from '../git/support.ts'
import { until } from '../support/until.ts'
import { type Answer, auditOf, baseFiles, type GatewayWorld, type OpenedPull, type Planted, startGatewayWorld } from './gateway-world.ts'

let world: GatewayWorld
before(async () => {
  world = await startGatewayWorld()
})
after(() => world?.end())
afterEach(() => world.network.faults.clear())

const branch = (name: string) => `refs/heads/${name}`
const upload = 'com.atproto.repo.uploadBlob'

async function push(repo: Planted, caller: DevAccount, moves: RefMove[], atomic = false): ReturnType<Gateway['push']> {
  const mirror = await world.server.context.mirrors.of(repo.uri)
  const env = { GIT_OBJECT_DIRECTORY: join(repo.gitDir, 'objects'), GIT_ALTERNATE_OBJECT_DIRECTORIES: mirror.objects }
  return await world.gateway.push({ repo: repo.uri, caller: caller.did, door: 'push', moves, atomic, env })
}

async function codes(pushing: ReturnType<Gateway['push']>): Promise<string[]> {
  const done = await pushing
  return done.ok ? done.refs.map(ref => (ref.ok ? 'ok' : ref.refusal.code)) : [done.refusal.code]
}

function merge(by: DevAccount, pull: OpenedPull): Promise<Answer> {
  return world.call(by, 'dev.knotless.mergePull', { pull: pull.uri })
}

function linesOf(repo: Planted) {
  return auditOf(world.server, world.people.alice).filter(line => line.repo === repo.uri)
}

/** A queued pull of a branch that rigby lands, and what its squash is made of. */
async function queued(name: string): Promise<{ repo: Planted; squash: string }> {
  const { bob, rigby } = world.people
  const record = { runners: [{ did: rigby.did }], protections: [{ branch: 'main', queue: true }] }
  const repo = await world.plant(name, { record })
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const createdAt = new Date().toISOString()
  await bob.create('dev.knotless.queue', { repo: repo.uri, subject: pull.uri, state: 'queued', head: pull.head, branch: 'main', createdAt })
  return { repo, squash: await squashOf(repo, pull, rigby.did) }
}

async function squashOf(repo: Planted, pull: OpenedPull, committer: Did): Promise<string> {
  const tree = git(repo.gitDir, ['merge-tree', '--write-tree', repo.tip, pull.head])
  const [head] = await readCommits({ dir: repo.gitDir }, [pull.head])
  assert.ok(head)
  const text = { title: 'A change', branch: pull.branch, pull: pull.uri, tree, parent: repo.tip, head, committer }
  return squashCommit({ ...text, time: Math.floor(Date.now() / 1000) }).toString()
}

test('STO-1 STO-11 a name of more bytes than readers take is refused, and the repository goes on', async () => {
  const { bob } = world.people
  const repo = await world.plant('bytes')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  assert.deepEqual(await codes(push(repo, bob, [{ name: branch('日'.repeat(82)), old: null, new: repo.tip }])), ['not-allowed'])
  assert.deepEqual(await codes(push(repo, bob, [{ name: branch('日'.repeat(81)), old: null, new: repo.tip }])), ['ok'])
  assert.equal((await merge(bob, pull)).status, 200)
})

test('STO-11 the deletion of what can be no ref is refused, and not taken for done', async () => {
  const { bob } = world.people
  const repo = await world.plant('no-refs')
  for (const name of ['refs/heads/../../x', 'refs/pull/1/head', 'refs/knotless/x', 'HEAD']) {
    assert.deepEqual(await codes(push(repo, bob, [{ name, old: repo.tip, new: null }])), ['not-allowed'], name)
  }
  assert.equal(linesOf(repo).length, 4)
})

const smuggled: [string, (squash: string) => string][] = [
  ['an author without end', text => text.replace(/^author .*$/m, `author ${'x'.repeat(200_000)} <x@example.com> 1 +0000`)],
  ['an author that a terminal acts on', text => text.replace(/^author .*$/m, 'author \u001b[2J <x@example.com> 1 +0000')],
  ['a committer that a terminal acts on', text => text.replace(/^committer .*$/m, 'committer \u001b[2J <x@example.com> 1 +0000')],
  ['lines hidden behind its committer', text => text.replace(/^(committer .*)$/m, `$1\n ${'hidden '.repeat(1000)}`)],
]

for (const [at, [what, change]] of smuggled.entries()) {
  test(`GWY-4 a squash with the right tree and message but with ${what} does not land`, async () => {
    const { rigby } = world.people
    const { repo, squash } = await queued(`smuggled-${at}`)
    const write = (text: string) => git(repo.gitDir, ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], Buffer.from(text))
    const land = (id: string) => codes(push(repo, rigby, [{ name: branch('main'), old: repo.tip, new: id }]))
    assert.deepEqual(await land(write(change(squash))), ['not-a-batch'])
    assert.equal((await repo.refs()).get('main'), repo.tip)
    assert.deepEqual(await land(write(squash)), ['ok'])
  })
}

test('GWY-13 HON-1 whoever may not push any more once a slow pack is up moves nothing, and the log says so', async () => {
  const { bob } = world.people
  const repo = await world.plant('removed')
  const next = makeCommit(repo.gitDir, 'next', { ...baseFiles, 'a.txt': 'a\n' }, { parents: [repo.tip] })
  const slow = world.network.faults.add({ fault: 'stall', method: upload, times: 1, ms: 1_500 })
  const pushing = codes(push(repo, bob, [{ name: branch('main'), old: repo.tip, new: next }]))
  await until(() => slow.hits() > 0, { what: 'the pack to go up' })
  await repo.edit({ collaborators: [] })
  assert.deepEqual(await pushing, ['not-allowed'])
  assert.equal((await repo.refs()).get('main'), repo.tip)
  assert.deepEqual(
    linesOf(repo).map(line => [line.outcome, line.code]),
    [['refused', 'not-allowed']],
  )
})

test('GWY-12 a repository that goes to another gateway while a slow pack is up is left alone', async () => {
  const { bob } = world.people
  const repo = await world.plant('elsewhere')
  const next = makeCommit(repo.gitDir, 'next', { ...baseFiles, 'a.txt': 'a\n' }, { parents: [repo.tip] })
  const slow = world.network.faults.add({ fault: 'stall', method: upload, times: 1, ms: 1_500 })
  const pushing = codes(push(repo, bob, [{ name: branch('main'), old: repo.tip, new: next }]))
  await until(() => slow.hits() > 0, { what: 'the pack to go up' })
  await repo.edit({ gateway: 'did:web:elsewhere.example' })
  assert.deepEqual(await pushing, ['wrong-gateway'])
  assert.equal((await repo.refs()).get('main'), repo.tip)
})

test('GWY-7 a delegation that is withdrawn while a pack is on its way, or while a push waits its turn, writes nothing more', async () => {
  const { bob, alice } = world.people
  const repo = await world.plant('withdrawn')
  const next = makeCommit(repo.gitDir, 'next', { ...baseFiles, 'a.txt': 'a\n' }, { parents: [repo.tip] })
  const other = makeCommit(repo.gitDir, 'other', { ...baseFiles, 'b.txt': 'b\n' }, { parents: [repo.tip] })
  const slow = world.network.faults.add({ fault: 'stall', method: upload, times: 1 })
  const first = codes(push(repo, bob, [{ name: branch('main'), old: repo.tip, new: next }]))
  const second = codes(push(repo, bob, [{ name: branch('other'), old: null, new: other }]))
  await until(() => slow.hits() > 0, { what: 'the pack to go up' })
  await world.server.context.delegations.withdraw(alice.did)
  slow.clear()
  assert.deepEqual([await first, await second], [['not-delegated'], ['not-delegated']])
  assert.deepEqual([...(await repo.refs()).keys()], ['main'])
  assert.equal((await repo.refs()).get('main'), repo.tip)
  assert.deepEqual(
    linesOf(repo).map(line => line.code),
    ['not-delegated', 'not-delegated'],
  )
  await giveDelegation(world.server.url, alice)
})

test('NOT-1 GWY-13 a hundred people whose servers say nothing hold up a merge for seconds, and strangers who ask hold up nobody', async t => {
  const { bob, mallory } = world.people
  const holes = await Promise.all(Array.from({ length: 99 }, () => hole()))
  t.after(() => holes.map(one => one.server.close()))
  const dead = holes.map(({ port }) => ({ did: `did:web:localhost%3A${port}` }))
  const repo = await world.plant('dead', { record: { collaborators: [...dead, { did: bob.did }] } })
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const began = performance.now()
  const strangers = Array.from({ length: 5 }, () => merge(mallory, pull))
  for (const answer of await Promise.all(strangers)) assert.equal(answer.body.error, 'NotAllowed')
  const turned = performance.now() - began
  const answer = await merge(bob, pull)
  const merged = performance.now() - began - turned
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  // Who waited for everybody would wait 5 s.
  assert.ok(turned < 4_500, `strangers were turned away within ${turned} ms`)
  assert.ok(merged < 20_000, `merged within ${merged} ms`)
  const [written] = linesOf(repo).filter(line => line.outcome === 'written')
  assert.match(written?.note ?? '', /^taken from the index: the records of /)
})

test('STO-1 GWY-5 what the owner pushes past the server while a push is on its way is not undone by it', async () => {
  const { bob } = world.people
  const repo = await world.plant('between')
  const [next, theirs] = ['a', 'b'].map(name => makeCommit(repo.gitDir, name, { ...baseFiles, [name]: 'x' }, { parents: [repo.tip] }))
  assert.ok(next !== undefined && theirs !== undefined)
  const move = { name: branch('main'), old: repo.tip, new: next }
  const held = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.putRecord', times: 1 })
  const beside = codes(push(repo, bob, [move]))
  await until(() => held.hits() > 0, { what: 'the record to be sent' })
  await repo.push('theirs', theirs)
  held.clear()
  assert.deepEqual(await beside, ['ok'])
  const refs = await repo.refs()
  assert.deepEqual([refs.get('main'), refs.get('theirs')], [next, theirs])
})

test('STO-7 an answer that does not say what was written proves nothing: the merge is there, or it was not made', async () => {
  const { bob } = world.people
  const repo = await world.plant('hollow')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const hollow = world.network.faults.add({ fault: 'garble', method: 'com.atproto.repo.applyWrites', body: '{}', times: 1 })
  const answer = await merge(bob, pull)
  assert.equal(hollow.hits(), 1)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal((await repo.refs()).get('main'), answer.body.commit)
  assert.deepEqual(
    (await repo.states(pull.uri)).map(state => state.uri),
    [answer.body.uri],
  )
})

test('GWY-6 what is refused since a source did not answer is in the log, for those whom the repository names', async () => {
  const { alice, bob, mallory } = world.people
  const repo = await world.plant('unread')
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', account: alice.did })
  const commit = { repo: repo.uri, branch: 'main', base: repo.tip, message: 'A', changes: [{ path: 'b.txt', content: 'b' }] }
  for (const by of [bob, mallory]) {
    assert.equal((await merge(by, pull)).body.error, 'UpstreamFailed')
    assert.equal((await world.call(by, 'dev.knotless.createCommit', commit)).body.error, 'UpstreamFailed')
    assert.deepEqual(await codes(push(repo, by, [{ name: branch('main'), old: repo.tip, new: null }])), ['upstream-failed'])
  }
  assert.deepEqual(
    linesOf(repo).map(line => [line.caller, line.door, line.outcome, line.code]),
    ['merge', 'commit', 'push'].map(door => [bob.did, door, 'refused', 'upstream-failed']),
  )
})

/** A server that takes connections and never says anything. */
async function hole(): Promise<{ server: Server; port: number }> {
  const server = createServer(socket => socket.unref())
  server.unref()
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const at = server.address()
  assert.ok(typeof at === 'object' && at !== null)
  return { server, port: at.port }
}
