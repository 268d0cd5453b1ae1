import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { UpstreamError } from '../../../src/atproto/upstream-error.ts'
import type { DevAccount } from '../../../src/devnet/account.ts'
import { toAtUri } from '../../../src/queue/answers/formats.ts'
import { tidAt } from '../../../src/queue/tid.ts'
import { pullCheckKey } from '../../../src/workflows/check-keys.ts'
import { bob, type History, MINUTE } from '../../queue/support.ts'
import { until } from '../../support/until.ts'
import {
  batchOf,
  checks,
  choose,
  failed,
  groundOf,
  newCommit,
  newHistory,
  onFile,
  passed,
  plc,
  type RunsWorld,
  startRunsWorld,
  type TestRunner,
  whenOnFile,
  workflow,
} from './support.ts'

let world: RunsWorld

before(async () => {
  world = await startRunsWorld()
})
after(() => world.end())
afterEach(() => world.network.faults.clear())

async function newWorld(jobs = 4) {
  const rigby = await world.account('rigby')
  const history = newHistory()
  const pull = history.pull(bob)
  const ground = groundOf(history, [rigby.did])
  const runner = await world.runner(rigby, { jobs })
  return { rigby, history, pull, ground, repo: history.uri, runner }
}

const gitDir = '/nowhere'

/** Files a batch and ends all of its runs so. */
async function runBatch({ runner, ground, pull }: { runner: TestRunner; ground: ReturnType<typeof groundOf>; pull: string }, end = passed) {
  const subject = batchOf([pull])
  const chosen = choose([workflow('lint'), workflow('test')])
  const filed = await runner.runs.file(ground, { subject, chosen, trusted: true, gitDir })
  assert.ok(filed.ok)
  runner.runs.begin(filed.group.id, 'next')
  for (const name of ['lint', 'test']) (await runner.executor.running(name)).end(end)
  await runner.runs.idle()
  return { subject, checks: runner.runs.of(filed.group.id).map(run => run.check) }
}

test('MOV-6 checks that an earlier process left queued or running become an error with the verdict restart; others stay as they are', async () => {
  const { rigby, history, pull, ground, repo, runner } = await newWorld(1)
  const subject = batchOf([pull])
  const filed = await runner.runs.file(ground, {
    subject,
    chosen: choose(['a', 'b', 'c'].map(name => workflow(name))),
    trusted: true,
    gitDir,
  })
  assert.ok(filed.ok)
  runner.runs.begin(filed.group.id, 'next')
  ;(await runner.executor.running('a')).end(passed)
  await whenOnFile(rigby, repo, 'a', 'success')
  await whenOnFile(rigby, repo, 'b', 'running')
  const elsewhere = newHistory()
  const other = await runner.runs.file(groundOf(elsewhere, [rigby.did]), {
    subject,
    chosen: choose([workflow('d')]),
    trusted: true,
    gitDir,
  })
  assert.ok(other.ok)

  const { runs, executor } = await runner.again()
  const fresh = await runs.file(ground, { subject: batchOf([history.pull(bob)]), chosen: choose([workflow('e')]), trusted: true, gitDir })
  assert.ok(fresh.ok)
  await runs.recover(repo)
  const records = await onFile(rigby, repo)
  const told = (name: string) => [records.get(name)?.status, records.get(name)?.verdict]
  assert.deepEqual(['a', 'b', 'c', 'e'].map(told), [
    ['success', undefined],
    ['error', 'restart'],
    ['error', 'restart'],
    ['queued', undefined],
  ])
  assert.ok(records.get('b')?.finishedAt !== undefined && records.get('b')?.startedAt !== undefined)
  assert.equal((await onFile(rigby, elsewhere.uri)).get('d')?.status, 'queued', 'another repository is recovered when it is taken up')
  await runs.recover(elsewhere.uri)
  assert.equal((await onFile(rigby, elsewhere.uri)).get('d')?.verdict, 'restart')
  assert.equal(executor.jobs.length, 0)
})

test('MOV-6 a process that is not gone after all overwrites nothing', async () => {
  const { rigby, pull, ground, repo, runner } = await newWorld()
  const filed = await runner.runs.file(ground, { subject: batchOf([pull]), chosen: choose([workflow('test')]), trusted: true, gitDir })
  assert.ok(filed.ok)
  runner.runs.begin(filed.group.id, 'next')
  const held = await runner.executor.running('test')
  await whenOnFile(rigby, repo, 'test', 'running')
  await (await runner.again()).runs.recover(repo)
  held.end(passed)
  await runner.runs.idle()
  assert.equal((await onFile(rigby, repo)).get('test')?.verdict, 'restart')
})

test('MOV-6 an account that cannot be read is said, and read again at the next call', async () => {
  const { rigby, repo, runner } = await newWorld()
  const key = pullCheckKey('at://x', { tip: newCommit(), base: newCommit(), file: 'test.yml', tid: tidAt(Date.now()) })
  const createdAt = new Date().toISOString()
  await rigby.put(checks, key, {
    repo,
    workflow: 'test',
    status: 'running',
    ref: 'refs/heads/main',
    generation: 1,
    commit: newCommit(),
    createdAt,
  })
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.listRecords', times: 2 })
  await assert.rejects(runner.runs.recover(repo), UpstreamError)
  world.network.faults.clear()
  await runner.runs.recover(repo)
  assert.equal((await onFile(rigby, repo)).get('test')?.verdict, 'restart')
})

test('MOV-5 at a stop what has not begun is dropped and its check deleted, and what has begun is waited for', async () => {
  const { rigby, pull, ground, repo, runner } = await newWorld(1)
  const { runs, executor } = runner
  const filed = await runs.file(ground, {
    subject: batchOf([pull]),
    chosen: choose([workflow('lint'), workflow('test')]),
    trusted: true,
    gitDir,
  })
  assert.ok(filed.ok)
  const { id } = filed.group
  runs.begin(id, 'next')
  const held = await executor.running('lint')
  await runs.stop()
  assert.deepEqual([...(await onFile(rigby, repo)).keys()], ['lint'])
  assert.ok(!held.job.signal.aborted)
  let idle = false
  const waited = runs.idle().then(() => {
    idle = true
  })
  held.end(passed)
  await waited
  assert.ok(idle)
  assert.equal((await onFile(rigby, repo)).get('lint')?.status, 'success')
  assert.deepEqual(
    runs.of(id).map(run => run.state),
    ['passed', 'filed'],
    'the batch has not passed',
  )
  assert.equal(executor.jobs.length, 1)
  const late = await runs.file(ground, { subject: batchOf([pull]), chosen: choose([workflow('test')]), trusted: true, gitDir })
  assert.ok(!late.ok && late.unfiled === undefined)
})

/** The checks of a batch that failed, and the ejection that names them, so long ago. */
function ejectedAt(history: History, by: DevAccount, pull: ReturnType<History['pull']>, named: readonly string[], at: number) {
  history.queued(bob, pull, { at: at - MINUTE })
  const checks = named.map(check => ({ workflow: 'test', status: 'failure', check: toAtUri(check) }))
  history.ejected(plc(by), pull, { at, checks })
}

const day = 24 * 60 * MINUTE

test('CHK-12 checks of batches that ended a week ago are pruned, whole batches, each in one call', async () => {
  const at = await newWorld()
  const { rigby, ground, repo, runner } = at
  const old = await runBatch(at)
  const kept = await runBatch(at, failed)
  runner.pass(6 * day)
  await runner.runs.prune(ground, new Set())
  assert.equal((await rigby.list(checks)).length, 4, 'not so soon')
  runner.pass(2 * day)
  const young = await runBatch(at)
  const calls = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.applyWrites', ms: 0 })
  await runner.runs.prune(ground, new Set([kept.subject.tip]))
  assert.equal(calls.hits(), 1)
  const left = (await rigby.list(checks)).map(check => check.value.commit)
  assert.ok(!left.includes(old.subject.tip))
  assert.deepEqual(new Set(left), new Set([kept.subject.tip, young.subject.tip]))
  assert.equal((await onFile(rigby, repo)).size, 2)
})

test('CHK-12 what is in flight, of the last five landed, or named by an ejection of the last 90 days stays', async () => {
  const at = await newWorld()
  const { rigby, history, repo, runner } = at
  const landed = await runBatch(at)
  const named = await runBatch(at, failed)
  const gone = await runBatch(at, failed)
  const flying = await runner.runs.file(at.ground, {
    subject: batchOf([at.pull]),
    chosen: choose([workflow('test')]),
    trusted: true,
    gitDir,
  })
  assert.ok(flying.ok)
  const [one, two] = [history.pull(bob), history.pull(bob)]
  runner.pass(100 * day)
  const now = runner.ctx.now()
  ejectedAt(history, rigby, one, named.checks, now - 89 * day)
  ejectedAt(history, rigby, two, gone.checks, now - 91 * day)
  history.merged(plc(rigby), at.pull, {
    at: now - 95 * day,
    commit: landed.subject.members[0]?.commit ?? '',
    batch: landed.subject.tip,
  })
  await runner.runs.prune(groundOf(history, [rigby.did], now), new Set())
  const left = new Set([...(await rigby.list(checks))].map(check => check.value.commit))
  const { subject } = flying.group
  assert.ok(subject.of === 'batch')
  assert.deepEqual(left, new Set([landed.subject.tip, named.subject.tip, subject.tip]))
  assert.ok(repo)
  await runner.runs.stop()
})

test('REC-5 nothing is left over: after its end a runner has nothing more to write', async () => {
  const at = await newWorld()
  await runBatch(at)
  await until(() => at.runner.runs.counts().unwritten === 0)
  assert.deepEqual(at.runner.runs.counts(), { ended: { success: 2 }, running: 0, unwritten: 0 })
})
