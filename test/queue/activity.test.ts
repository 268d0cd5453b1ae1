import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueActivity } from '../../src/queue/activity.ts'
import { queueNews } from '../../src/queue/news.ts'
import { timeline } from '../../src/queue/timeline.ts'
import { DROPS, dropWords, readDrop } from '../../src/queue/words/runner.ts'
import { text } from './asking-support.ts'
import { fileBatch, land } from './batch-support.ts'
import { alice, bob, carol, commit, dave, HEAD, History, iso, MINUTE, mallory, rigby } from './support.ts'

const LOW = commit(0xa01)
const HIGH = commit(0xa02)

function happened(history: History) {
  const view = history.view()
  const branch = view.branches.get('main')
  if (branch === undefined) throw new Error('no main')
  return queueActivity(view, branch)
}

function said(history: History): string[] {
  return happened(history).map(({ says, about, tone }) => [tone ?? 'plain', text(says, history), about?.title].filter(Boolean).join(' | '))
}

test('REA-1 what happened to a queue is said newest first, each line with the record that says so', () => {
  const history = new History()
  const first = history.pull(dave, { title: 'One' })
  const second = history.pull(dave, { title: 'Two' })
  const queued = history.queued(bob, first)
  history.queued(carol, second)
  history.left(carol, second)
  const stack = { tip: LOW, pulls: [first], runs: { test: 'success' } } as const
  const [check] = fileBatch(history, stack)
  land(history, stack)
  history.tip({ contains: new Map([[LOW, true]]) })
  history.closed(dave, second)
  history.opened(alice, second)
  assert.deepEqual(said(history), [
    'plain | alice.test opened again | Two',
    'plain | dave.test closed | Two',
    'done | Landed: a batch of 1, main is at 0000000',
    'accent | rigby.test built a batch of 1 on 0000000',
    'plain | carol.test took out | Two',
    'plain | carol.test queued | Two',
    'plain | bob.test queued | One',
  ])
  const events = happened(history)
  assert.deepEqual([events[6]?.record, events[3]?.record, events[3]?.batch, events[2]?.batch], [queued.uri, check?.uri, LOW, LOW])
  assert.deepEqual(
    events.map(event => event.at),
    events.map(event => event.at).sort((a, b) => b - a),
  )
})

test('REA-1 a batch that landed is one line, however many landed since', () => {
  const history = new History()
  const tips = Array.from({ length: 7 }, (_, at) => commit(0xb00 + at))
  for (const tip of tips) {
    const pulls = [history.pull(dave), history.pull(dave)]
    for (const pull of pulls) history.queued(bob, pull)
    land(history, { tip, pulls, runs: {} })
  }
  history.tip({ contains: new Map(tips.map(tip => [tip, true])) })
  const kinds = happened(history).map(({ kind }) => kind)
  assert.deepEqual([kinds.filter(kind => kind === 'landed').length, kinds.filter(kind => kind === 'merged').length], [7, 0])
})

test('MOV-4 a dropped batch leaves a word, and why it was dropped; so does one that failed', () => {
  const history = new History()
  const pulls = [history.pull(dave), history.pull(dave)]
  for (const pull of pulls) history.queued(bob, pull)
  const ended = () => ({ startedAt: iso(history.now), finishedAt: iso(history.now + 3 * MINUTE) })
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'cancelled' } }, { cause: dropWords('branch-moved'), ...ended() })
  history.now += 5 * MINUTE
  fileBatch(history, { tip: HIGH, pulls, runs: { test: 'failure', check: 'success' } }, ended())
  history.now += 5 * MINUTE
  fileBatch(history, { tip: commit(0xa03), pulls, runs: { test: 'error' } }, { verdict: 'disk', ...ended() })
  assert.deepEqual(said(history).slice(0, 6), [
    'attention | A batch of 2 ended without a verdict: test',
    'accent | rigby.test built a batch of 2 on 0000000',
    'danger | A batch of 2 failed: test',
    'accent | rigby.test built a batch of 2 on 0000000',
    'attention | A batch of 2 was dropped: main moved by another push, so it is built again',
    'accent | rigby.test built a batch of 2 on 0000000',
  ])
  const now = history.now + 5 * MINUTE
  assert.match(text(queueNews(history.view(now), 'main', now), history), /: A batch of 2 ended without a verdict: test\. 2 waiting\.$/)
})

test('FAI-9 LND-2 of a batch that passed and did not land it is not said that its branch moved', () => {
  const history = new History()
  const pulls = [history.pull(dave), history.pull(dave)]
  for (const pull of pulls) history.queued(bob, pull)
  const ended = () => ({ at: history.tick(), startedAt: iso(history.now), finishedAt: iso(history.now + MINUTE) })
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'failure' } }, ended())
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(1), runs: { test: 'success' } }, ended())
  history.now += 5 * MINUTE
  fileBatch(history, { tip: commit(0xa03), pulls, runs: { test: 'success' } }, ended())
  history.now += 5 * MINUTE
  fileBatch(history, { tip: commit(0xa04), pulls, runs: { test: 'running' } })
  assert.deepEqual(
    said(history).filter(line => line.includes('dropped')),
    [
      'attention | A batch of 2 was dropped: it passed, but what it stood on or held had changed',
      'attention | A batch of 1 was dropped: the batch that it stood on did not land',
    ],
  )
})

test('MOV-2 a batch that passed was dropped once a pull of it was out, and not before', () => {
  const history = new History()
  const pulls = [history.pull(dave, { title: 'One' }), history.pull(dave, { title: 'Two' })]
  for (const pull of pulls) history.queued(bob, pull)
  const [first, second] = pulls
  assert(first !== undefined && second !== undefined)
  const ended = () => ({ at: history.tick(), startedAt: iso(history.now), finishedAt: iso(history.now + 1000) })
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'success' } }, ended())
  history.left(bob, first)
  fileBatch(history, { tip: HIGH, pulls: [second], runs: { test: 'running' } }, ended())
  assert.deepEqual(
    happened(history)
      .slice(0, 4)
      .map(({ kind }) => kind),
    ['built', 'dropped', 'left', 'built'],
  )
  const view = history.view()
  const lines = timeline(view, history.see(second)).map(({ says }) => text(says, history))
  assert.ok(lines.includes('Its batch of 2 was dropped: “One” left the queue'), lines.join('\n'))
})

test('AHD-1 a batch that was built on another one is said to run ahead', () => {
  const history = new History()
  const pulls = [history.pull(dave), history.pull(dave)]
  for (const pull of pulls) history.queued(bob, pull)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'running' } })
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(1), runs: { test: 'running' } })
  assert.equal(said(history)[0], 'accent | rigby.test built a batch of 1 ahead')
})

test('STW-10 ejections, what the steward made of them, and a lander that stopped are told', () => {
  const history = new History()
  history.lander(rigby, { startedAt: iso(history.now + MINUTE), stoppedAt: iso(history.now + 9 * MINUTE) })
  const pull = history.pull(dave, { title: 'One' })
  history.queued(bob, pull)
  const ejection = history.ejected(rigby, pull, { reason: 'test failed. It failed alone.' })
  history.decided(rigby, ejection, pull, { verdict: 'reject', kind: 'other' })
  history.queued(rigby, pull, { requeue: { kind: 'flake', head: HEAD, attempt: 1, evidence: [] } })
  history.queued(carol, pull, { requeue: { kind: 'flake', head: HEAD, attempt: 1, evidence: [] } })
  assert.deepEqual(said(history), [
    'attention | rigby.test was stopped',
    'attention | The steward put it back: a known flake, 1 of 2 at this head. | One',
    'danger | The steward rejected | One',
    'danger | Ejected, test failed | One',
    'plain | bob.test queued | One',
    'plain | rigby.test started',
  ])
})

test('HON-2 strangers leave no line, and a list ends at its newest 50', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(mallory, pull)
  assert.deepEqual(happened(history), [])
  for (let i = 0; i < 40; i++) {
    history.queued(bob, pull)
    history.left(bob, pull)
  }
  assert.equal(happened(history).length, 50)
})

test('MOV-4 every cause of a drop is read as it was written', () => {
  assert.deepEqual(
    DROPS.map(cause => readDrop(dropWords(cause))),
    DROPS,
  )
  assert.deepEqual([readDrop(undefined), readDrop('cancelled by hand')], [undefined, undefined])
})
