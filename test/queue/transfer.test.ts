import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tidAt } from '../../src/queue/tid.ts'
import { alice, bob, carol, dave, HEAD, History, iso, MINUTE, mallory, repoAt } from './support.ts'

test("HON-4 after a transfer the previous owner's records count if they predate the move, later ones do not", () => {
  const history = new History()
  const [before, after] = [history.pull(dave), history.pull(dave)]
  history.queued(alice, before)
  history.transfer(mallory)
  history.queued(alice, after)
  history.left(alice, before)
  assert.deepEqual(history.line(), [before])
  assert.equal(history.view().ignored.get('not-while-named'), 2)
  history.queued(mallory, after)
  assert.deepEqual(history.line(), [before, after], 'the new owner may')
})

test('HON-4 a transfer holds only when both records say it', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(alice, pull)
  history.transfer(mallory)
  const [from, to] = [history.transferredFrom, history.repo]
  assert.deepEqual(history.line(), [pull])
  history.transferredFrom = undefined
  assert.equal(history.view().pulls.size, 0, 'the old record was not read')
  assert.ok(from)
  history.transferredFrom = { ...from, value: { ...from.value, transferredTo: { repo: repoAt(carol), at: tidAt(history.now) } } }
  assert.equal(history.view().pulls.size, 0, 'the old record names another')
  history.transferredFrom = from
  history.repo = { ...to, value: { ...to.value, transferredFrom: repoAt(carol) } }
  assert.equal(history.view().pulls.size, 0, 'the new record names another')
})

test('HON-4 a transfer holds from the later of both sides on', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.transfer(mallory)
  const declared = history.now
  const accepted = declared + 10 * MINUTE
  const { value } = history.repo
  history.repo = { ...history.repo, value: { ...value, createdAt: iso(accepted) } }
  const between = history.queued(alice, pull, { at: declared + 5 * MINUTE })
  assert.equal(history.view(accepted - 1).pulls.size, 0)
  assert.equal(history.view(accepted - 1).wakesAt, accepted)
  assert.equal(history.see(pull, accepted).entry?.key, between.rkey)
  history.queued(alice, history.pull(dave), { at: accepted + MINUTE })
  assert.deepEqual(history.line('main', accepted + 2 * MINUTE), [pull])
})

test('HON-4 both addresses then name one repository', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  history.queued(alice, first)
  const old = history.uri
  history.transfer(mallory)
  history.queued(mallory, second, { repo: old })
  const third = history.pull(dave)
  history.queued(bob, third)
  assert.deepEqual(history.line(), [first, second, third])
  const asked = history.view()
  assert.deepEqual({ uri: asked.uri, movedTo: asked.movedTo }, { uri: history.uri, movedTo: undefined })
  const moved = history.viewFromOldAddress()
  assert.deepEqual({ uri: moved.uri, movedTo: moved.movedTo }, { uri: old, movedTo: history.uri })
  assert.equal(moved.roles.owner, mallory)
  assert.deepEqual(moved.branches.get('main')?.queue, asked.branches.get('main')?.queue)
})

test('HON-4 a head at the old address is the one at the new', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.transfer(mallory)
  history.refs.delete(repoAt(alice))
  assert.equal(history.see(pull).head, HEAD)
})
