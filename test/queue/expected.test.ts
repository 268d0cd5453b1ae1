import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asking } from '../../src/queue/asking.ts'
import { type Expected, expectedOfBatch, expectedOfWaiting, usualRun } from '../../src/queue/expected.ts'
import type { BranchHistory, PastBatch } from '../../src/queue/history.ts'
import { landsIn } from '../../src/queue/words/expected.ts'
import { plain } from '../../src/queue/words/phrase.ts'
import { rangeText } from '../../src/queue/words/range.ts'
import { text } from './asking-support.ts'
import { fileBatch } from './batch-support.ts'
import { type AtUri, bob, commit, dave, History, MINUTE, rigby } from './support.ts'

const LOW = commit(0xa01)
const HIGH = commit(0xa02)

/** Batches that took so many minutes each, newest first, with a run of `test` that took all of it. */
function past(minutes: readonly number[], outcome: PastBatch['outcome'] = 'passed'): PastBatch[] {
  return minutes.map((took, at) => {
    const startedAt = -at * 60 * MINUTE
    const endedAt = startedAt + took * MINUTE
    const run = { workflow: 'test', state: outcome === 'passed' ? 'passed' : 'failed', startedAt, finishedAt: endedAt }
    return { branch: 'main', base: LOW, tip: HIGH, runner: rigby, size: 2, outcome, startedAt, endedAt, runs: [run] }
  })
}

function line(count: number, settings: Parameters<History['lander']>[1] = { batch: 2 }) {
  const history = new History()
  history.lander(rigby, settings)
  const pulls = Array.from({ length: count }, () => history.pull(dave))
  for (const pull of pulls) history.queued(bob, pull)
  return { history, pulls }
}

function asking(history: History, batches: readonly PastBatch[], now = history.now): Asking {
  const kept: BranchHistory = { batches }
  return { now, history: branch => (branch === 'main' ? kept : { batches: [] }) }
}

/** In minutes from now, or why not. */
function said(of: Expected | undefined, history: History, now = history.now): unknown {
  if (of === undefined) return undefined
  return 'none' in of ? text(of.none, history) : [of.from, of.to].map(time => Math.round((time - now) / MINUTE))
}

function seen(history: History, now = history.now) {
  const view = history.view(now)
  const branch = view.branches.get('main')
  if (branch === undefined) throw new Error('no main')
  const waiting = (pull: AtUri | undefined, of: Asking, because?: Parameters<typeof expectedOfWaiting>[4]) =>
    said(expectedOfWaiting(view, branch, pull ?? '', of, because), history, now)
  const batch = (at: number, of: Asking, standstill?: 'silent') => {
    const it = branch.batches[at]
    return it && said(expectedOfBatch(branch, it, of, standstill), history, now)
  }
  return { waiting, batch }
}

const twenty = Array.from({ length: 20 }, (_, at) => 10 + (at % 5))

test('what a run usually takes is the middle of the last 20 that passed', () => {
  const of = usualRun({ batches: [...past(twenty), ...past([500, 500, 500])] }, 'test')
  assert.deepEqual(of && [of.from, of.typical, of.to].map(ms => ms / MINUTE), [10, 12, 14])
  assert.equal(usualRun({ batches: past([10, 11]) }, 'test'), undefined, 'too few')
  assert.equal(usualRun({ batches: past(twenty, 'failed') }, 'test'), undefined, 'only what passed')
  assert.equal(usualRun({ batches: past(twenty) }, 'other'), undefined)
  assert.equal(usualRun(undefined, 'test'), undefined)
})

test('a batch in flight lands within what the rest of those that took longer leaves, with its basis', () => {
  const { history, pulls } = line(2)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' } })
  const at = (minutes: number) =>
    seen(history, history.now + minutes * MINUTE).batch(0, asking(history, past(twenty), history.now + minutes * MINUTE))
  assert.deepEqual(at(0), [10, 14])
  assert.deepEqual(at(4), [6, 10])
  assert.deepEqual(at(12.5), [1, 2], 'only those of 13 and 14 minutes are left')
  assert.equal(at(15), 'No estimate: it takes longer than any of the last 20 batches.')
  const view = history.view()
  const branch = view.branches.get('main')
  const [batch] = branch?.batches ?? []
  const of = branch && batch && expectedOfBatch(branch, batch, asking(history, past(twenty)))
  assert.equal(of && 'basis' in of && text(of.basis, history), 'from the last 20 batches that passed')
})

test('AHD-2 a batch ahead lands no earlier than the one under it', () => {
  const { history, pulls } = line(4)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 2), runs: { test: 'running' } })
  history.now += 2 * MINUTE
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(2), runs: { test: 'running' } })
  const of = asking(history, past(twenty))
  assert.deepEqual(
    [seen(history).batch(0, of), seen(history).batch(1, of)],
    [
      [7, 11],
      [10, 14],
    ],
  )
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(2), runs: { test: 'success' } })
  assert.deepEqual(seen(history).batch(1, of), seen(history).batch(0, of), 'passed, it waits for the one under it alone')
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(2), runs: { test: 'failure' } })
  assert.match(String(seen(history).batch(1, of)), /^No estimate: a check of its batch failed/)
})

test('AHD-1 who waits lands with the batch that its place gives, as many in flight as the lander runs', () => {
  const fixed = past(Array(20).fill(10))
  const { history, pulls } = line(8)
  const places = () => pulls.map(pull => seen(history).waiting(pull, asking(history, fixed)))
  const ten = [10, 10]
  const twentyOn = [20, 20]
  assert.deepEqual(places(), [ten, ten, ten, ten, twentyOn, twentyOn, twentyOn, twentyOn], 'two batches of two at once')
  history.lander(rigby, { batch: 2, depth: 1 })
  assert.deepEqual([places()[0], places()[3], places()[7]], [ten, twentyOn, [40, 40]])
  history.lander(rigby, { batch: 8, depth: 1 })
  assert.deepEqual(places()[7], ten)
})

test('who waits behind batches in flight joins the one that is built when the lowest ends', () => {
  const { history, pulls } = line(6)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 2), runs: { test: 'running' } })
  history.now += 4 * MINUTE
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(2, 4), runs: { test: 'running' } })
  const fixed = past(Array(20).fill(10))
  assert.deepEqual(seen(history).waiting(pulls[5], asking(history, fixed)), [15, 15])
  assert.equal(seen(history).waiting(pulls[0], asking(history, fixed)), undefined, 'what is in a batch does not wait')
})

test('over several batches a range grows more slowly than the batches’ own', () => {
  const { history, pulls } = line(32, { batch: 2, depth: 1 })
  const spans = past(Array.from({ length: 20 }, (_, at) => 10 + (at % 11)))
  const [from, to] = seen(history).waiting(pulls[31], asking(history, spans)) as [number, number]
  assert.ok(from > 16 * 11 && to < 16 * 19 && to - from > 10, `${from}–${to}`)
})

test('PRE-5 who waits for a pre-flight may miss its batch, and those behind it move up', () => {
  const { history, pulls } = line(3, { batch: 1, depth: 1 })
  const [first, second] = pulls
  assert.ok(first !== undefined)
  history.check(rigby, { pull: first, workflow: 'check', status: 'running', queue: 'first' })
  const of = asking(history, past(Array(20).fill(10)))
  assert.deepEqual(seen(history).waiting(first, of), [10, 20])
  assert.deepEqual(seen(history).waiting(second, of), [10, 20], 'first if the other is not ready in time')
})

test('BLD-9 a batch that may fill is built when its time is over', () => {
  const { history, pulls } = line(1, { batch: 4, wait: 600 })
  const of = asking(history, past(Array(20).fill(10)))
  assert.deepEqual(seen(history).waiting(pulls[0], of), [20, 20])
})

test('where there is no estimate the reason is said', () => {
  const { history, pulls } = line(1)
  const none = (batches: readonly PastBatch[], because = {}) => seen(history).waiting(pulls[0], asking(history, batches), because)
  assert.equal(none([]), 'No estimate: no batch has passed here yet.')
  assert.equal(none(past([10])), 'No estimate: only 1 batch has passed here lately, and 3 are needed.')
  assert.equal(none([...past([9, 9, 9, 9]), ...past(Array(6).fill(9), 'failed')]), 'No estimate: only 4 of the last 10 batches passed.')
  assert.equal(none(past(twenty), { standstill: 'silent' }), 'No estimate: no lander is seen.')
  assert.equal(none(past(twenty), { held: 'ahead' }), 'No estimate: it hangs on what becomes of a pull ahead of it.')
  assert.equal(none(past(twenty), { held: 'conflict' }), 'No estimate: it does not apply on its branch as it is.')
  assert.equal(seen(history).waiting(pulls[0], { now: history.now }), undefined, 'nobody keeps a history')
})

test('times of clocks that are off say nothing', () => {
  const { history, pulls } = line(1)
  const odd = past([10, 10, -5, 0, 60 * 24 * 30])
  assert.match(String(seen(history).waiting(pulls[0], asking(history, odd))), /^No estimate: only 2 batches/)
})

test('ranges are said in one unit, and never as a false minute', () => {
  const said = (from: number, to: number) => rangeText(from * MINUTE, to * MINUTE)
  assert.deepEqual(
    [said(8, 10), said(8.4, 9.2), said(0, 0.2), said(-3, 2.1), said(30, 38), said(9, 9), said(50, 100), said(301, 415), said(0.5, 120)],
    ['8–10 min', '8–10 min', 'under 1 min', 'under 3 min', '30–38 min', 'about 9 min', '50 min to 2 h', '5–7 h', 'under 2 h'],
  )
  assert.deepEqual([said(60 * 50, 60 * 80), said(0, 60 * 24 * 40)], ['2–4 days', 'more than a week'])
  assert.equal(
    plain([landsIn(8 * MINUTE, 10 * MINUTE)], 0, () => undefined),
    'in 8–10 min',
  )
})

test('ranges hold: of batches that take what others took, four of five land within them, whenever one looks', () => {
  // A fixed sequence, so that every run sees the same batches: each takes about 12 minutes, some far longer.
  let seed = 7
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed / 2 ** 31
  }
  const took = () => 8 + 6 * next() + (next() < 0.1 ? 20 * next() : 0)
  let [held, of] = [0, 0]
  for (let round = 0; round < 300; round++) {
    const { history, pulls } = line(1)
    fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' } })
    const kept = past(Array.from({ length: 20 }, took))
    const mine = took()
    const looked = mine * next()
    const now = history.now + looked * MINUTE
    const branch = history.view(now).branches.get('main')
    const [batch] = branch?.batches ?? []
    const expected = branch && batch && expectedOfBatch(branch, batch, asking(history, kept, now))
    if (expected === undefined || 'none' in expected) continue
    of += 1
    const landed = history.now + mine * MINUTE
    if (landed >= expected.from - MINUTE && landed <= expected.to + MINUTE) held += 1
  }
  assert.ok(of > 250 && held / of >= 0.8, `${held} of ${of}`)
})

test('what the lander has not looked at yet may wait for its next pass first', () => {
  const { history, pulls } = line(1)
  const at = (passed: number, dueAt?: number) => {
    const lastSeen = new Map([[rigby, { at: history.now + passed * MINUTE, dueAt: dueAt && history.now + dueAt * MINUTE }]])
    return seen(history).waiting(pulls[0], { ...asking(history, past(twenty)), lastSeen })
  }
  assert.deepEqual(at(0, 5), [10, 14], 'it has passed since')
  assert.deepEqual(at(-30, 5), [10, 19])
  assert.deepEqual(at(-30), [10, 14], 'it did not say when')
  fileBatch(history, { tip: LOW, pulls: [history.pull(dave)], runs: { test: 'running' } })
  assert.deepEqual(at(-30, 5), [10, 14], 'the end of what is being checked rings it')
})
