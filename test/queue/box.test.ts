import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asking } from '../../src/queue/asking.ts'
import { mergeBox } from '../../src/queue/box.ts'
import { standing } from '../../src/queue/standing.ts'
import { merges, text } from './asking-support.ts'
import { fileBatch, land } from './batch-support.ts'
import { type AtUri, alice, bob, carol, commit, dave, HEAD, History, MINUTE, mallory, repoAt, rigby, TIP } from './support.ts'

const LOW = commit(0xa01)
const HIGH = commit(0xa02)

/** The box for bob, with a lander that reported just now, unless said otherwise. */
function box(history: History, pull: AtUri, asking: Partial<Asking> & { caller?: string | undefined } = { caller: bob }) {
  const now = history.now + MINUTE
  return mergeBox(history.view(now), history.see(pull, now), { now, lastSeen: new Map([[rigby, { at: now }]]), ...asking })
}

function said(history: History, pull: AtUri, asking?: Partial<Asking>): string[] {
  const { key, headline, says } = box(history, pull, asking)
  return [key, text(headline, history), text(says, history)]
}

function open(record: ConstructorParameters<typeof History>[0] = {}) {
  const history = new History(record)
  history.tip()
  const pull = history.pull(dave)
  merges(history, pull)
  return { history, pull }
}

const failed = (history: History, pull: AtUri) => history.check(rigby, { pull, status: 'failure' })

function landed(history: History, pull: AtUri): void {
  land(history, { tip: LOW, pulls: [pull], runs: {} })
  history.tip({ contains: new Map([[LOW, true]]) })
}

/** What is in the way, in the order of precedence. Each state is put up together with all that come after it, as far as they go together. */
const precedence: [string, (history: History, pull: AtUri) => unknown][] = [
  ['merged', (history, pull) => landed(history, pull)],
  ['closed', (history, pull) => history.closed(bob, pull)],
  ['draft', (history, pull) => history.editPull(pull, { draft: true })],
  ['landing', (history, pull) => fileBatch(history, { tip: LOW, pulls: [pull], runs: { test: 'success' } })],
  ['in-batch', (history, pull) => fileBatch(history, { tip: HIGH, pulls: [pull], runs: { test: 'running' } })],
  ['queued', (history, pull) => history.queued(bob, pull)],
  ['ejected', (history, pull) => history.ejected(rigby, pull)],
  ['conflict', (history, pull) => merges(history, pull, { applies: false, conflicts: ['a.ts'] })],
  ['checks-failed', failed],
  ['no-runners', history => history.edit({ runners: [] })],
  ['not-allowed', () => {}],
]
for (const [i, [key]] of precedence.entries()) {
  test(`the box says ${key} before ${
    precedence
      .slice(i + 1)
      .map(([after]) => after)
      .join(', ') || 'ready'
  }`, () => {
    const { history, pull } = open()
    // Without runners no check and no batch is shown; and a batch holds only what is queued.
    const needsRunner = i < precedence.findIndex(([other]) => other === 'no-runners')
    const together = precedence.slice(i).filter(([other]) => other !== 'no-runners' || !needsRunner)
    for (const [, put] of together.reverse()) put(history, pull)
    assert.equal(box(history, pull, { caller: mallory }).key, key)
  })
}

test('STA-5 marked merged but not there comes before everything, and landing stands until the branch was read', () => {
  const { history, pull } = open()
  history.merged(carol, pull, { commit: LOW, batch: LOW })
  assert.deepEqual(said(history, pull), [
    'landing',
    'Landing',
    'carol.test recorded 0000000 as merged. This page says so once it has read main again; it is too late to leave.',
  ])
  history.tip({ contains: new Map([[LOW, false]]) })
  assert.deepEqual(said(history, pull), [
    'merged-not-there',
    'Marked merged, but not on main',
    'carol.test recorded 0000000 as the merged commit, and main does not contain it. Nothing has landed. Ask carol.test or alice.test to look at it.',
  ])
})

test('what somebody merged through the gateway is no batch, though it is recorded as one of one by the owner’s account', () => {
  const { history, pull } = open()
  history.queued(carol, pull)
  history.left(carol, pull)
  history.merged(alice, pull, { commit: LOW, batch: LOW })
  history.tip({ contains: new Map([[LOW, true]]) })
  assert.deepEqual(
    said(history, pull)[2],
    'Merged on its own, not through a queue. The commit names who merged it; alice.test’s account records it.',
  )
})

test('merged says in which batch, by whom, and who had queued it', () => {
  const { history, pull } = open()
  const other = history.pull(dave)
  history.queued(carol, pull)
  land(history, { tip: LOW, pulls: [pull, other], runs: {} })
  history.tip({ contains: new Map([[commit(0xa01 * 100 + 1), true]]) })
  assert.deepEqual(said(history, pull), ['merged', 'Landed in main as 0000000', 'In a batch of 2 by rigby.test. Queued by carol.test.'])
})

test('QUE-2 a pull whose account is gone is closed, and nobody is said to have closed it', () => {
  const { history, pull } = open()
  history.gone.add(dave)
  assert.deepEqual(said(history, pull), ['closed', 'Closed without landing', 'Its record or its author’s account is gone.'])
})

test('QUE-5 a draft says whether it is held out of the queue or was taken out', () => {
  const { history, pull } = open()
  history.queued(carol, pull)
  history.editPull(pull, { draft: true })
  assert.match(said(history, pull)[2] ?? '', /carol\.test had queued it, so it is held out of the queue/)
  history.ejected(rigby, pull, { kind: 'draft', reason: 'made a draft. dave made it a draft.' })
  assert.match(said(history, pull)[2] ?? '', /^dave\.test made it a draft while it was queued, so rigby\.test took it out/)
})

test('in a batch the box says which place, on what, and which workflows still run', () => {
  const { history, pull } = open()
  const other = history.pull(dave)
  history.queued(bob, other)
  history.queued(bob, pull)
  fileBatch(history, { tip: LOW, pulls: [other, pull], runs: { check: 'success', docs: 'skipped', e2e: 'queued', test: 'running' } })
  assert.deepEqual(said(history, pull), [
    'in-batch',
    'In a batch of 2 being checked',
    'It is 2nd of 2 on main at 0000000. 1 of 3 workflows has passed; e2e and test are still running.',
  ])
})

test('CHK-6 a pass that was taken over is said beside what runs, and one pull alone is no first of one', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  fileBatch(history, { tip: LOW, pulls: [pull], runs: { test: 'running' }, of: 2 })
  fileBatch(history, { tip: LOW, pulls: [pull], runs: { check: 'success' }, of: 2 }, { reusedFrom: `${repoAt(rigby, 'x')}` })
  assert.equal(
    said(history, pull)[2],
    'It is alone in its batch, on main at 0000000. test is being run. 1 pass was taken over from earlier runs of the same files.',
  )
})

test('LND-12 while a batch lands nothing says that it is too late to leave', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  fileBatch(history, { tip: LOW, pulls: [pull], runs: { test: 'success' } })
  const [key, , says] = said(history, pull)
  assert.equal(key, 'landing')
  assert.doesNotMatch(says ?? '', /too late/)
})

test('a batch ahead says what it stands on', () => {
  const { history, pull } = open()
  const other = history.pull(dave)
  history.queued(bob, other)
  history.queued(bob, pull)
  fileBatch(history, { tip: LOW, pulls: [other], runs: { test: 'running' } })
  fileBatch(history, { tip: HIGH, base: LOW, pulls: [pull], runs: { test: 'failure' } })
  const [key, headline, says] = said(history, pull)
  assert.deepEqual([key, headline], ['in-ahead', 'In a batch of 1, red but undecided'])
  assert.match(says ?? '', /^A check of its batch failed, which is decided only once the batch of 1 being checked has landed/)
})

test('STA-4 queued and stranded never look alike', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  assert.deepEqual(said(history, pull), ['queued', 'Queued, 1st of 1', 'Ready for the next batch.'])
  assert.deepEqual(said(history, pull, { caller: bob, lastSeen: undefined }), [
    'queued-stranded',
    'Queued, 1st of 1, but no lander has been seen',
    'None yet. Nothing moves until one is there; it keeps its place. Tell alice.test.',
  ])
  const { tone, since } = box(history, pull, { lastSeen: new Map([[rigby, { at: history.now - 60 * MINUTE }]]) })
  assert.deepEqual([tone, since], ['danger', history.now - 60 * MINUTE])
})

test('STA-4 a queued pull of a repository that names no runner any more says that', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  history.edit({ runners: [] })
  assert.deepEqual(said(history, pull), [
    'queued-stranded',
    'Queued, 1st of 1, but no runner is named',
    'alice.test/orchard names no runner, so nothing lands it; it keeps its place. Tell alice.test.',
  ])
  const now = history.now + MINUTE
  const { why } = standing(history.view(now), history.see(pull, now), { now })
  assert.equal(text(why, history), 'Waiting: alice.test/orchard names no runner, so nothing lands it. It keeps its place.')
})

test('a pull that waits for its pre-flight says so in the box', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  history.check(rigby, { pull, workflow: 'check', status: 'running', queue: 'first' })
  assert.deepEqual(said(history, pull).slice(0, 2), ['queued-flight', 'Queued, 1st of 1, waiting for its pre-flight: check'])
})

test('QUE-9 and REC-9 are notes of the box, not its sentence', () => {
  const { history, pull } = open()
  history.queued(bob, pull, { head: commit(99), seenAt: history.now + 60 * MINUTE })
  const lastSeen = new Map([[rigby, { at: history.now + 61 * MINUTE }]])
  const { says, notes } = box(history, pull, { lastSeen })
  assert.equal(text(says, history), 'Ready for the next batch.')
  assert.match(text(notes, history), /^Queued at 0000000, now 0000000\. Backdated: /)
})

test('an ejected pull says the sentence after the headline', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  history.ejected(rigby, pull, { reason: 'conflict with main. At abc it does not apply.' })
  assert.deepEqual(said(history, pull), ['ejected', 'Ejected: conflict with main', 'At abc it does not apply.'])
})

test('ADM-5 a conflict lists its files', () => {
  const { history, pull } = open()
  merges(history, pull, { applies: false, conflicts: ['a.ts', 'b.ts'], moreConflicts: 7 })
  const { key, files, moreFiles, headline } = box(history, pull)
  assert.deepEqual([key, files, moreFiles, text(headline, history)], ['conflict', ['a.ts', 'b.ts'], 7, 'Conflicts with main'])
})

test('ADM-6 failed checks name the workflows, since their last run ended', () => {
  const { history, pull } = open()
  history.check(rigby, { pull, status: 'failure', finishedAt: '2026-01-01T00:10:00Z' })
  history.check(rigby, { pull, workflow: 'check', status: 'error', finishedAt: '2026-01-01T00:09:00Z' })
  assert.equal(said(history, pull)[1], 'check and test failed at this head')
  assert.equal(box(history, pull).since, Date.UTC(2026, 0, 1, 0, 10))
})

test('ADM-2 without runners pulls are merged by hand, by whom; PRO-4 on a queue-only branch nothing lands', () => {
  const { history, pull } = open({ runners: [] })
  assert.deepEqual(said(history, pull), [
    'no-runners',
    'No runner lands pulls here',
    'alice.test/orchard names no runner, so its pulls are merged by hand by alice.test, bob.test and carol.test.',
  ])
  assert.match(said(history, pull, { caller: alice })[2] ?? '', /Name a runner in its settings, and pulls can be queued\.$/)
  history.edit({ protections: [{ branch: 'main', queue: true }] })
  assert.match(said(history, pull)[2] ?? '', /main takes pulls only through the queue, so nothing lands until a runner is named/)
})

test('ADM-1 a stranger is told who can, and so is whoever is not logged in', () => {
  const { history, pull } = open()
  assert.deepEqual(said(history, pull, { caller: mallory }), [
    'not-allowed',
    'You cannot queue pulls here',
    'alice.test, bob.test and carol.test can. Ask one of them to look at it.',
  ])
  assert.deepEqual(said(history, pull, { caller: undefined }), [
    'signed-out',
    'Log in to queue this',
    'alice.test, bob.test and carol.test can queue pulls here.',
  ])
})

test('being looked at comes after all that is known to be in the way', () => {
  const { history, pull } = open()
  history.merges.clear()
  assert.deepEqual(said(history, pull), [
    'working',
    'Looking whether it applies',
    'Merging 0000000 with main at 0000000 to see. This page fills in by itself.',
  ])
  assert.equal(box(history, pull, { caller: mallory }).key, 'not-allowed')
  history.edit({ runners: [] })
  assert.equal(box(history, pull).key, 'no-runners')
})

test('a head branch or target branch that is gone is said', () => {
  const { history } = open()
  const headless = history.pull(dave, { head: { repo: history.uri, branch: 'gone' } })
  assert.deepEqual(said(history, headless).slice(0, 2), ['head-gone', 'Its branch is gone'])
  const astray = history.pull(dave, { branch: 'release' })
  assert.deepEqual(said(history, astray).slice(0, 2), ['branch-gone', 'There is no branch release'])
})

test('what git cannot tell is said, and not that it is being looked at', () => {
  const { history, pull } = open()
  history.merges.clear()
  history.mergeFaults.set(pull, {
    code: 'unrelated',
    message: 'The two branches have no history in common.',
    passing: false,
    tip: TIP,
    head: HEAD,
  })
  assert.deepEqual(said(history, pull), [
    'unreadable',
    'Nothing in common with main',
    'The two branches have no history in common. Rebase it onto main and push.',
  ])
  history.gitFaults.set(history.uri, { code: 'upstream-failed', message: 'Its account’s server could not be read.', passing: true })
  assert.deepEqual(said(history, pull).slice(0, 2), ['unreadable', 'main cannot be read'])
  merges(history, pull)
  assert.equal(box(history, pull).key, 'ready', 'what may pass does not hide what is known')
  history.gitFaults.set(history.uri, { code: 'bad-ref', message: '"main" is listed twice.', passing: false })
  assert.equal(box(history, pull).key, 'unreadable')
})

test('a head in a repository that never was, or that nothing was pushed to, is gone', () => {
  const { history } = open()
  const nowhere = repoAt(dave, 'nothing')
  const pull = history.pull(dave, { head: { repo: nowhere, branch: 'topic' } })
  assert.equal(box(history, pull).key, 'working', 'while its account was not read')
  history.gitFaults.set(nowhere, { code: 'no-refs', message: 'Nothing was pushed to it yet.', passing: true })
  assert.deepEqual(said(history, pull).slice(0, 2), ['head-gone', 'Its branch is gone'])
  assert.match(said(history, pull)[2] ?? '', /topic no longer exists in dave\.test\/nothing/)
})

test('ready says what it rests on', () => {
  const { history, pull } = open()
  assert.match(said(history, pull)[2] ?? '', /No check has run at 0000000 yet.* The queue is empty: it would be first\.$/)
  history.check(rigby, { pull, status: 'success', finishedAt: '2026-01-01T00:10:00Z' })
  assert.deepEqual(said(history, pull), [
    'ready',
    'Ready to land',
    'It applies on main at 0000000 and its checks at 0000000 passed. The queue is empty: it would be first.',
  ])
  assert.equal(box(history, pull).since, Date.UTC(2026, 0, 1, 0, 10))
  history.check(rigby, { pull, workflow: 'check', status: 'failure', baseCommit: commit(99) })
  assert.match(said(history, pull)[2] ?? '', /Not every check at 0000000 passed, but none failed on main as it is now/)
  history.check(rigby, { pull, workflow: 'e2e', status: 'running', startedAt: '2026-01-01T00:12:00Z' })
  assert.deepEqual(said(history, pull).slice(0, 2), ['ready-running', 'Ready to queue'])
  assert.match(said(history, pull)[2] ?? '', /^1 of 3 checks is still running/)
})

test('ADM-11 an unchecked branch is said in the box, and so is a pull that changes what checks it', () => {
  const { history, pull } = open()
  history.tip({ workflows: [] })
  assert.deepEqual(said(history, pull).slice(0, 2), ['ready-unchecked', 'Ready, and nothing checks main'])
  merges(history, pull, { changesChecks: true })
  assert.match(said(history, pull)[2] ?? '', /It changes \.knotless, and so what checks it\.$/)
  history.queued(bob, pull)
  assert.match(said(history, pull)[2] ?? '', /It changes \.knotless, and so what checks it\.$/)
})

test('BLD-8 a pull that would change nothing is told so before it is queued', () => {
  const { history, pull } = open()
  merges(history, pull, { empty: true })
  assert.match(said(history, pull)[2] ?? '', /Its changes are already on main: as it is, it would be turned away/)
})

test('the box stands for every pull of a repository that nothing is known of', () => {
  const history = new History()
  history.refs.clear()
  const pull = history.pull(dave)
  assert.equal(box(history, pull).key, 'working')
})

test('LND-5 once the branch is at its tip a batch no longer reads as moving it', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  fileBatch(history, { tip: commit(0xa01), pulls: [pull], runs: { test: 'success' } })
  assert.match(said(history, pull)[2] ?? '', /is moving main to 0000000 now/)
  history.refsOf(alice, 'orchard', { main: commit(0xa01), topic: HEAD })
  assert.match(
    said(history, pull)[2] ?? '',
    /^Every check of its batch of 1 passed\. rigby\.test moved main to 0000000 and records that it landed\./,
  )
})
