import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTid } from '../../src/atproto/ids.ts'
import { createTidClock } from '../../src/atproto/tid.ts'
import { tidAt, tidMillis } from '../../src/queue/tid.ts'

const noon = Date.UTC(2026, 10, 30, 12)

test('REC-7 keys follow the clock and rise even when it stands still or goes back', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -10_000, max: 10_000 }), { minLength: 2, maxLength: 50 }),
      fc.integer({ min: 0, max: 1023 }),
      (steps, clockId) => {
        let time = noon
        const clock = createTidClock({ now: () => time, clockId })
        const keys = steps.map(step => {
          time += step
          return clock.next()
        })
        for (const [i, key] of keys.entries()) {
          assert.ok(parseTid(key))
          assert.ok(i === 0 || key > (keys[i - 1] ?? ''), `${keys[i - 1]} < ${key}`)
        }
      },
    ),
  )
})

test('REC-7 a key is greater than the one it comes after, by whomever and however far ahead that was written', () => {
  fc.assert(
    fc.property(fc.integer({ min: -86_400_000, max: 86_400_000 }), fc.integer({ min: 0, max: 1023 }), (ahead, clockId) => {
      const clock = createTidClock({ now: () => noon, clockId: 0 })
      const after = tidAt(noon + ahead, clockId)
      const key = clock.next(after)
      assert.ok(key > after)
      assert.ok(clock.next() > key)
      if (ahead < 0) assert.equal(tidMillis(key), noon)
    }),
  )
})

test('two programs of one account with the same clock make different keys', () => {
  const [a, b] = [1, 2].map(clockId => createTidClock({ now: () => noon, clockId }).next())
  assert.notEqual(a, b)
})

test('REC-7 where no key is left above the one given, that is an error, not a lower key', () => {
  const clock = createTidClock({ now: () => noon, clockId: 0 })
  assert.throws(() => clock.next('jzzzzzzzzzzzz'), RangeError)
  assert.equal(tidMillis(clock.next()), noon, 'and the clock goes on as before')
})
