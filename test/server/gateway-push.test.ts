/** Moves of refs through the gateway: of people who may push, and batches of a lander. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import type { Did } from '../../src/atproto/ids.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { readCommits } from '../../src/git/commit-objects.ts'
import { squashCommit } from '../../src/git/squash.ts'
import type { Gateway, RefMove } from '../../src/server/gateway/types.ts'
import { git, commit as makeCommit } from '../git/support.ts'
import { until } from '../support/until.ts'
import { auditOf, baseFiles, type GatewayWorld, type OpenedPull, type Planted, startGatewayWorld } from './gateway-world.ts'

let world: GatewayWorld
before(async () => {
  world = await startGatewayWorld()
})
after(() => world?.end())
afterEach(() => world.network.faults.clear())

const now = () => new Date().toISOString()

/** Asks as a door does: the new objects lie in the local git directory, before the mirror's. */
async function push(repo: Planted, caller: DevAccount, moves: RefMove[], atomic = false): ReturnType<Gateway['push']> {
  const mirror = await world.server.context.mirrors.of(repo.uri)
  const env = { GIT_OBJECT_DIRECTORY: join(repo.gitDir, 'objects'), GIT_ALTERNATE_OBJECT_DIRECTORIES: mirror.objects }
  return await world.gateway.push({ repo: repo.uri, caller: caller.did, door: 'push', moves, atomic, env })
}

async function codes(pushing: ReturnType<Gateway['push']>): Promise<string[]> {
  const done = await pushing
  return done.ok ? done.refs.map(ref => (ref.ok ? 'ok' : ref.refusal.code)) : [done.refusal.code]
}

const branch = (name: string) => `refs/heads/${name}`

test('GWY-5 a collaborator moves, makes and deletes branches; each ref of a push has its own answer, unless all or none was asked', async () => {
  const { bob, alice } = world.people
  const repo = await world.plant('pushes')
  const next = makeCommit(repo.gitDir, 'next', { ...baseFiles, 'a.txt': 'a\n' }, { parents: [repo.tip] })
  const aside = makeCommit(repo.gitDir, 'aside', { 'b.txt': 'b\n' }, { parents: [] })
  const good = { name: branch('topic'), old: null, new: next }
  const bad = { name: branch('main'), old: repo.tip, new: aside }
  assert.deepEqual(await codes(push(repo, bob, [good, bad], true)), ['not-allowed', 'force-refused'])
  assert.deepEqual([...(await repo.refs()).keys()], ['main'])
  assert.deepEqual(await codes(push(repo, bob, [good, bad])), ['ok', 'force-refused'])
  assert.equal((await repo.refs()).get('topic'), next)
  assert.deepEqual(await codes(push(repo, bob, [{ name: branch('main'), old: repo.tip, new: next }])), ['ok'])
  assert.deepEqual(
    await codes(push(repo, bob, [{ name: branch('topic'), old: next, new: aside }])),
    ['ok'],
    'forced where nothing forbids it',
  )
  assert.deepEqual(await codes(push(repo, bob, [{ name: branch('topic'), old: next, new: null }])), ['branch-moved'])
  assert.deepEqual(await codes(push(repo, bob, [{ name: branch('topic'), old: aside, new: null }])), ['ok'])
  assert.deepEqual(await codes(push(repo, bob, [{ name: branch('main'), old: next, new: null }])), ['force-refused'])
  const outcomes = auditOf(world.server, alice)
    .filter(line => line.repo === repo.uri)
    .map(({ ref, outcome, code }) => `${ref.replace('refs/heads/', '')} ${outcome}${code === undefined ? '' : ` ${code}`}`)
  assert.deepEqual(outcomes, [
    'topic refused not-allowed',
    'main refused force-refused',
    'main refused force-refused',
    'topic written',
    'main written',
    'topic written',
    'topic refused branch-moved',
    'topic written',
    'main refused force-refused',
  ])
})

test('GWY-15 GWY-5 two pushes that race: one wins, the other is told that the branch moved; the same push again is done already', async () => {
  const { bob, alice } = world.people
  const repo = await world.plant('pushed')
  const one = makeCommit(repo.gitDir, 'one', { ...baseFiles, 'a.txt': 'a\n' }, { parents: [repo.tip] })
  const two = makeCommit(repo.gitDir, 'two', { ...baseFiles, 'b.txt': 'b\n' }, { parents: [repo.tip] })
  const moves = [one, two].map(id => ({ name: branch('main'), old: repo.tip, new: id }))
  const answers = await Promise.all(moves.map((move, at) => codes(push(repo, at === 0 ? bob : alice, [move]))))
  assert.deepEqual(answers.flat().sort(), ['branch-moved', 'ok'])
  const tip = (await repo.refs()).get('main')
  const winner = moves.find(move => move.new === tip)
  assert.ok(winner)
  assert.deepEqual(await codes(push(repo, bob, [winner])), ['ok'])
  assert.deepEqual(await codes(push(repo, world.people.mallory, [winner])), ['not-allowed'])
})

/** The squash of a pull as its lander builds it. */
async function squash(
  repo: Planted,
  pull: OpenedPull,
  parent: string,
  by: Did,
  more: { tree?: string; title?: string } = {},
): Promise<string> {
  const tree = more.tree ?? git(repo.gitDir, ['merge-tree', '--write-tree', parent, pull.head])
  const [head] = await readCommits({ dir: repo.gitDir }, [pull.head])
  assert.ok(head)
  const text = { title: more.title ?? `Change ${pull.branch}`, branch: pull.branch, pull: pull.uri }
  const bytes = squashCommit({ ...text, tree, parent, head, committer: by, time: Math.floor(Date.now() / 1000) })
  return git(repo.gitDir, ['hash-object', '-t', 'commit', '-w', '--stdin'], bytes)
}

/** A queue-only repository that rigby lands, with two queued pulls. */
async function queued(name: string): Promise<{ repo: Planted; pulls: [OpenedPull, OpenedPull] }> {
  const { bob, rigby } = world.people
  const record = { runners: [{ did: rigby.did }], protections: [{ branch: 'main', queue: true }] }
  const repo = await world.plant(name, { record })
  const a = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const b = await repo.openPull({ branch: 'b', files: { 'b.txt': 'b\n' }, fork: true })
  for (const pull of [a, b]) {
    await bob.create('dev.knotless.queue', {
      repo: repo.uri,
      subject: pull.uri,
      state: 'queued',
      head: pull.head,
      branch: 'main',
      createdAt: now(),
    })
  }
  return { repo, pulls: [a, b] }
}

test('GWY-3 GWY-4 LND-4 a named runner lands a batch of queued pulls with its spent branch, and nothing else', async () => {
  const { bob, rigby, alice } = world.people
  const { repo, pulls } = await queued('batch')
  const [a, b] = pulls
  const first = await squash(repo, a, repo.tip, rigby.did)
  const tip = await squash(repo, b, first, rigby.did)
  const landing = { name: branch('main'), old: repo.tip, new: tip }
  const spent = { name: branch('a'), old: a.head, new: null }
  assert.deepEqual(await codes(push(repo, bob, [landing])), ['queue-only'])
  assert.deepEqual(await codes(push(repo, rigby, [{ ...landing, new: a.head }])), ['not-a-batch'])
  const wrong = await squash(repo, a, repo.tip, rigby.did, { tree: git(repo.gitDir, ['rev-parse', `${tip}^{tree}`]) })
  assert.deepEqual(await codes(push(repo, rigby, [{ ...landing, new: wrong }])), ['tree-differs'])
  assert.equal((await repo.refs()).get('main'), repo.tip)
  assert.deepEqual(await codes(push(repo, rigby, [landing, spent], true)), ['ok', 'ok'])
  assert.deepEqual(await repo.refs(), new Map([['main', tip]]))
  assert.deepEqual(await codes(push(repo, rigby, [landing, spent], true)), ['ok', 'ok'], 'asked again it is done')
  const lines = auditOf(world.server, alice).filter(line => line.repo === repo.uri && line.outcome === 'written')
  assert.deepEqual(
    lines.map(line => [line.ref, line.reason]),
    [
      [branch('main'), 'a batch of 2 queued pulls, each equal to what the gateway merged itself'],
      [branch('a'), 'the head branch of a pull that lands with it'],
    ],
  )
})

test('GWY-4 GWY-13 a pull that left, or whose head moved, a moment ago and unknown to the index, does not land', async () => {
  const { bob, carol, rigby } = world.people
  const { repo, pulls } = await queued('moment')
  const [a, b] = pulls
  await until(() => world.server.context.repositories.viewOf(repo.uri)?.view.branches.get('main')?.queue.length === 2, {
    what: 'the queue',
  })
  const landA = { name: branch('main'), old: repo.tip, new: await squash(repo, a, repo.tip, rigby.did) }
  const landB = { name: branch('main'), old: repo.tip, new: await squash(repo, b, repo.tip, rigby.did) }
  world.network.faults.hold()
  await bob.create('dev.knotless.queue', { repo: repo.uri, subject: a.uri, state: 'left', createdAt: now() })
  assert.deepEqual(await codes(push(repo, rigby, [landA])), ['not-queued'])
  const later = makeCommit(repo.gitDir, 'b', { ...baseFiles, 'b.txt': 'other\n' })
  await repo.pushAs(carol, 'b', later)
  const [code] = await codes(push(repo, rigby, [landB]))
  assert.ok(code === 'head-moved' || code === 'tree-differs', code)
  assert.equal((await repo.refs()).get('main'), repo.tip)
})

test('GWY-11 a landing without the lander’s own pass of what its files select is refused', async () => {
  const { bob, rigby } = world.people
  const workflow = 'on:\n  pull:\n    branches: [main]\njobs:\n  test:\n    steps:\n      - run: true\n'
  const record = { runners: [{ did: rigby.did }], protections: [{ branch: 'main', queue: true }] }
  const repo = await world.plant('unchecked', { record, files: { ...baseFiles, '.knotless/workflows/test.yml': workflow } })
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  await bob.create('dev.knotless.queue', { repo: repo.uri, subject: pull.uri, state: 'queued', createdAt: now() })
  const tip = await squash(repo, pull, repo.tip, rigby.did)
  const done = await push(repo, rigby, [{ name: branch('main'), old: repo.tip, new: tip }])
  assert.ok(done.ok)
  const [ref] = done.refs
  assert.ok(ref?.ok === false)
  assert.equal(ref.refusal.code, 'checks-failed')
  assert.equal((await repo.refs()).get('main'), repo.tip)
})
