import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldRepository } from '../../src/queue/fold.ts'
import { layOver } from '../../src/queue/overlay.ts'
import { alice, bob, carol, History, MINUTE, queueOf } from './support.ts'

test('NOT-1 a fresh record that the index has not caught up with counts', () => {
  const history = new History({ collaborators: [{ did: bob }] })
  const pull = history.pull(carol)
  const facts = history.facts()
  const indexed = { ...facts, queue: [...facts.queue] }
  const record = history.queued(bob, pull)
  assert.deepEqual(queueOf(foldRepository(indexed, history.now), 'main'), [])
  const fresh = layOver(indexed, { queue: [{ did: bob, records: [record] }] })
  assert.deepEqual(queueOf(foldRepository(fresh, history.now), 'main'), [pull])
})

test('NOT-7 an indexed record that a fresh read covers and lacks was deleted; one it does not cover stays', () => {
  const history = new History({ collaborators: [{ did: bob }] })
  const [first, second] = [history.pull(carol), history.pull(carol)]
  history.queued(bob, first)
  const later = history.queued(bob, second)
  const line = (from: string | undefined) =>
    queueOf(foldRepository(layOver(history.facts(), { queue: [{ did: bob, records: [], from }] }), history.now), 'main')
  assert.deepEqual(line(later.rkey), [first])
  assert.deepEqual(line(undefined), [])
})

test('NOT-1 an account that was not read keeps its indexed records', () => {
  const history = new History({ collaborators: [{ did: bob }] })
  const pull = history.pull(carol)
  history.queued(bob, pull)
  const view = foldRepository(layOver(history.facts(), { queue: [{ did: alice, records: [] }] }), history.now)
  assert.deepEqual(queueOf(view, 'main'), [pull])
})

test('REC-9 a record that the index saw in time is not backdated by reading it again later', () => {
  const history = new History({ collaborators: [{ did: bob }] })
  const pull = history.pull(carol)
  const record = history.queued(bob, pull)
  const again = { ...record, seenAt: record.seenAt + 60 * MINUTE }
  const view = foldRepository(layOver(history.facts(), { queue: [{ did: bob, records: [again] }] }), history.now + 60 * MINUTE)
  assert.equal(view.pulls.get(pull)?.entry?.backdated, undefined)
})

test('ADM-3 the pull and the repository as read at their source replace what the index has', () => {
  const history = new History({ collaborators: [{ did: bob }] })
  const pull = history.pull(carol)
  history.queued(bob, pull)
  const facts = history.facts()
  const gone = layOver(facts, { pulls: new Map([[pull, null]]) })
  assert.equal(foldRepository(gone, history.now).pulls.get(pull), undefined)
  const [record] = facts.pulls
  assert.ok(record)
  const moved = { ...record, cid: 'bafynew', value: { ...record.value, branch: 'next' } }
  const retargeted = layOver(facts, { pulls: new Map([[pull, moved]]) })
  assert.deepEqual(queueOf(foldRepository(retargeted, history.now), 'next'), [pull])
  const alone = { ...facts.repo, cid: 'bafyalone', value: { ...facts.repo.value, collaborators: [] } }
  assert.deepEqual(queueOf(foldRepository(layOver(facts, { repo: alone }), history.now), 'main'), [])
})
