import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asking } from '../../src/queue/asking.ts'
import { entryNotes, standing } from '../../src/queue/standing.ts'
import { text } from './asking-support.ts'
import { fileBatch, land } from './batch-support.ts'
import { type AtUri, alice, bob, carol, commit, dave, HEAD, History, MINUTE, rigby, rocky, TIP } from './support.ts'

const LOW = commit(0xa01)
const HIGH = commit(0xa02)

/** A lander that reported a minute ago. */
const seen = (history: History): Asking => ({ now: history.now + MINUTE, lastSeen: new Map([[rigby, { at: history.now }]]) })

function stand(history: History, pull: AtUri, asking: Asking = seen(history)) {
  return standing(history.view(asking.now), history.see(pull, asking.now), asking)
}

/** Its fixed words, then why it does not move. */
function words(history: History, pull: AtUri, asking?: Asking): string[] {
  const { text: says, why } = stand(history, pull, asking)
  return why === undefined ? [text(says, history)] : [text(says, history), text(why, history)]
}

function line(count: number) {
  const history = new History()
  const pulls = Array.from({ length: count }, () => history.pull(dave))
  for (const pull of pulls) history.queued(bob, pull)
  const [first, second, third] = pulls
  if (first === undefined) throw new Error('no pulls')
  return { history, pulls, first, second: second ?? first, third: third ?? first }
}

test('STA-1 Queued, 2nd of 5', () => {
  const { history, second } = line(5)
  assert.deepEqual(words(history, second), ['Queued, 2nd of 5', 'Ready for the next batch.'])
  const { kind, position, length, by, since } = stand(history, second)
  assert.deepEqual([kind, position, length, by], ['queued', 2, 5, bob])
  assert.equal(since, Date.parse(history.see(second).entry?.record.value.createdAt ?? ''))
})

test('STA-1 Queued, 2nd of 5, waiting for its pre-flight: check', () => {
  const { history, second } = line(5)
  history.check(rigby, { pull: second, workflow: 'check', status: 'running', queue: 'first' })
  assert.deepEqual(words(history, second), [
    'Queued, 2nd of 5, waiting for its pre-flight: check',
    'Waiting for its pre-flight: check. Pulls behind it go ahead meanwhile.',
  ])
  history.check(rigby, { pull: second, workflow: 'test', status: 'running', queue: 'first', startedAt: '2026-01-01T00:10:00Z' })
  assert.match(words(history, second)[1] ?? '', /^Waiting for its pre-flights: check and test, running for 3 min\./)
  assert.deepEqual(stand(history, second).preflights, [
    { name: 'check', status: 'running' },
    { name: 'test', status: 'running' },
  ])
})

test('PRE-3 of a pull that the lander has not looked at since it was added it is not said that it is ready', () => {
  const { history, first } = line(1)
  const at = history.now - 1000
  const asking = (more: object) => ({ now: history.now + 1000, lastSeen: new Map([[rigby, { at, ...more }]]) })
  assert.deepEqual(words(history, first, asking({}))[1], 'rigby.test has not looked at it yet: it does in its next pass.')
  assert.deepEqual(words(history, first, asking({ at: history.now }))[1], 'Ready for the next batch.')
})

test('PRE-10 only a pre-flight whose newest run at the present head goes on is waited for', () => {
  for (const more of [
    { queue: undefined },
    { status: 'success' },
    { status: 'failure' },
    { commit: commit(99) },
    { generation: 0 },
    { status: 'queued', by: rocky },
  ] as const) {
    const { history, first } = line(1)
    history.edit({ runners: [{ did: rigby }, { did: rocky }] })
    const { by = rigby, ...extra } = { by: rigby, ...more }
    history.check(by, { pull: first, workflow: 'check', status: 'running', queue: 'first', ...extra })
    assert.deepEqual(stand(history, first).preflights, [], JSON.stringify(more))
  }
  const { history, first } = line(1)
  history.check(rigby, { pull: first, workflow: 'check', status: 'queued', queue: 'first' })
  assert.deepEqual(stand(history, first).preflights, [{ name: 'check', status: 'queued' }], 'the lander’s own')
})

test('STA-1 In a batch of 3 being checked', () => {
  const { history, pulls, second } = line(5)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 3), runs: { check: 'success', docs: 'skipped', test: 'running' } })
  assert.deepEqual(words(history, second), ['In a batch of 3 being checked'])
  const { kind, position, length, batch } = stand(history, second)
  assert.deepEqual([kind, position, length], ['in-batch', 2, 5])
  assert.deepEqual(batch, { tip: LOW, base: TIP, size: 3, position: 2, passed: 1, running: 1, of: 2, under: undefined })
})

test('STA-1 Landing', () => {
  const { history, pulls, first } = line(2)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'success' } }, { finishedAt: '2026-01-01T00:20:00Z' })
  assert.deepEqual(words(history, first), ['Landing'])
  assert.equal(stand(history, first).since, Date.UTC(2026, 0, 1, 0, 20))
})

test('STA-1 Ejected, with its reason', () => {
  const { history, first } = line(1)
  const record = history.ejected(rigby, first, { reason: 'test failed. It failed alone, at abc on main at def.' })
  assert.deepEqual(words(history, first), ['Ejected: test failed'])
  const { kind, reason, says, ejectionKind, commit: head, by, record: uri } = stand(history, first)
  assert.deepEqual([kind, reason, says], ['ejected', 'test failed', 'It failed alone, at abc on main at def.'])
  assert.deepEqual([ejectionKind, head, by, uri], ['checks', HEAD, rigby, record.uri])
})

test('a batch ahead says what became of its runs', () => {
  for (const [status, says] of [
    ['running', 'In a batch of 2 being checked'],
    ['success', 'In a batch of 2 that passed, waiting for the batch under it'],
    ['failure', 'In a batch of 2, red but undecided'],
  ] as const) {
    const { history, pulls, third } = line(3)
    fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'running' } })
    fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(1), runs: { test: status } })
    assert.deepEqual(words(history, third), [says])
    const { kind, batch } = stand(history, third)
    assert.deepEqual([kind, batch?.under, batch?.position], ['in-ahead', 1, 2])
  }
})

test('STA-2 a batch counts only for a pull that was queued before it started', () => {
  const { history, pulls, first } = line(2)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' } })
  history.left(bob, first)
  assert.deepEqual(words(history, first), ['Open'])
  history.queued(bob, first)
  assert.deepEqual(words(history, first)[0], 'Queued, 2nd of 2')
})

test('STA-2 a batch that failed holds nobody', () => {
  const { history, pulls, first } = line(2)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'failure' } })
  assert.equal(words(history, first)[0], 'Queued, 1st of 2')
})

test('STA-4 a queued pull that nobody will land says so, with since when', () => {
  const { history, first } = line(1)
  const now = history.now + MINUTE
  assert.deepEqual(words(history, first, { now }), [
    'Queued, 1st of 1',
    'Waiting for a lander: none has been seen yet. It keeps its place.',
  ])
  const lost = new Map([[rigby, { at: now - 142 * MINUTE }]])
  assert.match(words(history, first, { now, lastSeen: lost })[1] ?? '', /^Waiting for a lander: none seen since \d\d:\d\d UTC\./)
})

test('STA-4 a lander counts as not seen two minutes past the pass it said was due', () => {
  const { history, first } = line(1)
  const now = history.now + MINUTE
  const at = now - 60 * MINUTE
  const why = (dueAt: number) => words(history, first, { now, lastSeen: new Map([[rigby, { at, dueAt }]]) })[1]
  assert.equal(why(now - 2 * MINUTE), 'rigby.test has not looked at it yet: it does in its next pass.')
  assert.match(why(now - 2 * MINUTE - 1) ?? '', /^Waiting for a lander/)
})

test('STA-4 without reports a held lease is a sign of life, and so are the checks of a batch', () => {
  const { history, pulls, second } = line(2)
  const ask = (now = history.now + MINUTE) => words(history, second, { now })[1]
  assert.match(ask() ?? '', /none has been seen yet/)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'running' } })
  assert.equal(ask(), 'Ready for the next batch.')
  assert.match(ask(history.now + 61 * MINUTE) ?? '', /none seen since/)
  history.lander(rigby, { lease: { instance: 'a', until: '2026-01-01T02:00:00Z' } })
  assert.equal(ask(history.now + 61 * MINUTE), 'Ready for the next batch.')
  history.landers.length = 0
  history.lander(rigby, { lease: { instance: 'a', until: '2026-01-01T02:00:00Z' }, stoppedAt: '2026-01-01T00:07:00Z' })
  assert.match(ask(history.now + 61 * MINUTE) ?? '', /none seen since/)
})

test('STA-4 a pull in a batch whose lander fell silent says so too', () => {
  const { history, pulls, first } = line(2)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' } })
  const now = history.now + 90 * MINUTE
  assert.match(words(history, first, { now })[1] ?? '', /^Waiting for a lander: none seen since/)
})

test('STA-7 pulls of a lander that is not named read as queued, saying that it is not named', () => {
  const { history, pulls, first } = line(2)
  history.lander(bob)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' }, by: bob })
  const asking = { now: history.now + MINUTE, lastSeen: new Map([[bob, { at: history.now }]]) }
  assert.deepEqual(words(history, first, asking), [
    'Queued, 1st of 2',
    'Waiting for bob.test, which lands this queue but is not named here, so its batches are not shown: name it to see them.',
  ])
})

test('the next batch is built when the one being checked ends, when one runs ahead already', () => {
  const { history, pulls, third } = line(3)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'running' } })
  assert.equal(words(history, third)[1], 'Ready for the next batch.')
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(1, 2), runs: { test: 'running' } })
  assert.match(words(history, third)[1] ?? '', /^Ready\. It joins the next batch, which is built when the one being checked ends/)
})

test('STA-5 merged means landed: until the branch was read it is landing, and what is not there says so', () => {
  const { history, pulls, first } = line(1)
  land(history, { tip: LOW, pulls, runs: {} })
  assert.deepEqual([stand(history, first).kind, ...words(history, first)], ['landing', 'Landing'])
  history.tip({ contains: new Map([[LOW, true]]) })
  assert.deepEqual([stand(history, first).kind, ...words(history, first)], ['merged', 'Landed in main as 0000000'])
  history.tip({ contains: new Map([[LOW, false]]) })
  assert.deepEqual([stand(history, first).kind, ...words(history, first)], ['merged-not-there', 'Marked merged, but not on main'])
})

test('STA-5 a merged record that names no commit shows nothing landed', () => {
  const { history, first } = line(1)
  history.merged(alice, first)
  assert.deepEqual([stand(history, first).kind, ...words(history, first)], ['merged-not-there', 'Marked merged, but with no commit'])
})

test('closed, draft and open pulls', () => {
  const { history, first } = line(1)
  const closed = history.closed(carol, first)
  assert.deepEqual(words(history, first), ['Closed without landing'])
  assert.deepEqual([stand(history, first).by, stand(history, first).record], [carol, closed.uri])
  const draft = history.pull(dave, { draft: true })
  assert.deepEqual(words(history, draft), ['Draft: held'])
  const open = history.pull(dave)
  assert.deepEqual([words(history, open), stand(history, open).since], [['Open'], history.now])
})

test('QUE-9 a head that moved since it was queued is said', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull, { head: `ab${'1'.repeat(38)}`, branch: 'main' })
  const of = stand(history, pull)
  assert.equal(of.queuedAtHead, `ab${'1'.repeat(38)}`)
  assert.equal(text(entryNotes(of, history.see(pull)), history), 'Queued at ab11111, now 0000000.')
})

test('QUE-9 nothing is said when the head is the one that was seen, or is not known', () => {
  const history = new History()
  const same = history.pull(dave)
  history.queued(bob, same, { head: HEAD })
  const gone = history.pull(dave, { head: { repo: history.uri, branch: 'gone' } })
  history.queued(bob, gone, { head: commit(99) })
  for (const pull of [same, gone]) {
    assert.equal(stand(history, pull).queuedAtHead, undefined)
    assert.deepEqual(entryNotes(stand(history, pull), history.see(pull)), [])
  }
})

test('REC-9 a record first seen long after its key’s time is said to be backdated, with both times', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull, { seenAt: history.now + 31 * MINUTE })
  assert.equal(
    text(entryNotes(stand(history, pull), history.see(pull)), history),
    'Backdated: its key says 1 Jan, 00:02 UTC, and it was first seen 1 Jan, 00:32 UTC. Its place is by its key.',
  )
})
