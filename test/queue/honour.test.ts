import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tidAt } from '../../src/queue/tid.ts'
import { alice, bob, carol, commit, dave, History, MINUTE, mallory, rigby } from './support.ts'

test('HON-1 queue records count from the owner and from collaborators', () => {
  for (const writer of [alice, bob, carol]) {
    const history = new History()
    const pull = history.pull(dave)
    history.queued(writer, pull)
    assert.deepEqual(history.line(), [pull])
    history.left(writer, pull)
    assert.deepEqual(history.line(), [])
    history.queued(writer, pull)
    history.ejected(writer, pull)
    assert.deepEqual(history.line(), [])
  }
})

test("HON-2 a stranger's record counts for nothing, whatever it says and however new", () => {
  const history = new History()
  const [waiting, queued] = [history.pull(dave), history.pull(dave)]
  history.queued(bob, queued)
  history.queued(mallory, waiting)
  history.left(mallory, queued)
  history.ejected(mallory, queued)
  history.closed(mallory, queued)
  history.merged(mallory, queued, { commit: commit(7) })
  history.queued(dave, waiting)
  assert.deepEqual(history.line(), [queued], 'nor does that of an author who may not merge')
  assert.equal(history.see(queued).state, 'open')
  assert.equal(history.see(queued).history.length, 1)
  assert.equal(history.view().ignored.get('stranger'), 6)
})

test('HON-3 of the queue records of a named runner only ejected counts', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(rigby, pull)
  assert.deepEqual(history.line(), [])
  history.queued(bob, pull)
  history.left(rigby, pull)
  assert.deepEqual(history.line(), [pull])
  assert.equal(history.view().ignored.get('runner-may-not'), 2)
  const ejected = history.ejected(rigby, pull)
  assert.deepEqual(history.line(), [])
  assert.equal(history.see(pull).ejection?.uri, ejected.uri)
})

test("HON-3 of the states of a named runner merged and closed count as the owner's would, open does not", () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  history.closed(rigby, first)
  history.merged(rigby, second, { commit: commit(7) })
  assert.equal(history.see(first).state, 'closed')
  assert.equal(history.see(second).state, 'merged')
  history.opened(rigby, first)
  assert.equal(history.see(first).state, 'closed')
})

test('HON-3 a runner that is a collaborator as well has all that a collaborator has', () => {
  const history = new History({ runners: [{ did: bob }] })
  const pull = history.pull(dave)
  history.queued(bob, pull)
  assert.deepEqual(history.line(), [pull])
  history.left(bob, pull)
  assert.deepEqual(history.line(), [])
})

test('HON-1 an owner that names themselves is named once', () => {
  const history = new History({ collaborators: [{ did: alice }, { did: bob }, { did: bob }] })
  assert.deepEqual(history.view().roles.collaborators, [bob])
})

test('HON-6 owner and collaborators may merge, close and open; the author may close and open', () => {
  for (const writer of [alice, bob, dave]) {
    const history = new History()
    const pull = history.pull(dave)
    history.closed(writer, pull)
    assert.equal(history.see(pull).state, 'closed')
    assert.equal(history.see(pull).stateRecord?.did, writer)
    history.opened(writer, pull)
    assert.equal(history.see(pull).state, 'open')
    history.merged(writer, pull)
    assert.equal(history.see(pull).state, writer === dave ? 'open' : 'merged')
  }
})

test('HON-6 the author of another pull may not close this one', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.pull(mallory)
  history.closed(mallory, pull)
  assert.equal(history.see(pull).state, 'open')
})

test('HON-6 a state of an issue says nothing about pulls and is no fault', () => {
  const history = new History()
  const issue = `at://${dave}/dev.knotless.issue/${tidAt(history.tick())}` as const
  history.closed(alice, issue)
  assert.deepEqual([...history.view().ignored], [])
})

test('HON-7 the latest honoured record by key wins, across all writers', () => {
  const history = new History()
  const pull = history.pull(dave)
  const base = history.now
  history.left(carol, pull, { at: base + 3 * MINUTE })
  history.queued(bob, pull, { at: base + 2 * MINUTE })
  assert.deepEqual(history.line('main', base + 5 * MINUTE), [])
  history.queued(alice, pull, { at: base + 4 * MINUTE })
  assert.deepEqual(history.line('main', base + 5 * MINUTE), [pull])
})

test('HON-7 equal keys are ordered by the DID of their writer', () => {
  const key = tidAt(new History().now + 5 * MINUTE)
  const written = { at: new History().now + 5 * MINUTE, key }
  const leftByLater = new History()
  const first = leftByLater.pull(dave)
  leftByLater.queued(alice, first, written)
  leftByLater.left(bob, first, written)
  assert.deepEqual(leftByLater.line('main', written.at), [])
  const queuedByLater = new History()
  const second = queuedByLater.pull(dave)
  queuedByLater.queued(bob, second, written)
  queuedByLater.left(alice, second, written)
  assert.deepEqual(queuedByLater.line('main', written.at), [second])
})

test('HON-7 places with equal keys are ordered by the DID of their writer', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  const written = { at: history.now + MINUTE }
  history.queued(bob, first, written)
  history.queued(alice, second, written)
  assert.deepEqual(history.line('main', written.at), [second, first])
})
