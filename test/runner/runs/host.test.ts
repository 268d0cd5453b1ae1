import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../../src/devnet/account.ts'
import { createHostExecutor } from '../../../src/runner/executor/host.ts'
import type { Executor, Job, Subject } from '../../../src/runner/types.ts'
import { parseWorkflow } from '../../../src/workflows/parse.ts'
import type { Workflow } from '../../../src/workflows/workflow.ts'
import { bob } from '../../queue/support.ts'
import { until } from '../../support/until.ts'
import { createTrees, quietLog } from '../executor/jobs.ts'
import { batchOf, choose, groundOf, logOf, newHistory, onFile, type RunsWorld, startRunsWorld, whenOnFile } from './support.ts'

let world: RunsWorld
let rigby: DevAccount
let trees: Awaited<ReturnType<typeof createTrees>>
let executor: Executor
let source: Job['source']

before(async () => {
  world = await startRunsWorld()
  rigby = await world.account('rigby')
  trees = await createTrees()
  executor = createHostExecutor({ dir: join(trees.dir, 'runs'), log: quietLog })
  source = await trees.plant([
    { name: 'apple.txt', content: 'ripe\n' },
    { name: 'report.xml', content: '<testsuites><testsuite name="a"><testcase name="b"/></testsuite></testsuites>' },
  ])
})
after(async () => {
  await executor.close()
  trees.close()
  await world.end()
})

function steps(name: string, lines: readonly string[], more = ''): Workflow {
  const text = `on: { pull: , push: }\n${more}\nsteps: ${JSON.stringify(lines.map(run => ({ run })))}\n`
  const read = parseWorkflow({ file: `${name}.yml`, bytes: Buffer.from(text) })
  assert.ok(read.ok, read.ok ? '' : read.fault.message)
  return read.workflow
}

async function newRuns(more: Parameters<RunsWorld['runner']>[1] = {}) {
  const history = newHistory()
  const runner = await world.runner(rigby, { executor, ...more })
  const pull = history.pull(bob)
  return { ...runner, ground: groundOf(history, [rigby.did]), repo: history.uri, pull }
}

test('CHK-13 WHO-5 real runs of a batch: each check has its end, its log, its report and its retries, and says that it was not isolated', async () => {
  const pieces: string[] = []
  const { runs, ground, repo, pull } = await newRuns({ live: (_check, _offset, text) => void pieces.push(text) })
  const subject = batchOf([pull], { tip: source.commit })
  const flaky = '[ -e seen ] || { touch seen; exit 9; }'
  const chosen = choose([
    steps('eat', ['cat apple.txt', `echo $CI $KNOTLESS_EVENT $KNOTLESS_BRANCH $KNOTLESS_COMMIT`], 'report: "*.xml"'),
    steps('rot', ['test -e worm.txt']),
    steps('wobble', [flaky], 'retries: 1'),
  ])
  const filed = await runs.file(ground, { subject, chosen, trusted: true, gitDir: source.gitDir })
  assert.ok(filed.ok)
  runs.begin(filed.group.id, 'next')
  await until(() => runs.of(filed.group.id).every(run => run.endedAt !== undefined))
  await runs.idle()
  assert.deepEqual(
    runs.of(filed.group.id).map(run => [run.workflow, run.state]),
    [
      ['eat', 'passed'],
      ['rot', 'failed'],
      ['wobble', 'passed'],
    ],
  )
  const records = await onFile(rigby, repo)
  const eat = records.get('eat') ?? {}
  const log = await logOf(rigby, eat)
  assert.match(log, /\$ cat apple.txt\nripe\n/)
  assert.ok(log.includes(`true batch main ${source.commit}\n`))
  assert.ok(eat.report !== undefined && eat.isolated === false)
  assert.match(String(records.get('rot')?.summary), /^Failed after .* exit code 1: test -e worm.txt$/)
  assert.deepEqual(records.get('wobble')?.retried, [{ test: flaky }])
  assert.ok(pieces.join('').includes('ripe\n'), 'it was sent while it ran')
})

test('MOV-4 a drop ends what a run has started, and its log says why', async () => {
  const { runs, ground, repo, pull } = await newRuns()
  const chosen = choose([steps('hang', ['echo begun; trap "" TERM; sleep 600'])])
  const filed = await runs.file(ground, { subject: batchOf([pull], { tip: source.commit }), chosen, trusted: true, gitDir: source.gitDir })
  assert.ok(filed.ok)
  runs.begin(filed.group.id, 'next')
  await whenOnFile(rigby, repo, 'hang', 'running')
  await runs.cancel(filed.group.id, 'the branch moved')
  await runs.idle()
  const check = (await onFile(rigby, repo)).get('hang') ?? {}
  assert.deepEqual([check.status, check.cause], ['cancelled', 'the branch moved'])
  assert.match(await logOf(rigby, check), /\ncancelled as the merge queue dropped its batch\n$/)
})

test('CHK-7 a run past its time-out is an error with that verdict', async () => {
  const { runs, ground, repo, pull } = await newRuns()
  const chosen = choose([steps('slow', ['sleep 600'], 'timeout: 1s')])
  const filed = await runs.file(ground, { subject: batchOf([pull], { tip: source.commit }), chosen, trusted: true, gitDir: source.gitDir })
  assert.ok(filed.ok)
  runs.begin(filed.group.id, 'next')
  const check = await whenOnFile(rigby, repo, 'slow', 'error')
  assert.equal(check.verdict, 'timeout')
  await runs.idle()
})

test('CHK-1 a push has its secrets, masked in its log; one that is asked for and not there is said', async () => {
  const { runs, ground, repo } = await newRuns({ secrets: () => ({ TOKEN: 'hush-hush-hush', OTHER: 'not asked for' }) })
  const chosen = choose([steps('publish', ['echo "<$TOKEN>" "<$OTHER>"; printf %s "$TOKEN" | wc -c'], 'secrets: [TOKEN, GONE]')])
  const subject: Subject = {
    of: 'push',
    branch: 'main',
    generation: 1,
    commit: source.commit,
    tree: source.commit,
    isDefault: true,
    lands: false,
  }
  const filed = await runs.file(ground, { subject, chosen, trusted: true, gitDir: source.gitDir })
  assert.ok(filed.ok)
  runs.begin(filed.group.id, 'next')
  const check = await whenOnFile(rigby, repo, 'publish', 'success')
  assert.ok(check.pull === undefined && check.batch === undefined && check.baseCommit === undefined)
  const log = await logOf(rigby, check)
  assert.match(log, /^The secret GONE is asked for, and the runner has none of that name\.\n/)
  assert.match(log, /<\*+> <>\n14\n/)
  assert.ok(!log.includes('hush'))
  await runs.idle()
})
