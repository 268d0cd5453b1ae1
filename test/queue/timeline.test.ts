import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toDatetime } from '../../src/queue/answers/formats.ts'
import { mergeStatusAnswer } from '../../src/queue/answers/merge-status.ts'
import { timeline, wholeTimeline } from '../../src/queue/timeline.ts'
import { dropWords } from '../../src/queue/words/runner.ts'
import { handle, text } from './asking-support.ts'
import { fileBatch } from './batch-support.ts'
import { type AtUri, alice, bob, carol, commit, dave, History, MINUTE, rigby, TIP } from './support.ts'

const LOW = commit(70)
const HIGH = commit(71)

function said(history: History, pull: AtUri): string[] {
  const view = history.view()
  return timeline(view, history.see(pull)).map(({ says }) => text(says, history))
}

/** A queue of so many pulls, and the batch that the first two are in. */
function line(count: number) {
  const history = new History()
  const pulls = Array.from({ length: count }, (_, n) => history.pull(dave, { title: `Pull ${n}` }))
  for (const pull of pulls) history.queued(bob, pull)
  const [first, second] = pulls
  assert.ok(first !== undefined && second !== undefined)
  return { history, first, second }
}

const dropped = (cause: Parameters<typeof dropWords>[0], at: number) => ({ cause: dropWords(cause), finishedAt: toDatetime(at) })

test('MOV-2 a batch that was dropped stays in the timeline, with the pull that moved on under it', () => {
  const { history, first, second } = line(2)
  const pulls = [first, second]
  const at = history.tick()
  const ends = at + 5 * MINUTE
  const [check] = fileBatch(history, { tip: LOW, pulls, runs: { test: 'cancelled' } }, { at, ...dropped('pull-moved-on', ends) })
  history.left(carol, second, { at: ends - MINUTE })
  const events = timeline(history.view(), history.see(first))
  assert.deepEqual(said(history, first).slice(-2), [
    'In a batch of 2 on main at 0000000',
    'Its batch of 2 was dropped: “Pull 1” left the queue',
  ])
  assert.deepEqual([events.at(-1)?.record, events.at(-1)?.batch, events.at(-1)?.at], [check?.uri, LOW, ends])
  assert.equal(said(history, second).at(-1), 'Its batch of 2 was dropped: it left the queue')
  assert.ok(said(history, second).includes('carol.test took it out of the queue'))
})

test('MOV-4 why a batch was dropped is said as its checks say it', () => {
  const { history, first, second } = line(2)
  const at = history.tick()
  fileBatch(history, { tip: LOW, pulls: [first, second], runs: { test: 'cancelled' } }, { at, ...dropped('branch-moved', at + MINUTE) })
  assert.equal(said(history, first).at(-1), 'Its batch of 2 was dropped: main moved by another push, so it is built again')
})

test('MOV-2 of several that stand otherwise now nothing tells which it was', () => {
  const { history, first, second } = line(2)
  const at = history.tick()
  const pulls = [first, second]
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'cancelled' } }, { at, ...dropped('pull-moved-on', at + MINUTE) })
  // The heads that the batch had.
  history.refsOf(alice, 'orchard', { main: TIP, topic: commit(500), other: commit(501) })
  history.editPull(second, { head: { repo: history.uri, branch: 'other' } })
  history.editPull(first, { draft: true })
  assert.equal(said(history, second).at(-1), 'Its batch of 2 was dropped: “Pull 0” became a draft')
  history.editPull(second, { draft: true })
  assert.equal(said(history, second).at(-1), 'Its batch of 2 was dropped: a pull in it, or under it, moved on')
})

test('a batch that failed, one ahead of it, and what the steward decided are lines with their records', () => {
  const { history, first, second } = line(2)
  const at = history.tick()
  const [failed] = fileBatch(
    history,
    { tip: LOW, pulls: [first], runs: { test: 'failure' } },
    { at, startedAt: toDatetime(at), finishedAt: toDatetime(at + 30_000) },
  )
  fileBatch(
    history,
    { tip: HIGH, base: LOW, pulls: [second], runs: { test: 'cancelled' } },
    { at: at + 20_000, ...dropped('batch-failed', at + 40_000) },
  )
  const ejection = history.ejected(rigby, first, { reason: 'test failed. It failed alone.' })
  const decision = history.decided(rigby, ejection, first, { verdict: 'reject', assertion: 'expected 4' })
  assert.deepEqual(said(history, first).slice(2), [
    'In a batch of 1 on main at 0000000',
    'Its batch of 1 failed: test',
    'Ejected: test failed. It failed alone.',
    'The steward rejected it: “expected 4” failed, which no known flake explains.',
  ])
  const events = timeline(history.view(), history.see(first))
  assert.deepEqual(events.at(3)?.failed, [{ workflow: 'test', status: 'failure', check: failed?.uri }])
  assert.equal(events.at(-1)?.record, decision.uri)
  assert.deepEqual(said(history, second).slice(2), [
    'In a batch of 1 ahead, on top of the one being checked at 0000000',
    'Its batch of 1 was dropped: the batch that it stood on did not land',
  ])
})

test('a timeline ends at its newest 200 events, and says how many there were before', () => {
  const history = new History()
  const pull = history.pull(dave)
  for (let i = 0; i < 150; i++) {
    history.queued(bob, pull)
    history.left(bob, pull)
  }
  const { events, earlier } = wholeTimeline(history.view(), history.see(pull))
  assert.deepEqual([events.length, earlier], [200, 101])
})

test('STA-3 HON-6 getMergeStatus tells the same timeline, and what the caller may change', () => {
  const { history, first } = line(2)
  history.closed(dave, first)
  const view = history.view()
  const answer = mergeStatusAnswer(view, first, { now: history.now + MINUTE, names: handle, version: 1, caller: dave })
  assert.ok(answer.ok)
  const { timeline: lines = [], can } = answer.body
  assert.deepEqual(
    lines.map(({ says }) => says),
    said(history, first),
  )
  assert.deepEqual(
    lines.map(({ record }) => record),
    timeline(view, history.see(first)).map(({ record }) => record),
  )
  assert.deepEqual([can.close?.allowed, can.reopen?.allowed, can.draft?.allowed], [false, true, false])
  assert.equal(can.draft?.refusal?.code, 'pull-not-open')
})
