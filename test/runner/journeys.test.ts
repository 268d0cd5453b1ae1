/** The whole runner over the real server and accounts: what "seen to work" asks for, one repository a story. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { commit, git } from '../git/support.ts'
import type { OpenedPull, Planted } from '../server/gateway-world.ts'
import { until } from '../support/until.ts'
import { ejected, merged, queue, type RunnerWorld, startRunnerWorld, workflow } from './runner-world.ts'

let world: RunnerWorld
before(async () => {
  world = await startRunnerWorld()
})
after(() => world?.end())

const dash = (name: string) => name.replaceAll('_', '-')
let made = 0

/** A repository of its own for a story, with one workflow of a name of its own. */
async function story(record: Record<string, unknown> = {}): Promise<{ repo: Planted; gate: string }> {
  const gate = `t${made++}`
  const repo = await world.orchard(dash(`story-${gate}`), {
    record,
    files: { '.knotless/workflows/test.yml': workflow(gate, `${world.dir}/gates`) },
  })
  return { repo, gate }
}

async function tipOf(repo: Planted): Promise<string> {
  return (await repo.refs()).get('main') ?? ''
}

/** The branch's commits since it was planted, oldest first, from the server's mirror. */
async function landedOn(repo: Planted): Promise<string[]> {
  const mirror = await world.server.context.mirrors.of(repo.uri)
  const tip = await tipOf(repo)
  await until(() => git(mirror.dir, ['cat-file', '--batch-check'], Buffer.from(tip)).includes('commit'), {
    what: 'the mirror to have the tip',
  })
  return git(mirror.dir, ['rev-list', '--reverse', `${repo.tip}..${tip}`])
    .split('\n')
    .filter(line => line !== '')
}

const open = (repo: Planted, branch: string, files: Parameters<Planted['openPull']>[0]['files']) => repo.openPull({ branch, files })

test('BLD-1 LND-5 REC-5 two queued pulls land together after one run, and their records say so', async () => {
  const { repo, gate } = await story()
  const pulls = [await open(repo, 'a', { 'a.txt': 'a\n' }), await open(repo, 'b', { 'b.txt': 'b\n' })]
  for (const pull of pulls) await queue(world, repo, pull)
  const running = await world.start({ repos: [repo] })
  const commits = []
  for (const pull of pulls) commits.push(await merged(world, pull))
  assert.deepEqual(await landedOn(repo), commits)
  assert.equal(await tipOf(repo), commits[1])
  assert.equal(world.gates.came(gate), 1)
  assert.deepEqual([...(await repo.refs()).keys()], ['main'], 'LND-4: spent head branches are gone')
  const checks = (await world.people.rigby.list('dev.knotless.check')).filter(
    check => check.value.repo === repo.uri && check.value.batch !== undefined,
  )
  assert.deepEqual(
    checks.map(check => [check.value.status, check.value.commit, check.value.baseCommit, check.value.isolated]),
    [['success', commits[1], repo.tip, false]],
  )
  const states = (await world.people.rigby.list('dev.knotless.state')).filter(state => state.value.repo === repo.uri)
  assert.deepEqual(new Set(states.map(state => state.value.batch)), new Set([commits[1]]))
  await running.stop()
})

test('FAI-3 FAI-4 FAI-7 of a pair that fails only together the first lands, and the second is ejected by halving, with the other named', async () => {
  const { repo, gate } = await story()
  const first = await open(repo, 'one', { [`breaks-${gate}-1`]: '' })
  const second = await open(repo, 'two', { [`breaks-${gate}-2`]: '' })
  for (const pull of [first, second]) await queue(world, repo, pull)
  const running = await world.start({ repos: [repo] })
  await merged(world, first)
  const record = await ejected(world, second)
  assert.match(String(record.reason), /Halving the batch found it$/)
  assert.match(String(record.reason), /Change one/)
  assert.equal(record.kind, 'checks')
  assert.ok(Array.isArray(record.checks) && record.checks.length === 1)
  assert.equal((await landedOn(repo)).length, 1)
  await running.stop()
})

test('FAI-2 a pull that fails alone is ejected at its head with its run, and the next lands', async () => {
  const { repo, gate } = await story()
  const bad = await open(repo, 'bad', { [`fails-${gate}`]: '' })
  await queue(world, repo, bad)
  const running = await world.start({ repos: [repo], flags: ['--depth', '1'] })
  const record = await ejected(world, bad)
  assert.equal(record.commit, bad.head)
  assert.match(String(record.reason), /test failed|failed\. It failed alone/)
  const good = await open(repo, 'good', { 'good.txt': '' })
  await queue(world, repo, good)
  await merged(world, good)
  await running.stop()
})

test('BLD-6 two pulls in conflict, queued together: the second is ejected at the build, naming the branch of the first', async () => {
  const { repo } = await story()
  const first = await open(repo, 'left', { 'same.txt': 'left\n' })
  const second = await open(repo, 'right', { 'same.txt': 'right\n' })
  for (const pull of [first, second]) await queue(world, repo, pull)
  const running = await world.start({ repos: [repo] })
  const record = await ejected(world, second)
  assert.equal(record.kind, 'conflict')
  assert.match(String(record.reason), /same\.txt/)
  assert.match(String(record.reason), /left/)
  await merged(world, first)
  await running.stop()
})

test('AHD-1 AHD-2 AHD-4 with depth 2 the next batch is checked on top of the first and lands right after it', async () => {
  const { repo, gate } = await story()
  world.gates.hold(gate)
  const running = await world.start({ repos: [repo], flags: ['--batch', '1'] })
  const first = await open(repo, 'first', { 'f.txt': '1\n' })
  await queue(world, repo, first)
  await until(() => world.gates.came(gate) === 1, { what: 'the first batch to be checked' })
  const clash = await open(repo, 'clash', { 'f.txt': '2\n' })
  await queue(world, repo, clash)
  const second = await open(repo, 'second', { 's.txt': '2\n' })
  await queue(world, repo, second)
  await until(() => world.gates.came(gate) === 2, { what: 'the batch ahead to be checked' })
  world.gates.release(gate)
  await merged(world, first)
  await merged(world, second)
  const record = await ejected(world, clash)
  assert.match(String(record.reason), /f\.txt/)
  assert.equal(world.gates.came(gate), 2, 'nothing was checked twice')
  await running.stop()
})

test('MOV-1 MOV-4 a push by hand during a check drops the batch; it is built again on the new tip, and nobody is ejected', async () => {
  const { repo, gate } = await story()
  world.gates.hold(gate)
  const running = await world.start({ repos: [repo] })
  const pull = await open(repo, 'mine', { 'm.txt': 'm\n' })
  await queue(world, repo, pull)
  await until(() => world.gates.came(gate) === 1, { what: 'the batch to be checked' })
  const hand = commit(
    repo.gitDir,
    'by-hand',
    { 'README.md': 'By hand.\n', '.knotless/workflows/test.yml': workflow(gate, `${world.dir}/gates`) },
    { parents: [repo.tip] },
  )
  await repo.push('main', hand)
  await until(() => world.gates.came(gate) >= 2, { what: 'the batch to be built again' })
  world.gates.release(gate)
  const landed = await merged(world, pull)
  assert.deepEqual(await landedOn(repo), [hand, landed])
  const checks = (await world.people.rigby.list('dev.knotless.check')).filter(
    check => check.value.repo === repo.uri && check.value.batch !== undefined,
  )
  const cancelled = checks.filter(check => check.value.status === 'cancelled')
  assert.ok(cancelled.length >= 1)
  for (const check of cancelled) assert.match(String(check.value.cause), /^cancelled as the merge queue dropped its batch/)
  const queueRecords = (await world.people.rigby.list('dev.knotless.queue')).filter(({ value }) => value.repo === repo.uri)
  assert.deepEqual(queueRecords, [])
  await running.stop()
})

test('MOV-2 a pull that leaves while it is checked does not land, and the others are checked again without it', async () => {
  const { repo, gate } = await story()
  world.gates.hold(gate)
  const pulls: OpenedPull[] = []
  for (const name of ['stays', 'goes']) pulls.push(await open(repo, name, { [`${name}.txt`]: '' }))
  const [stays, goes] = pulls
  assert.ok(stays && goes)
  await queue(world, repo, stays)
  const entry = await queue(world, repo, goes)
  const running = await world.start({ repos: [repo] })
  await until(() => world.gates.came(gate) === 1, { what: 'the batch to be checked' })
  await world.people.bob.create('dev.knotless.queue', {
    repo: repo.uri,
    subject: goes.uri,
    state: 'left',
    ends: entry,
    createdAt: new Date().toISOString(),
  })
  await until(() => world.gates.came(gate) >= 2, { what: 'the batch to be built again' })
  world.gates.release(gate)
  const landed = await merged(world, stays)
  assert.deepEqual(await landedOn(repo), [landed])
  await running.stop()
})

test('WHO-8 MOV-5 MOV-6 a runner that stops gives the queue back, and the next one goes on', async () => {
  const { repo, gate } = await story()
  world.gates.hold(gate)
  const pull = await open(repo, 'later', { 'l.txt': '' })
  const first = await world.start({ repos: [repo] })
  const second = await world.start({ repos: [repo] })
  await first.stop()
  world.gates.release(gate)
  await queue(world, repo, pull)
  await merged(world, pull)
  await second.stop()
  const landers = (await world.people.rigby.list('dev.knotless.lander')).filter(({ value }) => value.repo === repo.uri)
  assert.equal(landers.length, 1)
  assert.equal(typeof landers[0]?.value.stoppedAt, 'string')
})
