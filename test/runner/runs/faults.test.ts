import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import type { DevAccount } from '../../../src/devnet/account.ts'
import { bob } from '../../queue/support.ts'
import { until } from '../../support/until.ts'
import {
  batchOf,
  choose,
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
  world = await startRunsWorld({ blobUploadLimit: 5 * 2 ** 20 })
})
after(() => world.end())
afterEach(() => world.network.faults.clear())

async function newBatch(names: readonly string[]) {
  rigby = await world.account('rigby')
  const history = newHistory()
  const subject = batchOf([history.pull(bob)])
  const asked = { subject, chosen: choose(names.map(name => workflow(name))), trusted: true, gitDir: '/nowhere' }
  return { ground: groundOf(history, [rigby.did]), repo: history.uri, asked, runner: await world.runner(rigby) }
}

const apply = 'com.atproto.repo.applyWrites'
const put = 'com.atproto.repo.putRecord'
const upload = 'com.atproto.repo.uploadBlob'

test('STO-10 a check that the account’s server does not take names its workflow, and nothing of the batch stays on file', async () => {
  const { ground, repo, asked, runner } = await newBatch(['bad', 'good'])
  // All together, and the first alone.
  world.network.faults.add({ fault: 'refuse', method: apply, status: 400, error: 'InvalidRequest', times: 2 })
  const filed = await runner.runs.file(ground, asked)
  assert.deepEqual({ ...filed, said: '' }, { ok: false, unfiled: 'bad', said: '' })
  assert.equal((await onFile(rigby, repo)).size, 0)
  assert.ok((await runner.runs.file(ground, asked)).ok, 'tried again it is filed')
})

test('STO-10 a workflow whose name no record holds is named before anything is written', async () => {
  const { ground, repo, asked, runner } = await newBatch(['good'])
  const long = workflow('long', `name: "${'ä'.repeat(200)}"`)
  const filed = await runner.runs.file(ground, { ...asked, chosen: choose([...asked.chosen.selected, long]) })
  assert.ok(!filed.ok && filed.unfiled === long.name)
  assert.equal((await onFile(rigby, repo)).size, 0)
})

test('STO-10 an account that may not write at all is trouble, and nobody’s workflow is to blame', async () => {
  const { ground, asked, runner } = await newBatch(['test'])
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.*', account: rigby.did, status: 400, error: 'AccountTakedown' })
  const filed = await runner.runs.file(ground, asked)
  assert.ok(!filed.ok && filed.unfiled === undefined && filed.said !== '')
})

test('STO-7 checks whose filing was not answered are filed under the same keys, each once', async () => {
  const { ground, asked, runner } = await newBatch(['lint', 'test'])
  world.network.faults.add({ fault: 'lose', method: apply, times: 1 })
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', times: 1 })
  const first = await runner.runs.file(ground, asked)
  assert.ok(!first.ok && first.unfiled === undefined, 'it is not known whether they are there')
  world.network.faults.clear()
  const second = await runner.runs.file(ground, asked)
  assert.ok(second.ok)
  assert.equal((await rigby.list('dev.knotless.check')).length, 2)
})

test('STO-7 checks whose filing was not answered and that nobody files again are taken away', async () => {
  const { ground, asked } = await newBatch(['lint', 'test'])
  const over = Promise.withResolvers<void>()
  const { runs } = await world.runner(rigby, { pause: () => over.promise })
  world.network.faults.add({ fault: 'lose', method: apply, times: 1 })
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', times: 1 })
  assert.ok(!(await runs.file(ground, asked)).ok)
  assert.equal((await rigby.list('dev.knotless.check')).length, 2, 'they were written all the same')
  over.resolve()
  await until(async () => (await rigby.list('dev.knotless.check')).length === 0)
})

test('CHK-13 an upload that is limited holds up no verdict, and is made later', async () => {
  const { ground, repo, asked, runner } = await newBatch(['test'])
  const { runs, executor, rings } = runner
  const fault = world.network.faults.add({ fault: 'refuse', method: upload, status: 429, error: 'RateLimitExceeded' })
  const filed = await runs.file(ground, asked)
  assert.ok(filed.ok)
  runs.begin(filed.group.id, 'next')
  const run = await executor.running('test')
  run.print('not ok\n')
  run.end(passed)
  const done = await whenOnFile(rigby, repo, 'test', 'success')
  assert.equal(done.log, undefined)
  await until(() => rings.length > 0)
  assert.deepEqual(
    runs.of(filed.group.id).map(one => one.state),
    ['passed'],
  )
  assert.equal(runs.counts().unwritten, 1)
  fault.clear()
  await runs.idle()
  assert.equal(await logOf(rigby, (await onFile(rigby, repo)).get('test') ?? {}), 'not ok\n')
  assert.equal(runs.counts().unwritten, 0)
})

test('CHK-13 an end that cannot be put on file counts at once for the planner, and is on file as soon as it can be', async () => {
  const { ground, repo, asked, runner } = await newBatch(['test'])
  const { runs, executor, rings } = runner
  const filed = await runs.file(ground, asked)
  assert.ok(filed.ok)
  const { id } = filed.group
  runs.begin(id, 'next')
  const run = await executor.running('test')
  await whenOnFile(rigby, repo, 'test', 'running')
  world.network.faults.add({ fault: 'refuse', method: put, status: 503 })
  run.end(passed)
  await until(() => runs.of(id)[0]?.state === 'passed')
  await until(() => rings.length > 0)
  assert.equal(await runs.recorded(id, 50), false)
  world.network.faults.clear()
  assert.equal(await runs.recorded(id, 10_000), true)
  await whenOnFile(rigby, repo, 'test', 'success')
})

test('CHK-13 a log beyond what its server takes in one blob is kept in parts, and a report beyond it is left out', async () => {
  const { ground, repo, asked, runner } = await newBatch(['test'])
  const { runs, executor } = runner
  const filed = await runs.file(ground, asked)
  assert.ok(filed.ok)
  runs.begin(filed.group.id, 'next')
  const run = await executor.running('test')
  // Bytes that gzip makes no smaller: the server takes 5 MiB in one blob.
  const noise = randomBytes(7 * 2 ** 20)
  run.print(noise)
  run.end({ end: 'success', summary: 'Passed', report: randomBytes(6 * 2 ** 20) })
  await runs.idle()
  const done = await whenOnFile(rigby, repo, 'test', 'success')
  assert.ok(Array.isArray(done.log) && done.log.length === 2)
  assert.equal(done.logBytes, noise.length)
  assert.equal(done.report, undefined)
  assert.ok(runner.events.includes('evidence-left-out'))
})

test('CHK-8 a check that somebody else ended is left as it is', async () => {
  const { ground, repo, asked, runner } = await newBatch(['test'])
  const { runs, executor } = runner
  const filed = await runs.file(ground, asked)
  assert.ok(filed.ok)
  runs.begin(filed.group.id, 'next')
  const run = await executor.running('test')
  const going = await whenOnFile(rigby, repo, 'test', 'running')
  const [at] = await rigby.list('dev.knotless.check')
  const ended = { ...going, status: 'error', verdict: 'restart', finishedAt: new Date().toISOString() }
  await rigby.put('dev.knotless.check', at?.uri.split('/').at(-1) ?? '', ended)
  run.end(passed)
  await runs.idle()
  assert.equal((await onFile(rigby, repo)).get('test')?.status, 'error')
})

test('REC-5 of more checks than one write holds, all are on file before any begins', async () => {
  const names = Array.from({ length: 230 }, (_, at) => `w${String(at).padStart(3, '0')}`)
  const { ground, repo, asked, runner } = await newBatch(names)
  const filed = await runner.runs.file(ground, asked)
  assert.ok(filed.ok)
  const records = await onFile(rigby, repo)
  assert.equal(records.size, 230)
  assert.ok([...records.values()].every(check => check.status === 'queued' && check.of === 230))
  await runner.runs.stop()
})
