import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHonour } from '../../../src/queue/honour.ts'
import { readRoles } from '../../../src/queue/roles.ts'
import { compareAt, type FigureFacts, type FigureRun, figuresOf, spanFigures, spanStart } from '../../../src/queue/stats/figures.ts'
import { readStory, type StoryRow } from '../../../src/queue/stats/story.ts'
import { readStanding } from '../../../src/queue/transfer.ts'
import { dropWords } from '../../../src/queue/words/runner.ts'
import { alice, bob, carol, commit, dave, HEAD, History, MINUTE, mallory, rigby } from '../support.ts'

const DAY = 86_400_000
const entryOf = (by: typeof alice, rkey: string) => `at://${by}/dev.knotless.queue/${rkey}` as const
const none: FigureFacts = { events: [], batches: [], runs: [] }

/** A history's records as figures take them. */
function storyOf(history: History, there?: (commit: string) => boolean | undefined) {
  const { repo, transferredFrom, transferredTo } = history.facts()
  const now = history.now + MINUTE
  const standing = readStanding({ repo, transferredFrom, transferredTo }, now)
  const rows = [...history.queue, ...history.states].flatMap((record): StoryRow[] => {
    const { did, rkey, value } = record
    const pull = history.pulls.find(({ uri }) => uri === value.subject)
    if (pull === undefined) return []
    const about = { pull: pull.uri, author: pull.did, branch: pull.value.branch, did, rkey, state: value.state, createdAt: value.createdAt }
    if (value.$type === 'dev.knotless.queue') return [{ ...about, kind: value.kind, ends: value.ends }]
    return [{ ...about, there: value.commit === undefined ? undefined : there?.(value.commit) }]
  })
  return readStory(rows, createHonour(standing, readRoles(standing.governing)), now)
}

const said = (events: ReturnType<typeof readStory>) =>
  events.map(event =>
    event.kind === 'landed' ? `landed ${event.waitedMs / MINUTE}` : event.kind === 'ejected' ? `ejected ${event.why}` : event.kind,
  )

test('REA-3 queued to landed counts from the first queue record to the landing, past ejections', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(alice, pull)
  history.queued(bob, pull)
  history.ejected(rigby, pull, { kind: 'conflict' })
  history.queued(bob, pull)
  history.ejected(rigby, pull, { kind: 'branch-gone' })
  history.queued(alice, pull)
  history.merged(rigby, pull, { commit: commit(7), batch: commit(7) })
  assert.deepEqual(said(storyOf(history)), ['queued', 'ejected conflict', 'queued', 'ejected branch-gone', 'queued', 'landed 6'])
})

test('REA-3 what was never queued, left, was closed or is not there does not count as landed; the rest does once', () => {
  const history = new History()
  const [byHand, left, closed, lost, twice] = [
    history.pull(dave),
    history.pull(dave),
    history.pull(dave),
    history.pull(dave),
    history.pull(dave),
  ]
  history.merged(alice, byHand, { commit: commit(7) })
  history.queued(alice, left)
  history.left(alice, left)
  history.queued(alice, closed)
  history.closed(dave, closed)
  history.ejected(rigby, closed, { kind: 'draft' })
  history.queued(alice, lost)
  history.merged(rigby, lost, { commit: commit(8) })
  history.queued(alice, twice)
  history.merged(rigby, twice, { commit: commit(9) })
  history.merged(alice, twice, { commit: commit(9) })
  assert.deepEqual(said(storyOf(history, id => id !== commit(8))), ['queued', 'queued', 'queued', 'queued', 'landed 1'])
})

test('REA-3 HON-2 records of strangers and keys out of their time count for nothing; those of who was taken out count until then', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(mallory, pull)
  history.ejected(dave, pull)
  history.queued(carol, pull, { createdAt: history.now - 3 * DAY })
  history.queued(carol, pull)
  history.takeOut(carol)
  history.queued(carol, pull)
  history.merged(rigby, pull, { commit: HEAD })
  assert.deepEqual(said(storyOf(history)), ['queued', 'landed 2'])
  history.takeOut(carol, { void: true })
  assert.deepEqual(said(storyOf(history)), [])
})

test('REA-3 REC-10 an ejection that names an entry from before the last end turns nothing away', () => {
  const history = new History()
  const pull = history.pull(dave)
  const first = history.queued(alice, pull)
  history.left(alice, pull)
  history.queued(alice, pull)
  history.ejected(rigby, pull, { ends: entryOf(alice, first.rkey) })
  assert.deepEqual(said(storyOf(history)), ['queued', 'queued'])
})

test('REA-3 the median and the 95th percentile are of all landings of a day', () => {
  const at = spanStart(Date.UTC(2026, 10, 30, 12), 1)
  const landed = (...minutes: number[]): FigureFacts => ({
    ...none,
    events: minutes.map((n, i) => ({ kind: 'landed', at: at + i, pull: `${i}`, branch: 'main', waitedMs: n * MINUTE })),
  })
  const of = (...minutes: number[]) => {
    const { medianMs, p95Ms, landed: n } = figuresOf(landed(...minutes))
    return [n, (medianMs ?? Number.NaN) / MINUTE, (p95Ms ?? Number.NaN) / MINUTE]
  }
  assert.deepEqual(of(30, 10, 20), [3, 20, 30])
  assert.deepEqual(of(10, 40, 20, 30), [4, 25, 40])
  assert.deepEqual(of(...Array.from({ length: 100 }, (_, n) => n + 1)), [100, 50.5, 95])
  assert.equal(figuresOf(none).medianMs, undefined)
})

test('REA-3 batches count by the day that they ended on, dropped ones not among the ended, and the longest run of each is averaged', () => {
  const now = Date.UTC(2026, 10, 30, 12)
  const from = spanStart(now, 3)
  const batch = (day: number, outcome: FigureFacts['batches'][number]['outcome'], minutes?: number) => ({
    branch: 'main',
    outcome,
    endedAt: from + day * DAY + MINUTE,
    longestMs: minutes === undefined ? undefined : minutes * MINUTE,
  })
  const facts = {
    ...none,
    batches: [
      batch(0, 'passed', 10),
      batch(0, 'failed', 20),
      batch(1, 'cancelled'),
      batch(2, 'no-verdict'),
      batch(2, 'passed', 9),
      batch(3, 'passed', 1),
    ],
  }
  const { days, all } = spanFigures(facts, from, 3)
  assert.deepEqual(
    days.map(day => [day.day, day.batchesEnded, day.batchesPassed, day.longestMs === undefined ? undefined : day.longestMs / MINUTE]),
    [
      ['2026-11-28', 2, 1, 15],
      ['2026-11-29', 0, 0, undefined],
      ['2026-11-30', 2, 1, 9],
    ],
  )
  assert.deepEqual([all.batchesEnded, all.batchesPassed, (all.longestMs ?? 0) / MINUTE], [4, 2, 13], 'the day after is not in it')
})

test('REA-3 MOV-4 cancelled runs count by their cause, and tests that passed on a retry by workflow and name', () => {
  const run = (more: Partial<FigureRun>): FigureRun => ({
    branch: 'main',
    workflow: 'test',
    state: 'cancelled',
    endedAt: 0,
    retried: [],
    ...more,
  })
  const { cancelled, cancellations, retried, retries } = figuresOf({
    ...none,
    runs: [
      run({ cause: dropWords('branch-moved') }),
      run({ cause: dropWords('branch-moved') }),
      run({ cause: dropWords('pull-moved-on') }),
      run({ cause: dropWords('batch-failed') }),
      run({ cause: dropWords('stopping') }),
      run({ state: 'no-verdict', verdict: 'restart' }),
      run({ state: 'no-verdict', verdict: 'disk' }),
      run({ cause: 'somebody pressed a button' }),
      run({ state: 'passed', retried: ['a', 'b'] }),
      run({ state: 'passed', retried: ['b'] }),
      run({ state: 'passed', workflow: 'lint', retried: ['b'] }),
    ],
  })
  assert.deepEqual(cancelled, { restart: 2, 'branch-moved': 2, 'pull-moved-on': 1, 'batch-failed': 1, other: 1 })
  assert.equal(cancellations, 7)
  assert.deepEqual(
    retried.map(({ workflow, test: name, times }) => [workflow, name, times]),
    [
      ['test', 'b', 2],
      ['lint', 'b', 1],
      ['test', 'a', 1],
    ],
  )
  assert.equal(retries, 4)
})

test('REA-3 the days before and after a day stand side by side, the day itself with those after', () => {
  const day = Date.UTC(2026, 10, 20)
  const queued = (at: number) => ({ kind: 'queued' as const, at, pull: 'p', branch: 'main' })
  const facts = { ...none, events: [-8, -7, -1, 0, 1, 6, 7].map(n => queued(day + n * DAY)) }
  const compared = compareAt(facts, day, 7, day + 30 * DAY)
  assert.deepEqual([compared.before.queued, compared.since.queued, compared.sinceDays], [2, 3, 7])
  assert.deepEqual(compareAt(facts, day, 7, day + DAY + 1).sinceDays, 2)
})
