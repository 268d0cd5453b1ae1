import assert from 'node:assert/strict'
import { test } from 'node:test'
import { landedView } from '../../src/queue/answers/queue.ts'
import { mergeBox } from '../../src/queue/box.ts'
import { handle, text } from './asking-support.ts'
import { fileBatch, land, memberCommit } from './batch-support.ts'
import { type AtUri, bob, commit, dave, History, MINUTE, mallory, rigby } from './support.ts'

const tip = commit(0xa01)

function landed(runs: Record<string, string>, more: { nothingRan?: boolean; head?: string } = {}) {
  const history = new History()
  const pulls = [history.pull(dave), history.pull(dave)]
  for (const pull of pulls) history.queued(bob, pull)
  const stack = { tip, pulls, runs }
  fileBatch(history, stack)
  const at = history.tick()
  for (const [n, pull] of pulls.entries())
    history.merged(rigby, pull, { commit: memberCommit(stack, n + 1), batch: tip, at: at + n, ...more })
  history.tip({ contains: new Map(pulls.map((_, n) => [memberCommit(stack, n + 1), true])) })
  return { history, pulls }
}

function boxOf(history: History, pull: AtUri | undefined) {
  assert(pull)
  const now = history.now + MINUTE
  const box = mergeBox(history.view(now), history.see(pull, now), { now })
  return { key: box.key, says: text(box.says, history) }
}

test('REA-5 a batch that landed has its checks with it, and the box says that all of them passed', () => {
  const { history, pulls } = landed({ check: 'success', test: 'success' })
  const batch = history.view().branches.get('main')?.landed[0]
  assert(batch)
  const view = landedView(history.view(), batch, { now: history.now, names: handle, version: 1 })
  assert.deepEqual(
    view.checks.map(check => [check.workflow, check.status]),
    [
      ['check', 'success'],
      ['test', 'success'],
    ],
  )
  assert.equal(view.nothingRan, undefined)
  assert.match(boxOf(history, pulls[0]).says, /^In a batch of 2 by rigby\.test, after every check of it passed\./)
})

test('HON-2 nobody else’s checks of that tip are shown with it', () => {
  const { history } = landed({ check: 'success' })
  fileBatch(history, { tip, pulls: [], runs: { forged: 'failure' }, by: mallory })
  assert.deepEqual(
    history
      .view()
      .branches.get('main')
      ?.landed[0]?.checks.map(check => check.value.workflow),
    ['check'],
  )
})

test('REA-5 once its checks are pruned nothing is claimed of them', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  land(history, { tip, pulls: [pull], runs: {} })
  history.tip({ contains: new Map([[tip, true]]) })
  assert.match(boxOf(history, pull).says, /^In a batch of 1 by rigby\.test\./)
})

test('ADM-11 CHK-6 a landing in which nothing ran says so, in the box and in the list', () => {
  const { history, pulls } = landed({}, { nothingRan: true })
  const box = boxOf(history, pulls[1])
  assert.match(box.says, /Nothing ran: no workflow checks this branch\.$/)
  assert.equal(history.view().branches.get('main')?.landed[0]?.nothingRan, true)
})

test('LND-10 what was pushed to the head since it landed is said not to have', () => {
  const { history, pulls } = landed({ test: 'success' }, { head: commit(77) })
  const [pull] = pulls
  assert(pull)
  assert.notEqual(history.see(pull).head, commit(77))
  const box = boxOf(history, pull)
  assert.equal(box.key, 'merged-later')
  assert.match(
    box.says,
    /^What was pushed to \S+ since did not land, and is still on that branch\. Open a new pull for it\. It landed in a batch of 2 by rigby\.test\. Queued by bob\.test\.$/,
  )
  const still = landed({ test: 'success' }, { head: history.see(pull).head ?? '' })
  assert.equal(boxOf(still.history, still.pulls[0]).key, 'merged')
})
