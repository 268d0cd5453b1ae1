import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asking } from '../../src/queue/asking.ts'
import type { AskedSettings } from '../../src/queue/facts.ts'
import { queueHealth } from '../../src/queue/health.ts'
import { text } from './asking-support.ts'
import { fileBatch } from './batch-support.ts'
import { bob, commit, dave, History, iso, MINUTE, rigby, START } from './support.ts'

const LOW = commit(0xa01)

function line(settings: Parameters<History['lander']>[1] = {}, asked?: AskedSettings) {
  const history = new History()
  history.lander(rigby, { startedAt: iso(START), ...settings })
  history.tip({ settings: asked })
  const pulls = [history.pull(dave), history.pull(dave)]
  for (const pull of pulls) history.queued(bob, pull)
  return { history, pulls }
}

function health(history: History, asking: Partial<Asking> = {}) {
  const now = history.now + MINUTE
  const view = history.view(now)
  const branch = view.branches.get('main')
  if (branch === undefined) throw new Error('no main')
  return queueHealth(view, branch, { now, lastSeen: new Map([[rigby, { at: now }]]), ...asking })
}

function notes(history: History): string[] {
  return health(history).notes.map(({ bold, says, advice }) => [bold, text(says, history), text(advice, history)].join(' ').trim())
}

test('STW-8 settings that the lander does not run with are listed, each with what it runs with', () => {
  const asked: AskedSettings = { ok: true, settings: { batch: 12, depth: 2, wait: 600, timeout: 2700 } }
  const { history } = line({ batch: 8, depth: 2, wait: 0, timeout: 3600 }, asked)
  assert.deepEqual(notes(history), [
    'Settings drift: .knotless/queue.yml asks for batches of up to 12, a wait of 10 min and a time limit of 45 min; rigby.test runs with batches of up to 8, no wait and a time limit of 1 h since 00:00 UTC. Start the runner again with what is intended, or change the file.',
  ])
  assert.deepEqual(notes(line({ batch: 12, depth: 2, wait: 600, timeout: 2700 }, asked).history), [], 'as asked')
  assert.deepEqual(notes(line({ batch: 8 }, { ok: true, settings: {} }).history), [], 'nothing is asked')
  assert.deepEqual(notes(line({ batch: 8 }).history), [], 'not looked at')
  assert.deepEqual(notes(line({ batch: 8, stoppedAt: iso(START + MINUTE) }, asked).history), [], 'nobody runs')
  const told = notes(line({ depth: 1 }, { ok: true, settings: { depth: 3 } }).history)
  assert.match(told[0] ?? '', /asks for 3 batches in flight; rigby\.test runs with one batch at a time/)
})

test('STW-8 settings that cannot be read are said', () => {
  const { history } = line({}, { ok: false, message: 'line 2: it is not YAML' })
  assert.deepEqual(notes(history), ['Settings unread: .knotless/queue.yml cannot be read: line 2: it is not YAML.'])
})

test('STW-8 fewer jobs than the batches in flight have runs are said', () => {
  const { history, pulls } = line({ jobs: 3, depth: 2 })
  fileBatch(history, { tip: LOW, pulls, runs: { check: 'running', test: 'running', docs: 'skipped' } })
  assert.deepEqual(notes(history), [
    'Few jobs: rigby.test runs 3 at once, and two batches in flight have 4: the one ahead waits for free jobs.',
  ])
  history.lander(rigby, { jobs: 4, depth: 2 })
  assert.deepEqual(notes(history), [])
  history.lander(rigby, { jobs: 1, depth: 1 })
  assert.deepEqual(notes(history), ['Few jobs: rigby.test runs 1 at once, and a batch has 2: some of them wait for others.'])
})

test('WHO-5 STA-7 a lander that does not isolate, or is not named, is said to', () => {
  const { history } = line({ executor: 'host' })
  assert.match(notes(history)[0] ?? '', /^Not isolated: rigby\.test runs the code of pulls straight on its machine/)
  const unnamed = new History({ runners: [{ did: dave }] })
  unnamed.lander(bob)
  assert.match(notes(unnamed)[0] ?? '', /^Not named: bob\.test lands this queue but is not named here/)
  assert.deepEqual(notes(new History({ runners: [] })), [])
})

test('FAI-8 STA-4 a batch that ended without a verdict is the runner’s trouble until something is built', () => {
  const { history, pulls } = line()
  const finishedAt = iso(history.now + 4 * MINUTE)
  fileBatch(history, { tip: LOW, pulls, runs: { check: 'success', test: 'error' } }, { verdict: 'executor-lost', finishedAt })
  history.now += 5 * MINUTE
  const { kind, bold, says, advice, since } = health(history)
  assert.deepEqual([kind, since], ['trouble', Date.parse(finishedAt)])
  assert.equal(
    [bold, text(says, history), text(advice, history)].join(' '),
    'The runner’s trouble: a batch of 2 ended without a verdict 3 min ago. Test lost its executor. No pull is blamed, and all keep their places: rigby.test builds it again after a while.',
  )
  fileBatch(history, { tip: commit(0xa02), pulls, runs: { test: 'running' } })
  assert.equal(health(history).kind, 'checking')
})

test('FAI-8 a failure beside a silence is no trouble of the runner’s, nor is a batch of pulls that are out', () => {
  const { history, pulls } = line()
  history.check(rigby, {
    workflow: 'check',
    status: 'failure',
    commit: LOW,
    batch: [{ pull: pulls[0] ?? history.pull(dave), head: LOW, commit: LOW }],
  })
  assert.notEqual(health(history).kind, 'trouble')
  const out = line()
  fileBatch(out.history, { tip: LOW, pulls: out.pulls, runs: { test: 'error' } }, { verdict: 'disk' })
  for (const pull of out.pulls) out.history.left(bob, pull)
  assert.equal(health(out.history).kind, 'idle')
})

test('STA-4 a server that is behind the network says so, after what is worse', () => {
  const { history } = line()
  assert.equal(health(history, { behind: 59_000 }).kind, 'waiting')
  const { kind, says, label } = health(history, { behind: 180_000 })
  assert.deepEqual([kind, label.tone], ['behind', 'neutral'])
  assert.equal(text(says, history), 'this server is 3 min behind the network, so what you see may be older than it looks.')
  assert.equal(health(history, { behind: 180_000, lastSeen: new Map() }).kind, 'never-lander')
})
