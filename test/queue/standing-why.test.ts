import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asking, LastSeen } from '../../src/queue/asking.ts'
import { standing } from '../../src/queue/standing.ts'
import { plain } from '../../src/queue/words/phrase.ts'
import { waitWords } from '../../src/queue/words/runner.ts'
import { merges, text } from './asking-support.ts'
import { fileBatch } from './batch-support.ts'
import { type AtUri, bob, commit, dave, History, iso, MINUTE, rigby, TIP } from './support.ts'

const LOW = commit(0xa01)
const HIGH = commit(0xa02)

function line(count: number, settings?: Parameters<History['lander']>[1]) {
  const history = new History()
  if (settings !== undefined) history.lander(rigby, settings)
  const pulls = Array.from({ length: count }, (_, at) => history.pull(dave, { title: `Pull ${at + 1}` }))
  for (const pull of pulls) history.queued(bob, pull)
  const [first, second, third] = pulls
  if (first === undefined) throw new Error('no pulls')
  return { history, pulls, first, second: second ?? first, third: third ?? first }
}

function stand(history: History, pull: AtUri, seen: Partial<LastSeen> = {}, more: Partial<Asking> = {}) {
  const now = history.now + MINUTE
  const asking = { now, lastSeen: new Map([[rigby, { at: history.now, ...seen }]]), ...more }
  return standing(history.view(now), history.see(pull, now), asking)
}

function why(history: History, pull: AtUri, seen?: Partial<LastSeen>): string {
  return text(stand(history, pull, seen).why, history)
}

test('why: a pre-flight that runs at another head than before says that the head moved', () => {
  const { history, first } = line(2)
  const flight = { pull: first, workflow: 'check', queue: 'first' } as const
  history.check(rigby, { ...flight, status: 'success', commit: commit(77) })
  history.check(rigby, { ...flight, status: 'running', startedAt: iso(history.now - MINUTE) })
  assert.equal(
    why(history, first),
    'Waiting for its pre-flight: check runs again because the head moved, for 3 min. Pulls behind it go ahead meanwhile.',
  )
})

test('why: that others go ahead is said only where others are behind', () => {
  const { history, first, second } = line(2)
  for (const pull of [first, second]) history.check(rigby, { pull, workflow: 'check', queue: 'first', status: 'running' })
  assert.match(why(history, first), /^Waiting for its pre-flight: check\. Pulls behind it go ahead meanwhile\.$/)
  assert.doesNotMatch(why(history, second), /behind/)
})

test('PRE-7 why: a pre-flight without a free job says so, and how many are in use where records show it', () => {
  const { history, first, second } = line(2, { jobs: 1 })
  history.check(rigby, { pull: first, workflow: 'check', queue: 'first', status: 'queued' })
  const said = 'Waiting for its pre-flight: check waits for a free job on rigby.test. Pulls behind it go ahead meanwhile.'
  assert.equal(why(history, first), said)
  history.check(rigby, { pull: second, workflow: 'check', queue: 'first', status: 'running' })
  assert.equal(why(history, first), 'Waiting for its pre-flight: check has no free job on rigby.test yet (1 of 1 in use).')
})

test('PRE-3 why: a pre-flight that has not started yet is named before the lander takes it up', () => {
  const { history, first, second } = line(2)
  history.check(rigby, { pull: second, workflow: 'check', queue: 'first', status: 'success' })
  const seen = () => ({ at: history.now - 60 * MINUTE, dueAt: history.now + 1.5 * MINUTE })
  assert.equal(
    why(history, first, seen()),
    'Waiting for its pre-flight: check has not started. rigby.test takes it up in its next pass, within 30 s.',
  )
  assert.equal(stand(history, first, seen()).label, 'waiting')
  history.check(rigby, { pull: first, workflow: 'check', queue: 'first', status: 'success' })
  assert.equal(why(history, first, seen()), 'rigby.test has not looked at it yet: it does in its next pass, within 30 s.')
})

test('PRE-3 why: a pull whose pre-flight the lander takes up is not called ready before a run of it can be read', () => {
  const { history, first, second } = line(2)
  history.check(rigby, { pull: second, workflow: 'check', queue: 'first', status: 'success' })
  const says = plain(waitWords({ for: 'preflights', pulls: 1, workflows: ['check'] }), history.now, () => undefined)
  const queuedAt = history.see(first).entry?.record.seenAt ?? 0
  const soon = (pull: AtUri, seen: Partial<LastSeen>, seconds = 3) => stand(history, pull, seen, { now: queuedAt + seconds * 1000 })
  const { why: said, label } = soon(first, { says })
  assert.equal(text(said, history), 'Waiting for its pre-flight: check has not started. rigby.test is starting it.')
  assert.equal(label, 'waiting')
  for (const ready of [soon(second, { says }), soon(first, {}), soon(first, { says }, 20)]) assert.match(text(ready.why, history), /^Ready/)
})

test('PRE-3 why: a pre-flight that ended without a verdict is run again', () => {
  const { history, first } = line(2)
  history.check(rigby, { pull: first, workflow: 'check', queue: 'first', status: 'error', verdict: 'disk' })
  assert.equal(
    why(history, first),
    'Waiting for its pre-flight: check ended without a verdict and is run again. Pulls behind it go ahead meanwhile.',
  )
})

test('why: a lander that started lately is reading the queue again', () => {
  const { history, first } = line(1)
  history.lander(rigby, { startedAt: iso(history.now), lease: { instance: 'a', until: iso(history.now + 10 * MINUTE) } })
  const long = { at: history.now - 120 * MINUTE }
  assert.equal(why(history, first, long), 'Waiting: rigby.test started 2 min ago and is reading the queue again.')
  assert.equal(why(history, first), 'Ready for the next batch.', 'it has told of a pass since')
  history.now += MINUTE
  assert.match(
    why(history, first, long),
    /^Waiting for a lander: none seen since/,
    'its first pass was due as it started, whatever its lease says',
  )
  const hung = { at: history.now + 0.5 * MINUTE, dueAt: history.now + 0.7 * MINUTE }
  history.now += 4 * MINUTE
  assert.match(
    why(history, first, hung),
    /^Waiting for a lander: none seen since/,
    'its lease holds, but it told of a pass and then no more',
  )
  history.now += 7 * MINUTE
  assert.match(why(history, first, long), /^Waiting for a lander: none seen since/, 'the lease is over, and it never told')
})

test('AHD-4 why: a pull that was passed over by the batch ahead is held, naming what it does not fit on', () => {
  const { history, pulls, second } = line(3)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'running' } })
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(2), runs: { test: 'running' } })
  const of = stand(history, second)
  assert.equal(
    text(of.why, history),
    'Held: it does not fit on top of Pull 1 and Pull 3, which are being checked ahead of it. If that lands, merge main into this pull; if it is turned away, this one goes on by itself.',
  )
  assert.equal(of.label, 'held')
  const unread = why(history, second, { says: 'The head of a pull cannot be read from pds.example: it is left out.' })
  assert.match(unread, /^Ready\./, 'its server could not be read')
  history.check(rigby, { pull: second, workflow: 'check', queue: 'first', status: 'success', finishedAt: iso(history.now) })
  assert.match(why(history, second), /^Ready\./, 'its pre-flight ran when the batch was built')
})

test('AHD-4 why: where it is known what pulls change, a held one names the files, and who changes them too', () => {
  const { history, pulls, second } = line(3)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'running' } })
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(2), runs: { test: 'running' } })
  for (const [at, touched] of [['a.ts', 'b.ts'], ['b.ts', 'c.ts'], ['d.ts']].entries()) merges(history, pulls[at] ?? second, { touched })
  assert.equal(
    why(history, second),
    'Held: it changes b.ts as Pull 1 does, which is being checked ahead of it. If that lands, merge main into this pull; if it is turned away, this one goes on by itself.',
  )
  merges(history, second, { touched: ['e.ts'] })
  assert.match(why(history, second), /^Held: it does not fit on top of Pull 1 and Pull 3,/)
})

test('AHD-4 why: what was queued after a batch was built was not passed over', () => {
  const { history, pulls } = line(2)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' } })
  const late = history.pull(dave)
  history.queued(bob, late)
  assert.equal(why(history, late), 'Ready for the next batch.')
})

test('BLD-6 why: what does not apply on the branch any more is held, and says what is to be done', () => {
  const { history, first } = line(1)
  merges(history, first, { applies: false, conflicts: ['a'] })
  assert.equal(
    why(history, first),
    'Held: it does not apply on main at 0000000 any more, and is turned away when its turn comes. Merge or rebase main to keep its place.',
  )
})

test('AHD-1 why: who waits behind a full batch, behind a full round, and at a depth of one', () => {
  const { history, pulls } = line(5, { batch: 2 })
  const at = (n: number) => why(history, pulls[n] ?? TIPLESS)
  assert.deepEqual(
    [at(1), at(2), at(4)],
    [
      'Ready for the next batch.',
      'Ready. It joins a later batch: 2 pulls are before it.',
      'Ready. It joins a later batch: 4 pulls are before it.',
    ],
  )
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 2), runs: { test: 'running' } })
  assert.equal(at(2), 'Ready. The batch ahead was full with 2 before its turn came; it joins the next one.')
  history.lander(rigby, { batch: 2, depth: 1 })
  assert.match(at(2), /^Ready\. It joins the next batch, which is built when the one being checked ends: one is checked at a time\.$/)
})

const TIPLESS: AtUri = 'at://did:plc:nobody/dev.knotless.pull/none'

test('STA-4 where something is expected to land is part of a standing, or why not', () => {
  const { history, pulls, first, second } = line(2)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'running' } })
  const run = { workflow: 'test', state: 'passed', startedAt: 0, finishedAt: 10 * MINUTE }
  const batch = {
    branch: 'main',
    base: TIP,
    tip: LOW,
    runner: rigby,
    size: 1,
    outcome: 'passed',
    startedAt: 0,
    endedAt: 10 * MINUTE,
    runs: [run],
  } as const
  const kept = { history: () => ({ batches: Array.from({ length: 4 }, () => batch) }) }
  const minutes = (pull: AtUri, more = kept) => {
    const { expected } = stand(history, pull, {}, more)
    return expected === undefined || 'none' in expected ? text(expected?.none, history) : Math.round((expected.to - history.now) / MINUTE)
  }
  assert.deepEqual([minutes(first), minutes(second)], [10, 11])
  const lost = stand(history, second, { at: history.now - 60 * MINUTE }, kept).expected
  assert.equal(lost && 'none' in lost && text(lost.none, history), 'No estimate: no lander is seen.')
  assert.equal(stand(history, first, {}).expected, undefined)
})

test('STA-7 of a lander that is not named no landing is foretold', () => {
  const history = new History()
  history.lander(bob)
  const pull = history.pull(dave)
  history.queued(bob, pull)
  const of = stand(history, pull, {}, { lastSeen: new Map([[bob, { at: history.now }]]), history: () => ({ batches: [] }) })
  assert.ok(of.expected !== undefined && 'none' in of.expected)
  assert.equal(text(of.expected.none, history), 'No estimate: who lands here is not named, so its batches are not known.')
})
