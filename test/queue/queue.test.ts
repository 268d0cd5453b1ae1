import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alice, bob, carol, commit, dave, HEAD, History, MINUTE, mallory, queueOf, rigby, TIP } from './support.ts'

test('QUE-1 the queue is every open pull whose latest honoured record is queued, oldest key first', () => {
  const history = new History()
  const [first, second, third, never] = [history.pull(dave), history.pull(bob), history.pull(dave), history.pull(dave)]
  history.queued(bob, second)
  history.queued(carol, first)
  history.queued(alice, third)
  assert.deepEqual(history.line(), [second, first, third])
  history.left(alice, first)
  assert.deepEqual(history.line(), [second, third])
  assert.equal(history.see(never).entry, undefined)
  assert.deepEqual(queueOf(history.view(), 'other'), [])
})

test('QUE-2 a closed or merged pull drops out whatever its record says', () => {
  const history = new History()
  const [closed, merged, open] = [history.pull(dave), history.pull(dave), history.pull(dave)]
  for (const pull of [closed, merged, open]) history.queued(bob, pull)
  history.closed(bob, closed)
  history.merged(rigby, merged, { commit: commit(7), batch: commit(7) })
  assert.deepEqual(history.line(), [open])
  assert.equal(history.see(closed).state, 'closed')
  assert.equal(history.see(merged).state, 'merged')
  assert.equal(history.see(closed).entry, undefined)
})

test('QUE-2 a pull that was deleted, or whose account is gone, counts as closed', () => {
  const history = new History()
  const [kept, lost, landed] = [history.pull(bob), history.pull(dave), history.pull(dave)]
  for (const pull of [kept, lost, landed]) history.queued(bob, pull)
  history.merged(bob, landed)
  history.gone.add(dave)
  assert.deepEqual(history.line(), [kept])
  assert.equal(history.see(lost).state, 'closed')
  assert.equal(history.see(lost).stateRecord, undefined)
  assert.equal(history.see(landed).state, 'merged', 'what landed stays landed')
  history.remove({ uri: kept })
  assert.deepEqual(history.line(), [])
  assert.equal(history.view().ignored.get('unknown-pull'), 1)
})

test('QUE-3 a pull retargeted to another branch moves to that queue and keeps its key', () => {
  const history = new History()
  const [first, second, third] = [history.pull(dave, { branch: 'next' }), history.pull(dave), history.pull(dave, { branch: 'next' })]
  history.queued(bob, first)
  const { rkey } = history.queued(bob, second)
  history.queued(bob, third)
  history.editPull(second, { branch: 'next' })
  assert.deepEqual(history.line('main'), [])
  assert.deepEqual(history.line('next'), [first, second, third])
  assert.equal(history.see(second).entry?.key, rkey)
})

test('QUE-4 a pull queued again after leaving or ejection has a new key, at the back', () => {
  const history = new History()
  const [first, second, third] = [history.pull(dave), history.pull(dave), history.pull(dave)]
  for (const pull of [first, second, third]) history.queued(bob, pull)
  history.left(bob, first)
  const again = history.queued(bob, first)
  assert.deepEqual(history.line(), [second, third, first])
  assert.equal(history.see(first).entry?.key, again.rkey)
  history.ejected(rigby, second)
  history.queued(carol, second)
  assert.deepEqual(history.line(), [third, first, second])
})

test('QUE-6 nothing but leaving, ejection and queueing again changes the order', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  history.queued(bob, first)
  history.queued(bob, second)
  history.editPull(second, { title: 'URGENT' })
  history.queued(alice, second)
  history.opened(alice, second)
  history.opened(dave, second)
  history.edit({ collaborators: [{ did: carol }, { did: bob }] })
  assert.deepEqual(history.line(), [first, second])
})

test('QUE-7 of queued records with nothing between them the first gives place and key', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  const placed = history.queued(bob, first)
  history.queued(bob, second)
  const again = history.queued(carol, first)
  assert.deepEqual(history.line(), [first, second])
  assert.equal(history.see(first).entry?.key, placed.rkey)
  assert.equal(history.see(first).entry?.by, bob)
  assert.equal(history.see(first).lastQueue?.rkey, again.rkey)
})

test('QUE-8 a queued record older than the reopening of its pull does not count', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.closed(dave, pull)
  history.queued(carol, pull)
  history.opened(dave, pull)
  assert.equal(history.see(pull).state, 'open')
  assert.deepEqual(history.line(), [])
  assert.equal(history.see(pull).lastQueue, undefined)
  history.queued(carol, pull)
  assert.deepEqual(history.line(), [pull])
})

test('QUE-8 opening a pull that is open is no change of state', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.opened(dave, pull)
  assert.deepEqual(history.line(), [pull])
})

test('QUE-5 a draft pull is held out of the reading', () => {
  const history = new History()
  const [pull, other] = [history.pull(dave), history.pull(dave)]
  const placed = history.queued(bob, pull)
  history.queued(bob, other)
  history.editPull(pull, { draft: true })
  assert.deepEqual(history.line(), [other])
  const seen = history.see(pull)
  assert.equal(seen.draft, true)
  assert.equal(seen.entry, undefined)
  assert.equal(seen.heldEntry?.key, placed.rkey)
})

test('STA-5 a merged pull says whether its commit is on the branch, once the branch was read where it is', () => {
  const history = new History()
  const [there, lost, unread] = [history.pull(dave), history.pull(dave), history.pull(dave)]
  history.merged(rigby, there, { commit: commit(7) })
  history.merged(rigby, lost, { commit: commit(8) })
  history.merged(rigby, unread, { commit: commit(9) })
  const contains = new Map([
    [commit(7), true],
    [commit(8), false],
  ])
  history.tip({ contains })
  assert.equal(history.see(there).mergedThere, true)
  assert.equal(history.see(lost).mergedThere, false)
  assert.equal(history.see(unread).mergedThere, undefined)
  history.tip({ contains, tip: commit(99) })
  assert.equal(history.see(lost).mergedThere, undefined, 'what was read at another tip says nothing')
})

test('QUE-1 branches are the default one, those with a rule and those that open pulls target', () => {
  const history = new History({ protections: [{ branch: 'stable', queue: false }] })
  history.pull(dave, { branch: 'next' })
  history.closed(dave, history.pull(dave, { branch: 'old' }))
  history.edit({
    protections: [
      { branch: 'stable', queue: true },
      { branch: 'stable', queue: false, pinned: true },
    ],
  })
  const { branches } = history.view()
  assert.deepEqual([...branches.keys()], ['main', 'stable', 'next'])
  const { isDefault, tip, generation } = branches.get('main') ?? {}
  assert.deepEqual({ isDefault, tip, generation }, { isDefault: true, tip: TIP, generation: 1 })
  const { queueOnly, pinned, tip: none } = branches.get('stable') ?? {}
  assert.deepEqual({ queueOnly, pinned, none }, { queueOnly: true, pinned: true, none: undefined }, 'of two rows the stricter holds')
})

test('QUE-4 ejected pulls are those that are still out, newest first', () => {
  const history = new History()
  const [first, second, again, closed] = [history.pull(dave), history.pull(dave), history.pull(dave), history.pull(dave)]
  for (const pull of [first, second, again, closed]) history.queued(bob, pull)
  for (const pull of [first, second, again, closed]) history.ejected(rigby, pull)
  history.queued(bob, again)
  history.closed(dave, closed)
  const ejected = history
    .view()
    .branches.get('main')
    ?.ejected.map(pull => pull.pull.uri)
  assert.deepEqual(ejected, [second, first])
  assert.equal(history.see(first).ejection?.value.state, 'ejected')
  assert.equal(history.see(closed).ejection, undefined)
})

test('ADM-11 a branch without a workflow at its tip is unchecked; one not looked at is not said to be', () => {
  const history = new History()
  const unchecked = () => history.view().branches.get('main')?.unchecked
  assert.equal(unchecked(), undefined)
  assert.equal(history.tip({ workflows: [] }) && unchecked(), true)
  assert.equal(history.tip() && unchecked(), false)
  assert.equal(history.tip({ workflows: [], tip: commit(5) }) && unchecked(), undefined)
})

test('ADM-5 a merge result counts only for the tip and head that are there now', () => {
  const history = new History()
  const pull = history.pull(dave)
  const result = { pull, tip: TIP, head: HEAD, applies: true, conflicts: [], moreConflicts: 0, changesChecks: false, empty: false }
  history.merges.set(pull, result)
  assert.deepEqual(history.see(pull).merge, result)
  history.refsOf(alice, 'orchard', { main: TIP, topic: commit(3) })
  assert.equal(history.see(pull).merge, undefined)
  history.refsOf(alice, 'orchard', { main: commit(3), topic: HEAD })
  assert.equal(history.see(pull).merge, undefined)
  history.refsOf(alice, 'orchard', { main: TIP })
  assert.equal(history.see(pull).headGone, true)
  history.refs.clear()
  const { head, headGone } = history.see(pull)
  assert.deepEqual({ head, headGone }, { head: undefined, headGone: false }, 'what is not known is not gone')
})

test('REC-12 a refs record that does not lie where its repository does says nothing', () => {
  const history = new History()
  const record = history.refs.get(history.uri)
  assert.ok(record)
  history.refs.set(history.uri, { ...record, did: mallory })
  assert.equal(history.view().branches.get('main')?.tip, undefined)
})

test('REC-4 a deleted record stops counting, and the latest one left wins', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  const left = history.left(carol, pull)
  assert.deepEqual(history.line(), [])
  history.remove(left)
  assert.deepEqual(history.line(), [pull])
  const closed = history.closed(bob, pull, { at: history.now + MINUTE })
  assert.deepEqual(history.line(), [])
  history.remove(closed)
  assert.deepEqual(history.line(), [pull])
})
