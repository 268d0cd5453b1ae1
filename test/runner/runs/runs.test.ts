import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../../src/devnet/account.ts'
import { parseCheckKey, queueCheckPrefix } from '../../../src/workflows/check-keys.ts'
import { bob, carol } from '../../queue/support.ts'
import { until } from '../../support/until.ts'
import {
  batchOf,
  checks,
  choose,
  failed,
  groundOf,
  logOf,
  newHistory,
  onFile,
  passed,
  type RunsWorld,
  startRunsWorld,
  whenOnFile,
  workflow,
} from './support.ts'

let world: RunsWorld
let rigby: DevAccount

before(async () => {
  world = await startRunsWorld()
  rigby = await world.account('rigby')
})
after(() => world.end())

/** A batch of two pulls of a repository of its own. */
function batchWorld() {
  const history = newHistory()
  const pulls = [history.pull(bob), history.pull(carol)]
  const ground = groundOf(history, [rigby.did])
  return { history, pulls, ground, repo: history.uri, subject: batchOf(pulls) }
}

test('REC-5 CHK-3 every check of a batch is on file before any of its runs begins', async () => {
  const { runs, executor } = await world.runner(rigby)
  const { ground, repo, subject } = batchWorld()
  const chosen = choose([workflow('build'), workflow('lint'), workflow('test')])
  const filed = await runs.file(ground, { subject, chosen, trusted: true, gitDir: '/nowhere' })
  assert.ok(filed.ok)
  const records = await onFile(rigby, repo)
  assert.deepEqual([...records.keys()].sort(), ['build', 'lint', 'test'])
  for (const check of records.values()) {
    assert.equal(check.status, 'queued')
    assert.equal(check.ref, 'refs/heads/main')
    assert.deepEqual([check.commit, check.baseCommit, check.tree, check.generation], [subject.tip, subject.base, subject.tree, 1])
    assert.deepEqual(
      check.batch,
      subject.members.map(({ pull, head, commit }) => ({ pull, head, commit })),
    )
    assert.deepEqual([check.of, check.trusted, check.isolated], [3, true, true])
  }
  assert.equal(executor.jobs.length, 0, 'nothing runs before it is let')
  assert.deepEqual(
    runs.of(filed.group.id).map(run => run.state),
    ['filed', 'filed', 'filed'],
  )
  const prefix = queueCheckPrefix({ repo, ref: 'refs/heads/main' }, subject)
  for (const run of runs.of(filed.group.id)) assert.ok(run.check.includes(`/${prefix}`), 'one scan finds them all')

  runs.begin(filed.group.id, 'next')
  for (const name of ['build', 'lint', 'test']) (await executor.running(name)).end(passed)
  await runs.idle()
})

test('CHK-13 NOT-5 a run is filed running, and its end has status, summary, times, log and report; each end rings', async () => {
  const { runs, executor, rings } = await world.runner(rigby)
  const { ground, repo, subject } = batchWorld()
  const chosen = choose([workflow('lint'), workflow('test')])
  const filed = await runs.file(ground, { subject, chosen, trusted: true, gitDir: '/nowhere' })
  assert.ok(filed.ok)
  const { id } = filed.group
  runs.begin(id, 'next')
  const run = await executor.running('test')
  assert.equal(run.job.source.commit, subject.tip)
  const going = await whenOnFile(rigby, repo, 'test', 'running')
  assert.ok(going.startedAt !== undefined && going.finishedAt === undefined)
  run.print('ok 1 - apples\n')
  run.end({ ...passed, report: Buffer.from('<testsuites/>') } as typeof passed)
  const done = await whenOnFile(rigby, repo, 'test', 'success')
  assert.equal(done.summary, passed.end === 'success' ? passed.summary : '')
  assert.ok(done.finishedAt !== undefined)
  assert.equal(await logOf(rigby, done), 'ok 1 - apples\n')
  assert.equal(done.logBytes, 14)
  assert.ok(done.report !== undefined)
  await until(() => rings.length === 1)
  ;(await executor.running('lint')).end(failed)
  await until(() => rings.length === 2)
  assert.deepEqual(
    runs.of(id).map(one => [one.workflow, one.state, one.status]),
    [
      ['lint', 'failed', 'failure'],
      ['test', 'passed', undefined],
    ],
  )
  assert.ok(rings.every(ring => ring.repo === repo))
  await runs.idle()
})

test('CHK-6 what is skipped and what cannot be used are checks too: skipped, and an error that is a verdict', async () => {
  const { runs, rings } = await world.runner(rigby)
  const { ground, repo, subject } = batchWorld()
  const faulty = [{ file: 'bad.yml', summary: 'bad.yml, line 3, "stepz": This key is not known.' }]
  const chosen = choose([], { skipped: [workflow('docs', 'paths: [docs/**]')], faulty })
  const filed = await runs.file(ground, { subject, chosen, trusted: false, gitDir: '/nowhere' })
  assert.ok(filed.ok)
  const records = await onFile(rigby, repo)
  assert.equal(records.get('docs')?.status, 'skipped')
  const bad = records.get('bad.yml')
  assert.deepEqual([bad?.status, bad?.verdict, bad?.summary], ['error', undefined, faulty[0]?.summary])
  assert.deepEqual([bad?.of, bad?.trusted], [2, false])
  assert.deepEqual(
    runs.of(filed.group.id).map(run => [run.state, run.status]),
    [
      ['skipped', undefined],
      ['failed', 'error'],
    ],
  )
  runs.begin(filed.group.id, 'next')
  assert.deepEqual(
    rings.map(ring => ring.repo),
    [repo],
    'there is nothing to wait for, so that it rings at once',
  )
})

test('CHK-7 runs that end without a verdict are an error with the reason', async () => {
  const { runs, executor } = await world.runner(rigby)
  const { ground, repo, subject } = batchWorld()
  const chosen = choose(['disk', 'image', 'lost', 'slow'].map(name => workflow(name)))
  const filed = await runs.file(ground, { subject, chosen, trusted: true, gitDir: '/nowhere' })
  assert.ok(filed.ok)
  runs.begin(filed.group.id, 'next')
  ;(await executor.running('slow')).end({ end: 'error', verdict: 'timeout', summary: 'Timed out' })
  ;(await executor.running('lost')).end({ end: 'error', verdict: 'executor-lost', summary: 'Gone' })
  ;(await executor.running('disk')).end({ end: 'error', verdict: 'disk', summary: 'Full' })
  ;(await executor.running('image')).end({ end: 'error', summary: 'No such image' })
  await runs.idle()
  const records = await onFile(rigby, repo)
  assert.deepEqual([...records].map(([name, check]) => [name, check.status, check.verdict]).sort(), [
    ['disk', 'error', 'disk'],
    ['image', 'error', undefined],
    ['lost', 'error', 'executor-lost'],
    ['slow', 'error', 'timeout'],
  ])
  assert.deepEqual(
    runs.of(filed.group.id).map(run => [run.workflow, run.state, run.verdict]),
    [
      ['disk', 'no-verdict', 'disk'],
      ['image', 'failed', undefined],
      ['lost', 'no-verdict', 'executor-lost'],
      ['slow', 'no-verdict', 'timeout'],
    ],
  )
})

test('MOV-4 CHK-8 dropping ends what has not ended, says why, and neither a late result nor a later cancel changes it', async () => {
  const { runs, executor } = await world.runner(rigby, { jobs: 1 })
  const { ground, repo, subject } = batchWorld()
  const finish = workflow('deploy', 'supersede: finish')
  const filed = await runs.file(ground, { subject, chosen: choose([finish, workflow('test')]), trusted: true, gitDir: '/nowhere' })
  assert.ok(filed.ok)
  const { id } = filed.group
  runs.begin(id, 'next')
  const held = await executor.running('deploy')
  held.print('half way')
  await runs.cancel(id, 'main moved')
  held.end(passed)
  await runs.cancel(id, 'a pull moved on')
  await runs.idle()
  assert.deepEqual(
    runs.of(id).map(run => [run.state, run.status]),
    [
      ['cancelled', 'cancelled'],
      ['cancelled', 'cancelled'],
    ],
  )
  const records = await onFile(rigby, repo)
  for (const name of ['deploy', 'test']) {
    const check = records.get(name)
    assert.deepEqual([check?.status, check?.cause], ['cancelled', 'main moved'])
    assert.equal(check?.summary, 'cancelled as the merge queue dropped its batch')
  }
  assert.equal(executor.jobs.length, 1, 'the other never began')
  assert.equal(await logOf(rigby, records.get('deploy') ?? {}), 'half way\ncancelled as the merge queue dropped its batch\n')
})

test('CHK-10 runs of two batches of one branch do not end one another', async () => {
  const { runs, executor } = await world.runner(rigby)
  const { ground, pulls, subject } = batchWorld()
  const chosen = choose([workflow('test')])
  const one = await runs.file(ground, { subject, chosen, trusted: true, gitDir: '/nowhere' })
  const two = await runs.file(ground, {
    subject: batchOf(pulls, { base: subject.tip, batch: 2 }),
    chosen,
    trusted: true,
    gitDir: '/nowhere',
  })
  assert.ok(one.ok && two.ok)
  runs.begin(one.group.id, 'next')
  runs.begin(two.group.id, 'ahead')
  await until(() => executor.jobs.length === 2)
  assert.deepEqual(executor.jobs.map(job => job.weight).sort(), ['high', 'low'])
  assert.ok(executor.jobs.every(job => !job.signal.aborted))
  await runs.cancel(one.group.id, 'test')
  await runs.cancel(two.group.id, 'test')
  await runs.idle()
})

test('keys of one batch’s checks are a digest and a TID for each run', async () => {
  const keys = (await rigby.list(checks)).map(({ uri }) => uri.slice(uri.lastIndexOf('/') + 1))
  assert.ok(keys.length > 0)
  for (const key of keys) assert.equal(parseCheckKey(key)?.kind, 'queue')
})
