import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../../src/devnet/account.ts'
import type { Subject } from '../../../src/runner/types.ts'
import { bob, type History } from '../../queue/support.ts'
import { until } from '../../support/until.ts'
import { choose, groundOf, newCommit, newHistory, onFile, passed, type RunsWorld, startRunsWorld, whenOnFile, workflow } from './support.ts'

let world: RunsWorld
let rigby: DevAccount
let rocky: DevAccount

before(async () => {
  world = await startRunsWorld()
  rigby = await world.account('rigby')
  rocky = await world.account('rocky')
})
after(() => world.end())

const first = workflow('check', 'queue: first')

/** A queued pull of a repository of its own, at a head and tip. */
function newPull(history: History = newHistory()) {
  const subject: Subject & { of: 'pull' } = {
    of: 'pull',
    pull: history.pull(bob),
    head: newCommit(),
    branch: 'main',
    generation: 1,
    tip: newCommit(),
    tree: newCommit(),
    queued: true,
  }
  return { subject, repo: history.uri, ground: groundOf(history, [rocky.did, rigby.did]) }
}

const gitDir = '/nowhere'

test('PRE-10 PRE-7 a pre-flight on a pull says so, is keyed by the pull, runs its merged tree and gets no secrets', async () => {
  const secrets = () => ({ TOKEN: 'hush' })
  const { runs, executor } = await world.runner(rigby, { secrets })
  const { ground, repo, subject } = newPull()
  const check = workflow('check', 'queue: first\nsecrets: [TOKEN]')
  const other = workflow('other')
  const filed = await runs.file(ground, { subject, chosen: choose([check, other]), trusted: false, gitDir })
  assert.ok(filed.ok)
  runs.begin(filed.group.id, 'preflight')
  const { job } = await executor.running('check')
  assert.deepEqual(job.secrets, {})
  assert.deepEqual(job.source, { gitDir, commit: subject.tree })
  assert.deepEqual([job.cache.use, job.weight], ['empty', 'low'])
  const records = await onFile(rigby, repo)
  assert.deepEqual([records.get('check')?.queue, records.get('other')?.queue], ['first', undefined])
  const { pull, commit, baseCommit, tree } = records.get('check') ?? {}
  assert.deepEqual([pull, commit, baseCommit, tree], [subject.pull, subject.head, subject.tip, subject.tree])
  await runs.cancel(filed.group.id, 'test')
  await runs.idle()
})

test('PRE-7 PRE-8 only the pre-flights asked for are filed, and several askings at one head and tip read as one', async () => {
  const { runs, executor } = await world.runner(rigby)
  const { ground, repo, subject } = newPull()
  const chosen = choose([first, workflow('lint', 'queue: first'), workflow('slow')])
  const one = await runs.file(ground, { subject, chosen, trusted: true, gitDir, only: ['check'] })
  const two = await runs.file(ground, { subject, chosen, trusted: true, gitDir, only: ['lint', 'gone'] })
  assert.ok(one.ok && two.ok)
  assert.deepEqual([...(await onFile(rigby, repo)).keys()].sort(), ['check', 'lint'])
  runs.begin(one.group.id, 'preflight')
  ;(await executor.running('check')).end(passed)
  const flight = runs.flightOf(subject.pull, subject.head, subject.tip)
  assert.ok(flight)
  await until(() => runs.of(flight.id).some(run => run.state === 'passed'))
  assert.deepEqual(
    runs.of(flight.id).map(run => [run.workflow, run.state]),
    [
      ['check', 'passed'],
      ['lint', 'filed'],
    ],
  )
  assert.equal(runs.flightOf(subject.pull, newCommit(), subject.tip), undefined)
  assert.equal(runs.ran(subject.pull, subject.head), false, 'a pre-flight is not the pull’s own run')
  await runs.stop()
})

for (const status of ['running', 'success'] as const) {
  test(`PRE-4 a pre-flight that another runner has ${status} at the same head and base is left to it, and its own check taken away`, async () => {
    const { runs, executor, rings } = await world.runner(rigby)
    const theirs = await world.runner(rocky)
    const { ground, repo, subject } = newPull()
    const asked = { subject, chosen: choose([first]), trusted: true, gitDir }
    const other = await theirs.runs.file(ground, asked)
    assert.ok(other.ok)
    theirs.runs.begin(other.group.id, 'pull')
    const held = await theirs.executor.running('check')
    if (status === 'success') held.end(passed)
    await whenOnFile(rocky, repo, 'check', status)
    const own = await runs.file(ground, asked)
    assert.ok(own.ok)
    runs.begin(own.group.id, 'preflight')
    await until(() => rings.length > 0)
    assert.equal((await onFile(rigby, repo)).size, 0)
    assert.equal(executor.jobs.length, 0)
    assert.deepEqual(runs.of(own.group.id), [])
    assert.ok(runs.flightOf(subject.pull, subject.head, subject.tip), 'PRE-8: it was asked for here, all the same')
    held.end(passed)
    await theirs.runs.idle()
  })
}

test('PRE-4 what another runner has queued, failed, or running at another tip does not keep it from running here', async () => {
  const { runs, executor } = await world.runner(rigby)
  const theirs = await world.runner(rocky)
  const { ground, subject } = newPull()
  const asked = { subject, chosen: choose([first]), trusted: true, gitDir }
  assert.ok((await theirs.runs.file(ground, asked)).ok, 'only queued')
  const elsewhere = await theirs.runs.file(ground, { ...asked, subject: { ...subject, tip: newCommit() } })
  assert.ok(elsewhere.ok)
  theirs.runs.begin(elsewhere.group.id, 'pull')
  const held = await theirs.executor.running('check')
  const own = await runs.file(ground, asked)
  assert.ok(own.ok)
  runs.begin(own.group.id, 'preflight')
  ;(await executor.running('check')).end(passed)
  held.end(passed)
  await Promise.all([runs.idle(), theirs.runs.stop()])
})

test('RUN-2 a newer head ends the runs of the older one, but for a workflow that finishes; a newer tip ends none', async () => {
  const { runs, executor } = await world.runner(rigby)
  const { ground, subject } = newPull()
  const chosen = choose([workflow('deploy', 'supersede: finish'), workflow('test')])
  const old = await runs.file(ground, { subject, chosen, trusted: true, gitDir })
  assert.ok(old.ok)
  runs.begin(old.group.id, 'pull')
  const deploy = await executor.running('deploy')
  await executor.running('test')
  const moved = await runs.file(ground, { subject: { ...subject, tip: newCommit() }, chosen: choose([]), trusted: true, gitDir })
  assert.ok(moved.ok)
  assert.deepEqual(
    runs.of(old.group.id).map(run => run.state),
    ['running', 'running'],
  )
  assert.ok((await runs.file(ground, { subject: { ...subject, head: newCommit() }, chosen: choose([]), trusted: true, gitDir })).ok)
  assert.deepEqual(
    runs.of(old.group.id).map(run => run.state),
    ['running', 'cancelled'],
  )
  assert.ok(runs.ran(subject.pull, subject.head))
  deploy.end(passed)
  await runs.idle()
})

test('a newer push to a branch ends the runs of the older one, but for a workflow that finishes; one to another branch ends none', async () => {
  const { runs, executor } = await world.runner(rigby)
  const { ground } = newPull()
  const chosen = choose([workflow('deploy', 'supersede: finish'), workflow('test')])
  const push = (branch: string): Subject & { of: 'push' } => {
    const [commit, tree] = [newCommit(), newCommit()]
    return { of: 'push', branch, generation: 1, commit, tree, isDefault: branch === 'main', lands: false }
  }
  const old = await runs.file(ground, { subject: push('main'), chosen, trusted: true, gitDir })
  assert.ok(old.ok)
  runs.begin(old.group.id, 'next')
  await executor.running('test')
  assert.ok((await runs.file(ground, { subject: push('next'), chosen: choose([]), trusted: true, gitDir })).ok)
  assert.deepEqual(
    runs.of(old.group.id).map(run => run.state),
    ['running', 'running'],
  )
  assert.ok((await runs.file(ground, { subject: push('main'), chosen: choose([]), trusted: true, gitDir })).ok)
  assert.deepEqual(
    runs.of(old.group.id).map(run => run.state),
    ['running', 'cancelled'],
  )
  ;(await executor.running('deploy')).end(passed)
  await runs.idle()
})
