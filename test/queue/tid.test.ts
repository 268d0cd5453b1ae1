import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isTid, tidAt, tidMillis } from '../../src/queue/tid.ts'

test('REC-3 a key is a TID only in its exact shape', () => {
  assert.equal(isTid('3jzfcijpj2z2a'), true)
  assert.equal(isTid('7777777777777'), true)
  assert.equal(isTid('2222222222222'), true)
  for (const key of [
    '',
    'self',
    '3jzfcijpj2z21',
    '0000000000000',
    '3jzfcijpj2z2aa',
    '3jzfcijpj2z2',
    'zzzzzzzzzzzzz',
    '3JZFCIJPJ2Z2A',
    '3jzf-cij-pj2z-2a',
  ]) {
    assert.equal(isTid(key), false, key)
  }
})

test('REC-3 the time of a key is the time it was made of, and what is no key has none', () => {
  assert.equal(tidMillis(tidAt(1_790_000_000_123)), 1_790_000_000_123)
  assert.equal(new Date(tidMillis('3jzfcijpj2z2a')).getUTCFullYear(), 2023)
  assert.ok(Number.isNaN(tidMillis('self')))
  assert.throws(() => tidAt(-1), RangeError)
  assert.throws(() => tidAt(0, 1024), RangeError)
  assert.throws(() => tidAt(Number.NaN), RangeError)
})

test('HON-7 keys sort as their times do, then by the number of their writer', () => {
  const time = fc.integer({ min: 0, max: 9_000_000_000_000 })
  const clock = fc.integer({ min: 0, max: 1023 })
  fc.assert(
    fc.property(time, clock, time, clock, (a, i, b, j) => {
      const [left, right] = [tidAt(a, i), tidAt(b, j)]
      const order = a - b || i - j
      assert.ok(isTid(left))
      assert.equal(Math.sign(order), left < right ? -1 : left > right ? 1 : 0)
      assert.equal(tidMillis(left), a)
    }),
  )
})
