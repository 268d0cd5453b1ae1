import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tidAt } from '../../src/queue/tid.ts'
import { alice, bob, carol, DAY, dave, History, mallory, rigby, START } from './support.ts'

test('HON-5 what an old record named goes on taking out after a move that does not name it any more', () => {
  const history = new History()
  const [left, ejected] = [history.pull(dave), history.pull(dave)]
  for (const pull of [left, ejected]) history.queued(alice, pull)
  history.left(bob, left)
  history.ejected(rigby, ejected)
  history.transfer(mallory, { collaborators: [], runners: [] })
  assert.deepEqual(history.line(), [])
  history.queued(mallory, left)
  history.left(bob, left)
  assert.deepEqual(history.line(), [left], 'but nothing that it wrote later')
})

test('HON-5 what puts in counts only while its writer may now', () => {
  const history = new History()
  const [queued, reopened] = [history.pull(dave), history.pull(dave)]
  history.queued(bob, queued)
  history.closed(carol, reopened)
  history.opened(bob, reopened)
  history.queued(carol, reopened)
  assert.deepEqual(history.line(), [queued, reopened])
  history.takeOut(bob)
  assert.deepEqual(history.line(), [])
  assert.equal(history.see(reopened).state, 'closed')
  history.edit({ collaborators: [{ did: bob }, { did: carol }] })
  assert.deepEqual(history.line(), [queued, reopened], 'named again, it may again')
})

test('HON-5 what takes out goes on counting from whoever was allowed, up to the key that the record says', () => {
  const history = new History()
  const [left, ejected, closed, merged] = [history.pull(dave), history.pull(dave), history.pull(dave), history.pull(dave)]
  const pulls = [left, ejected, closed, merged]
  for (const pull of pulls) history.queued(carol, pull)
  assert.deepEqual(history.line(), pulls)
  history.left(bob, left)
  history.ejected(bob, ejected)
  history.closed(bob, closed)
  history.merged(bob, merged)
  const until = history.lastKey()
  history.takeOut(bob)
  assert.deepEqual(history.line(), [])
  assert.deepEqual(
    pulls.map(pull => history.see(pull).state),
    ['open', 'open', 'closed', 'merged'],
  )
  history.queued(carol, left)
  const late = history.left(bob, left)
  assert.ok(late.rkey > until)
  assert.deepEqual(history.line(), [left], 'what it wrote after that key does not count')
  assert.equal(history.view().ignored.get('not-while-named'), 1)
})

test('HON-5 a former runner goes on taking out what a runner may, and no more', () => {
  const history = new History()
  const [ejected, kept] = [history.pull(dave), history.pull(dave)]
  for (const pull of [ejected, kept]) history.queued(carol, pull)
  history.ejected(rigby, ejected)
  history.left(rigby, kept)
  history.takeOut(rigby)
  assert.deepEqual(history.line(), [kept])
})

test('HON-5 a former account that is void counts for nothing', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  history.queued(carol, first)
  history.left(bob, first)
  history.queued(bob, second)
  history.takeOut(bob, { void: true })
  assert.deepEqual(history.line(), [first])
  assert.equal(history.view().ignored.get('void'), 2)
})

test('HON-5 a void account that is named again counts for what it writes after it was void', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  history.queued(bob, first)
  history.takeOut(bob, { void: true })
  history.edit({ collaborators: [{ did: bob }] })
  history.queued(bob, second)
  assert.deepEqual(history.line(), [second])
})

test('HON-5 a previous owner that is void counts for nothing', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(alice, pull)
  history.transfer(mallory)
  assert.deepEqual(history.line(), [pull])
  const until = tidAt(START)
  history.takeOut(alice, { until, role: 'collaborator' })
  assert.deepEqual(history.line(), [pull], 'taken out is not void')
  history.takeOut(alice, { until, role: 'collaborator', void: true })
  assert.deepEqual(history.line(), [], 'whatever key it is void to')
})

test('HON-5 an account of the old record that the new one makes void counts for nothing', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(carol, pull)
  history.left(bob, pull)
  history.transfer(mallory, { collaborators: [{ did: carol }] })
  assert.deepEqual(history.line(), [])
  history.takeOut(bob, { void: true, until: tidAt(START) })
  assert.deepEqual(history.line(), [pull])
})

test('HON-5 who was former before a move takes nothing out after it', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(carol, pull)
  history.takeOut(bob, { until: tidAt(history.now + DAY) })
  history.transfer(mallory, { former: [] })
  history.left(bob, pull)
  assert.deepEqual(history.line(), [pull])
})
