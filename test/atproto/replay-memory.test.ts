import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReplayMemory } from '../../src/atproto/replay-memory.ts'

test('GWY-10 what was spent stays spent until it expires, and is forgotten then', () => {
  let seconds = 1_000
  const memory = createReplayMemory({ now: () => seconds * 1000 })
  assert.equal(memory.spend('a', '1', 1_060), 'ok')
  assert.equal(memory.spend('b', '1', 1_060), 'ok', 'of another issuer')
  seconds = 1_060
  assert.equal(memory.spend('a', '1', 1_060), 'spent')
  assert.ok(memory.isSpent('a', '1'))
  seconds = 1_061
  assert.ok(!memory.isSpent('a', '1'))
})

test('GWY-10 a full memory refuses rather than forgets, and one issuer cannot fill it for all', () => {
  let seconds = 1_000
  const memory = createReplayMemory({ now: () => seconds * 1000, maxPerIssuer: 3, maxTotal: 5 })
  for (const jti of ['1', '2', '3']) assert.equal(memory.spend('greedy', jti, 1_060), 'ok')
  assert.equal(memory.spend('greedy', '4', 1_060), 'full')
  assert.equal(memory.spend('other', '1', 1_060), 'ok')
  assert.equal(memory.spend('third', '1', 1_030), 'ok')
  assert.equal(memory.spend('fourth', '1', 1_060), 'full')
  assert.equal(memory.spend('greedy', '1', 1_060), 'spent')
  seconds = 1_031
  assert.equal(memory.spend('fourth', '1', 1_090), 'ok', 'room of what has expired is used again')
  seconds = 1_061
  assert.equal(memory.spend('greedy', '4', 1_090), 'ok')
  for (const [issuer, jti] of [
    ['x', '1'],
    ['y', '1'],
    ['z', '1'],
  ] as const)
    assert.equal(memory.spend(issuer, jti, 1_090), 'ok')
  assert.equal(memory.spend('w', '1', 1_090), 'full')
})
