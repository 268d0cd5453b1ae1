import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comesBack, takeOut } from '../../src/queue/taking-out.ts'
import { bob, carol, dave, History, MINUTE, mallory, rigby } from './support.ts'

test('HON-5 taking an account out keeps out what it took out, be its keys ahead of the clock', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(carol, pull)
  const now = history.now
  const left = history.left(bob, pull, { at: now + 4 * MINUTE })
  const view = history.view(now)
  assert.deepEqual(history.line('main', now), [])
  const record = takeOut(view, { did: bob, role: 'collaborator' }, now)
  assert.deepEqual(record.collaborators, [{ did: carol }])
  assert.deepEqual(record.former, [{ did: bob, role: 'collaborator', until: left.rkey }])
  assert.deepEqual(comesBack(history.facts(), record, now), [])
  assert.deepEqual(history.edit(record).line('main', now), [])
})

test('HON-5 what an account writes after it was taken out does not count', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(carol, pull)
  history.edit(takeOut(history.view(), { did: bob, role: 'collaborator' }, history.now))
  history.left(bob, pull)
  assert.deepEqual(history.line(), [pull])
})

test('HON-5 before an account is made void, what would come back is listed', () => {
  const history = new History()
  const [left, closed, ejected, queued] = [history.pull(dave), history.pull(dave), history.pull(dave), history.pull(dave)]
  for (const pull of [left, ejected]) history.queued(carol, pull)
  history.left(bob, left)
  history.closed(bob, closed)
  history.ejected(rigby, ejected)
  history.queued(bob, queued)
  const view = history.view()
  const record = takeOut(view, { did: bob, role: 'collaborator', isVoid: true }, history.now)
  assert.deepEqual(comesBack(history.facts(), record, history.now).sort(), [left, closed].sort())
  assert.deepEqual(history.edit(record).line(), [left])
})

test('HON-5 after a move it is the governing record that changes', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(carol, pull)
  history.left(bob, pull)
  history.transfer(mallory)
  const view = history.viewFromOldAddress()
  const record = takeOut(view, { did: bob, role: 'collaborator', isVoid: true }, history.now)
  const { transferredFrom: repo = history.repo, repo: transferredTo } = history
  assert.deepEqual(comesBack({ ...history.facts(), repo, transferredFrom: undefined, transferredTo }, record, history.now), [pull])
})

test('HON-5 an account that is not named in the role is not taken out of it', () => {
  const view = new History().view()
  assert.equal(takeOut(view, { did: rigby, role: 'collaborator' }, 0), view.record.value)
})
