import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../../src/devnet/account.ts'
import type { Chosen, Ground, Subject } from '../../../src/runner/types.ts'
import { bob, carol } from '../../queue/support.ts'
import {
  batchOf,
  choose,
  failed,
  groundOf,
  newCommit,
  newHistory,
  onFile,
  passed,
  type RunsWorld,
  startRunsWorld,
  type TestRunner,
  workflow,
} from './support.ts'

let world: RunsWorld
let rigby: DevAccount

before(async () => {
  world = await startRunsWorld()
  rigby = await world.account('rigby')
})
after(() => world.end())

type Pull = Subject & { of: 'pull' }
type Push = Subject & { of: 'push' }

function newWorld() {
  const history = newHistory()
  const pulls = [history.pull(bob), history.pull(carol)]
  return { ground: groundOf(history, [rigby.did]), repo: history.uri, pulls }
}

function pullOf(pull: string, more: Partial<Pull> = {}): Pull {
  return { of: 'pull', pull, head: newCommit(), branch: 'main', generation: 1, tip: newCommit(), tree: newCommit(), queued: false, ...more }
}

/** The push that lands a batch on main. */
function landing(batch: Subject & { of: 'batch' }, more: Partial<Push> = {}): Push {
  const { base, tip, tree } = batch
  return { of: 'push', branch: 'main', generation: 1, before: base, commit: tip, tree, isDefault: true, lands: true, ...more }
}

interface Run {
  subject: Subject
  chosen: Chosen
  trusted?: boolean
  asked?: string
}

/** Files and runs it; every run that begins ends so. Answers the checks' states by workflow. */
async function run(runner: TestRunner, ground: Ground, { subject, chosen, trusted = true, asked }: Run, end = passed) {
  const { runs, executor } = runner
  const filed = await runs.file(ground, { subject, chosen, trusted, gitDir: '/nowhere', asked })
  assert.ok(filed.ok)
  const { id } = filed.group
  runs.begin(id, 'next')
  for (const one of runs.of(id)) if (one.state === 'filed') (await executor.running(one.workflow)).end(end)
  await runs.idle()
  return new Map(runs.of(id).map(one => [one.workflow, one]))
}

test('RUN-5 a batch takes over a trusted pull’s pass of the same tree into the same branch, and only that', async () => {
  const runner = await world.runner(rigby)
  const { ground, repo, pulls } = newWorld()
  const pull = pullOf(pulls[0] ?? '')
  const first = await run(runner, ground, { subject: pull, chosen: choose([workflow('lint'), workflow('test')]) })
  const { tree } = pull
  const chosen = choose([workflow('lint'), workflow('test'), workflow('whole')])
  const batch = await run(runner, ground, { subject: batchOf(pulls, { tree }), chosen })
  assert.deepEqual(
    [...batch.values()].map(one => one.state),
    ['reused', 'reused', 'passed'],
  )
  assert.equal(runner.executor.jobs.length, 3)
  const check = [...(await onFile(rigby, repo)).values()].find(one => one.reusedFrom === first.get('test')?.check)
  assert.deepEqual([check?.status, check?.workflow, check?.tree, check?.of], ['success', 'test', tree, 3])

  const elsewhere = [batchOf(pulls), batchOf(pulls, { tree, branch: 'next' }), batchOf(pulls, { tree, generation: 2 })]
  for (const subject of elsewhere) {
    const other = await run(runner, ground, { subject, chosen: choose([workflow('test')]) })
    assert.equal(other.get('test')?.state, 'passed', 'another tree, branch or generation')
  }
})

test('RUN-5 CHK-8 neither a stranger’s pull, a failure, a skipped run nor a cancelled one is taken over', async () => {
  const runner = await world.runner(rigby)
  const { ground, pulls } = newWorld()
  const chosen = choose([workflow('test')])
  const pull = pulls[0] ?? ''
  const [strange, red, skipped] = [pullOf(pull), pullOf(pull), pullOf(pull)]
  await run(runner, ground, { subject: strange, chosen, trusted: false })
  await run(runner, ground, { subject: red, chosen }, failed)
  await run(runner, ground, { subject: skipped, chosen: choose([], { skipped: [workflow('test', 'paths: [docs]')] }) })
  for (const { tree } of [strange, red, skipped]) {
    const batch = await run(runner, ground, { subject: batchOf(pulls, { tree }), chosen })
    assert.equal(batch.get('test')?.state, 'passed')
  }
})

test('RUN-5 a pass that was taken over stands for the run that it came from; one taken off file is none', async () => {
  const runner = await world.runner(rigby)
  const { ground, repo, pulls } = newWorld()
  const chosen = choose([workflow('test')])
  const subject = batchOf(pulls)
  const first = (await run(runner, ground, { subject, chosen })).get('test')?.check ?? ''
  for (let n = 0; n < 2; n++) await run(runner, ground, { subject: batchOf(pulls, { tree: subject.tree }), chosen })
  const all = (await rigby.list('dev.knotless.check')).filter(one => one.value.repo === repo && one.value.reusedFrom !== undefined)
  assert.deepEqual(
    all.map(one => one.value.reusedFrom),
    [first, first],
  )
  await rigby.remove('dev.knotless.check', first.slice(first.lastIndexOf('/') + 1))
  const again = await run(runner, ground, { subject: batchOf(pulls, { tree: subject.tree }), chosen })
  assert.equal(again.get('test')?.state, 'passed')
})

test('RUN-4 the push that lands a trusted batch on the default branch takes its results over instead of running', async () => {
  const runner = await world.runner(rigby)
  const { ground, pulls } = newWorld()
  const subject = batchOf(pulls)
  const chosen = choose([workflow('test')])
  await run(runner, ground, { subject, chosen })
  const push = await run(runner, ground, { subject: landing(subject), chosen })
  assert.equal(push.get('test')?.state, 'reused')
  assert.equal(runner.executor.jobs.length, 1)
})

test('RUN-4 CHK-2 with the results the landing takes over what the batch left in the branch’s cache, and runs none of its steps', async () => {
  const runner = await world.runner(rigby)
  const { ground, pulls } = newWorld()
  const subject = batchOf(pulls)
  const chosen = choose([workflow('test', 'cache: [~/.npm]')])
  await run(runner, ground, { subject, chosen })
  const filed = await runner.runs.file(ground, { subject: landing(subject), chosen, trusted: true, gitDir: '/nowhere' })
  assert.ok(filed.ok)
  assert.deepEqual(
    runner.runs.of(filed.group.id).map(one => one.state),
    ['reused'],
  )
  runner.runs.begin(filed.group.id, 'next')
  runner.runs.begin(filed.group.id, 'next')
  const taking = await runner.executor.running('test')
  assert.deepEqual([taking.job.cache.use, taking.job.workflow.steps, taking.job.secrets], ['take', [{ run: ':' }], {}])
  taking.end(passed)
  await runner.runs.idle()
  assert.equal(runner.executor.jobs.length, 2, 'once')
})

test('RUN-4 what the batch took over itself, its landing takes from the run that it came from', async () => {
  const runner = await world.runner(rigby)
  const { ground, repo, pulls } = newWorld()
  const chosen = choose([workflow('test')])
  const pull = pullOf(pulls[0] ?? '')
  const first = (await run(runner, ground, { subject: pull, chosen })).get('test')?.check
  const subject = batchOf(pulls, { tree: pull.tree })
  await run(runner, ground, { subject, chosen })
  const push = (await run(runner, ground, { subject: landing(subject), chosen })).get('test')
  assert.equal(push?.state, 'reused')
  const check = (await rigby.list('dev.knotless.check')).find(one => one.uri === push?.check)
  assert.deepEqual([check?.value.repo, check?.value.reusedFrom], [repo, first])
})

test('RUN-4 not for a workflow with secrets, one that finishes when superseded, another branch, an untrusted batch, or a run asked for', async () => {
  const runner = await world.runner(rigby)
  const { ground, pulls } = newWorld()
  const subject = batchOf(pulls)
  const all = choose([workflow('deploy', 'supersede: finish'), workflow('publish', 'secrets: [TOKEN]'), workflow('test')])
  await run(runner, ground, { subject, chosen: all })
  const push = await run(runner, ground, { subject: landing(subject), chosen: all })
  assert.deepEqual(
    [...push].map(([name, one]) => [name, one.state]),
    [
      ['deploy', 'passed'],
      ['publish', 'passed'],
      ['test', 'reused'],
    ],
  )
  const chosen = choose([workflow('test')])
  const states = async (what: Run) => (await run(runner, ground, what)).get('test')?.state
  assert.equal(await states({ subject: landing(subject, { isDefault: false }), chosen }), 'passed', 'not the default branch')
  assert.equal(await states({ subject: landing(subject, { lands: false }), chosen }), 'passed', 'no landing')
  assert.equal(await states({ subject: landing(subject, { commit: newCommit() }), chosen }), 'passed', 'another commit of the same tree')
  const asked = `at://${bob}/dev.knotless.rerun/${runner.ctx.nextKey()}`
  assert.equal(await states({ subject: landing(subject), chosen, asked }), 'passed', 'asked for by name')
  const untrusted = batchOf(pulls)
  await run(runner, ground, { subject: untrusted, chosen, trusted: false })
  assert.equal(await states({ subject: landing(untrusted), chosen }), 'passed', 'an untrusted batch')
})

test('RUN-4 RUN-5 passes of an earlier process are taken over after a restart', async () => {
  const before = await world.runner(rigby)
  const { ground, repo, pulls } = newWorld()
  const subject = batchOf(pulls)
  const chosen = choose([workflow('test')])
  await run(before, ground, { subject, chosen })
  const runner = await before.again()
  await runner.runs.recover(repo)
  assert.equal((await run(runner, ground, { subject: landing(subject), chosen })).get('test')?.state, 'reused')
})

test('WHO-5 a runner that isolates takes over no pass of runs that were not isolated', async () => {
  const loose = await world.runner(rigby, { isolated: false })
  const { ground, repo, pulls } = newWorld()
  const subject = batchOf(pulls)
  const chosen = choose([workflow('test')])
  await run(loose, ground, { subject, chosen })
  assert.equal((await onFile(rigby, repo)).get('test')?.isolated, false)
  const runner = await world.runner(rigby)
  await runner.runs.recover(repo)
  const again = await run(runner, ground, { subject: batchOf(pulls, { tree: subject.tree }), chosen })
  assert.equal(again.get('test')?.state, 'passed')
})
