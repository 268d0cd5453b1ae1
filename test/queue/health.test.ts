import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asking } from '../../src/queue/asking.ts'
import { queueHealth } from '../../src/queue/health.ts'
import { leaving } from '../../src/queue/leaving.ts'
import { standing } from '../../src/queue/standing.ts'
import { timeline } from '../../src/queue/timeline.ts'
import { dropWords } from '../../src/queue/words/runner.ts'
import { text } from './asking-support.ts'
import { fileBatch, land } from './batch-support.ts'
import { type AtUri, alice, bob, carol, commit, dave, History, MINUTE, mallory, rigby } from './support.ts'

const LOW = commit(0xa01)
const HIGH = commit(0xa02)

function health(history: History, asking: Partial<Asking> = {}) {
  const now = history.now + MINUTE
  const view = history.view(now)
  const branch = view.branches.get('main')
  if (branch === undefined) throw new Error('no main')
  return queueHealth(view, branch, { now, lastSeen: new Map([[rigby, { at: now }]]), ...asking })
}

function said(history: History, asking?: Partial<Asking>): string {
  const { kind, bold, says, advice } = health(history, asking)
  return `${kind}: ${bold} ${text(says, history)}${advice === undefined ? '' : ` ${text(advice, history)}`}`
}

function line(count: number, record: ConstructorParameters<typeof History>[0] = {}) {
  const history = new History(record)
  history.tip()
  const pulls = Array.from({ length: count }, () => history.pull(dave))
  for (const pull of pulls) history.queued(bob, pull)
  return { history, pulls }
}

test('STA-4 no runners: merged by hand', () => {
  const { history } = line(1, { runners: [] })
  assert.equal(
    said(history),
    'no-runners: No queue here: alice.test/orchard names no runner, so its pulls are merged by hand. alice.test can name a runner.',
  )
})

test('STA-4 no lander has been seen, ever', () => {
  const { history } = line(2)
  assert.equal(
    said(history, { lastSeen: undefined }),
    'never-lander: Not started: no lander has been seen. rigby.test is named as the runner here. Nothing lands until it is started. All 2 keep their places. alice.test can start it.',
  )
  assert.match(said(history, { lastSeen: new Map(), caller: alice }), /Start it, and the queue goes on\.$/)
})

test('STA-4 no lander has been seen since a time', () => {
  const { history } = line(1)
  const at = history.now - 141 * MINUTE
  const of = health(history, { lastSeen: new Map([[rigby, { at }]]) })
  assert.deepEqual([of.kind, of.since, of.label.word, of.label.tone], ['no-lander', at, 'Stalled', 'danger'])
  assert.match(said(history, { lastSeen: new Map([[rigby, { at }]]) }), /no lander has been seen since \d\d:\d\d UTC, 2 h 22 min ago\./)
})

test('STA-4 a pull that was turned away and queued again was turned away nonetheless: that is no stall', () => {
  const { history, pulls } = line(2)
  const [first] = pulls
  history.now += 50 * MINUTE
  if (first !== undefined) history.ejected(rigby, first, { kind: 'checks' })
  const ejectedAt = history.now
  if (first !== undefined) history.queued(bob, first)
  history.now += 20 * MINUTE
  const stallAfter = 60 * MINUTE
  assert.equal(health(history, { stallAfter }).kind, 'waiting')
  history.now += 40 * MINUTE
  const stalled = health(history, { stallAfter })
  assert.equal(stalled.kind, 'stall')
  assert(Math.abs((stalled.since ?? 0) - ejectedAt) <= MINUTE)
})

test('STA-4 stalled: something is queued, the lander runs, and nothing has landed or been turned away for long', () => {
  const { history } = line(1)
  const queuedAt = history.now
  history.now += 70 * MINUTE
  const lastSeen = new Map([[rigby, { at: history.now, says: 'Waiting for a free job.' }]])
  const stalled = health(history, { lastSeen, stallAfter: 60 * MINUTE })
  assert.equal(stalled.kind, 'stall')
  assert(Math.abs((stalled.since ?? 0) - queuedAt) < MINUTE)
  assert.match(
    said(history, { lastSeen, stallAfter: 60 * MINUTE }),
    /^stall: Stalled: nothing has landed or been turned away for 1 h \d+ min, though rigby.test was seen .* It last said: Waiting for a free job\./,
  )
  assert.equal(health(history, { lastSeen, stallAfter: 80 * MINUTE }).kind, 'waiting', 'not yet')
  assert.equal(health(history, { lastSeen }).kind, 'waiting', 'nobody judges it')
  assert.equal(
    health(history, { lastSeen: undefined, stallAfter: 60 * MINUTE }).kind,
    'never-lander',
    'a lander that is not there is said first',
  )
})

test('STA-4 an ejection is a move, and an empty queue never stalls', () => {
  const { history, pulls } = line(2)
  history.now += 70 * MINUTE
  const [first, second] = pulls
  assert(first !== undefined && second !== undefined)
  history.ejected(rigby, first)
  const stallAfter = 60 * MINUTE
  assert.equal(health(history, { lastSeen: new Map([[rigby, { at: history.now }]]), stallAfter }).kind, 'waiting')
  history.now += 61 * MINUTE
  assert.equal(health(history, { lastSeen: new Map([[rigby, { at: history.now }]]), stallAfter }).kind, 'stall')
  history.left(bob, second)
  history.now += 61 * MINUTE
  assert.equal(health(history, { lastSeen: new Map([[rigby, { at: history.now }]]), stallAfter }).kind, 'idle')
})

test('STA-4 a lander that starts again and again moves nothing', () => {
  const { history } = line(1)
  history.now += 70 * MINUTE
  history.lander(rigby)
  assert.equal(health(history, { stallAfter: 60 * MINUTE }).kind, 'stall')
})

test('STA-4 MOV-7 three drops without a landing within the hour are churn; a landing, or time, ends it', () => {
  const { history, pulls } = line(2)
  const drop = (n: number) => fileBatch(history, { tip: commit(0xc00 + n), pulls, runs: { test: 'cancelled' } })
  drop(1)
  history.now += 5 * MINUTE
  drop(2)
  assert.equal(health(history).kind, 'waiting')
  history.now += 5 * MINUTE
  drop(3)
  assert.match(said(history), /^churn: Churning: 3 batches were dropped since \d\d:\d\d UTC and none landed\. .*Hold direct pushes to main/)
  history.now += 70 * MINUTE
  assert.equal(health(history).kind, 'waiting', 'that was long ago')
  for (const n of [4, 5, 6]) drop(n)
  assert.equal(health(history).kind, 'churn')
  const landing = history.pull(dave)
  history.queued(bob, landing)
  land(history, { tip: HIGH, pulls: [landing], runs: {} })
  assert.equal(health(history).kind, 'waiting', 'something landed since')
})

test('MOV-7 what fails with the batch under it is no churn: nothing moved', () => {
  const { history, pulls } = line(2)
  for (const n of [1, 2, 3, 4]) {
    const low = commit(0xc00 + n)
    const [lower, upper] = [pulls.slice(0, 1), pulls.slice(1)]
    fileBatch(history, { tip: low, pulls: lower, runs: { test: 'failure' } }, { at: history.tick() })
    const runs = { test: n % 2 === 0 ? ('cancelled' as const) : ('success' as const) }
    const cause = n % 2 === 0 ? { cause: dropWords('batch-failed') } : {}
    fileBatch(history, { tip: commit(0xd00 + n), base: low, pulls: upper, runs }, { at: history.tick(), ...cause })
  }
  assert.equal(health(history).kind, 'waiting')
})

test('BLD-9 a batch that is let fill says so, as long as it does', () => {
  const { history, pulls } = line(2)
  history.lander(rigby, { batch: 8, wait: 600, lease: undefined })
  assert.match(said(history), /^filling: Healthy: 2 waiting\. rigby\.test lets a batch fill for up to 10 min before it starts\.$/)
  const [first] = pulls
  assert(first)
  const now = history.now + MINUTE
  const view = history.view(now)
  const why = () => text(standing(view, history.see(first, now), { now, lastSeen: new Map([[rigby, { at: now }]]) }).why, history)
  assert.match(why(), /^Ready\. rigby\.test gives the batch \d+ min more to fill\.$/)
  history.lander(rigby, { batch: 2, wait: 600, lease: undefined })
  assert.equal(health(history).kind, 'waiting', 'it is full')
  history.lander(rigby, { batch: 8, wait: 30, lease: undefined })
  assert.equal(health(history).kind, 'waiting', 'its time is over')
})

test('ADM-11 an unchecked branch is said before what is going on', () => {
  const { history } = line(1)
  history.tip({ workflows: [] })
  assert.match(said(history), /^unchecked: Unchecked: no workflow on main runs on a pull into it\./)
})

test('STA-4 what is going on is said in figures', () => {
  const { history, pulls } = line(5)
  assert.equal(said(history), 'waiting: Healthy: 5 waiting, nothing landed yet. rigby.test builds a batch in its next pass.')
  land(history, { tip: commit(0xa00), pulls: [history.pull(dave)], runs: {} })
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 2), runs: { test: 'running' } })
  assert.equal(said(history), 'checking: Healthy: 3 waiting, a batch of 2 being checked for 1 min, last landing 2 min ago.')
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(2, 4), runs: { test: 'running' } })
  assert.equal(said(history), 'busy: Healthy: 1 waiting, a batch of 2 being checked for 2 min with one of 2 ahead, last landing 3 min ago.')
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 2), runs: { test: 'success' } })
  assert.equal(said(history), 'busy: Healthy: 1 waiting, a batch of 2 landing with one of 2 ahead, last landing 4 min ago.')
})

test('STA-4 an idle queue says so', () => {
  const { history } = line(0)
  assert.equal(said(history), 'idle: Healthy and idle: nothing is queued, and nothing has landed yet.')
})

test('STA-4 MOV-5 a lander that stopped and is seen winds down while a batch is in flight, then it was stopped', () => {
  const { history, pulls } = line(2)
  const [first, second] = pulls
  assert(first && second)
  history.lander(rigby, { stoppedAt: '2026-01-01T00:05:00Z' })
  assert.match(said(history), /^stopping: Stopped: rigby\.test was stopped, so nothing lands here for now\. What is queued keeps its place/)
  const now = history.now + MINUTE
  const { why } = standing(history.view(now), history.see(second, now), { now, lastSeen: new Map([[rigby, { at: now }]]) })
  assert.equal(text(why, history), 'Waiting: rigby.test was told to stop and starts nothing new. It keeps its place.')
  fileBatch(history, { tip: LOW, pulls: [first], runs: { test: 'running' } })
  assert.match(said(history), /^stopping: Winding down: rigby\.test is stopping\. It finishes the batch being checked/)
})

test('leaving says what it costs the others', () => {
  const { history, pulls } = line(5)
  const costs = (n: number) => {
    const pull = pulls[n]
    if (pull === undefined) throw new Error('no pull')
    const found = leaving(history.view(), history.see(pull))
    return [text(found?.question, history), text(found?.beside, history)]
  }
  assert.deepEqual(costs(4), [
    'Leave the queue? This gives up 5th place; nobody else is affected.',
    'Leaving gives up 5th place. Nobody else is affected.',
  ])
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 2), runs: { test: 'running' } })
  assert.deepEqual(costs(0)[1], 'Leaving stops this batch: 1 other pull is checked again.')
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(2, 4), runs: { test: 'running' } })
  assert.deepEqual(costs(0)[1], 'Leaving stops this batch and the one ahead of it: 3 other pulls are checked again.')
  assert.deepEqual(costs(2)[1], 'Leaving stops this batch: 1 other pull is checked again.')
})

test('leaving: a held draft can be taken out, and what is not queued has nothing to leave', () => {
  const { history, pulls } = line(1)
  const [pull] = pulls
  assert.ok(pull !== undefined)
  history.editPull(pull, { draft: true })
  assert.match(text(leaving(history.view(), history.see(pull))?.page, history), /^“Ripen” is held as a draft\./)
  history.left(bob, pull)
  assert.equal(leaving(history.view(), history.see(pull)), undefined)
})

function happened(history: History, pull: AtUri) {
  return timeline(history.view(), history.see(pull))
}

test('the timeline tells what records say, oldest first, each with its record', () => {
  const history = new History()
  const pull = history.pull(dave)
  const queued = history.queued(bob, pull)
  history.left(bob, pull)
  history.queued(carol, pull)
  const ejected = history.ejected(rigby, pull, {
    reason: 'test failed. It failed alone.',
    checks: [{ workflow: 'test', status: 'failure', check: `at://${rigby}/dev.knotless.check/a` }],
  })
  history.closed(dave, pull)
  history.opened(dave, pull)
  const events = happened(history, pull)
  assert.deepEqual(
    events.map(event => [event.kind, event.tone, text(event.says, history)]),
    [
      ['opened', undefined, 'dave.test opened it from topic'],
      ['queued', 'attention', 'bob.test queued it'],
      ['left', undefined, 'bob.test took it out of the queue'],
      ['queued', 'attention', 'carol.test queued it again'],
      ['ejected', 'danger', 'Ejected: test failed. It failed alone.'],
      ['closed', 'danger', 'dave.test closed it'],
      ['reopened', 'success', 'dave.test opened it again'],
    ],
  )
  assert.equal(events[1]?.record, queued.uri)
  assert.deepEqual(events[4]?.failed, ejected.value.checks)
})

test('HON-2 a stranger’s record is no part of the timeline', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(mallory, pull)
  history.closed(mallory, pull)
  assert.equal(happened(history, pull).length, 1)
})

test('STA-5 the timeline calls landed only what is on the branch', () => {
  const history = new History()
  const pull = history.pull(dave)
  land(history, { tip: LOW, pulls: [pull], runs: {} })
  const last = () => text(happened(history, pull).at(-1)?.says, history)
  assert.equal(last(), 'rigby.test marked it merged as 0000000')
  history.tip({ contains: new Map([[LOW, false]]) })
  assert.equal(last(), 'rigby.test marked it merged as 0000000, which is not on main')
  history.tip({ contains: new Map([[LOW, true]]) })
  assert.equal(last(), 'Landed in main as 0000000')
})

test('checks, the batch it is in and backdated records are in the timeline', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull, { seenAt: history.now + 50 * MINUTE })
  history.check(rigby, { pull, status: 'success', startedAt: '2026-01-01T00:03:00Z', finishedAt: '2026-01-01T00:04:00Z' })
  fileBatch(history, { tip: LOW, pulls: [pull], runs: { test: 'running' } })
  const events = happened(history, pull)
  assert.deepEqual(
    events.slice(1).map(event => text(event.says, history)),
    ['bob.test queued it', 'test passed at 0000000 merged with main', 'In a batch of 1 on main at 0000000'],
  )
  assert.equal(events[1]?.seenAt, events[1]?.at === undefined ? undefined : events[1].at + 49 * MINUTE)
})

test('a timeline ends at its newest 200 events', () => {
  const history = new History()
  const pull = history.pull(dave)
  for (let i = 0; i < 150; i++) {
    history.queued(bob, pull)
    history.left(bob, pull)
  }
  const events = happened(history, pull)
  assert.equal(events.length, 200)
  assert.equal(events.at(-1)?.at, history.now)
})

test('FAI-3 a failed batch that is checked in halves says so, until its cause is known', () => {
  const { history, pulls } = line(5)
  const [first, second, third] = pulls
  assert(first && second && third)
  const stack = { tip: LOW, pulls: pulls.slice(0, 4), runs: { check: 'success', test: 'failure' } } as const
  fileBatch(history, stack)
  history.now += 5 * MINUTE
  const halving =
    /^halving: Finding the cause: a batch of 4 failed \d+ min ago, so rigby\.test checks it in halves\. 1 other waits until the cause is found; nothing runs ahead meanwhile\.$/
  const why = (pull: AtUri) => {
    const now = history.now + MINUTE
    return text(standing(history.view(now), history.see(pull, now), { now, lastSeen: new Map([[rigby, { at: now }]]) }).why, history)
  }
  assert.match(said(history), halving)
  assert.match(why(third), /^Waiting while a failed batch is checked in halves;/)

  const half = { tip: HIGH, pulls: [first, second], runs: { test: 'running' } } as const
  fileBatch(history, half)
  assert.match(said(history), halving)
  fileBatch(history, { ...half, runs: { test: 'success' } })
  history.refsOf(alice, 'orchard', { main: HIGH })
  land(history, half)
  assert.match(said(history), halving, 'the half that landed leaves two to look among')
  assert.match(why(third), /^Waiting while a failed batch/)
  history.ejected(rigby, third)
  assert.equal(health(history).kind, 'waiting', 'FAI-5 a suspect left the queue')
})

test('FAI-5 FAI-8 nothing is said of halves where none are looked for', () => {
  const failing = (size: number, more: Parameters<typeof fileBatch>[2] = {}) => {
    const { history, pulls } = line(5)
    fileBatch(history, { tip: LOW, pulls: pulls.slice(0, size), runs: { test: more.status ?? 'failure' } }, more)
    return { history, pulls }
  }
  assert.equal(health(failing(2).history).kind, 'halving')
  assert.equal(health(failing(1).history).kind, 'waiting', 'one alone')
  assert.equal(health(failing(2, { status: 'error', verdict: 'disk' }).history).kind, 'trouble', 'no verdict')
  const moved = failing(2)
  moved.history.refsOf(alice, 'orchard', { main: commit(0xfff) })
  assert.equal(health(moved.history).kind, 'waiting', 'somebody pushed')
  const other = failing(2)
  fileBatch(other.history, { tip: HIGH, pulls: other.pulls, runs: { test: 'running' } })
  assert.equal(health(other.history).kind, 'checking', 'another batch is checked instead')
})
