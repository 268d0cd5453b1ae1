import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noEstimateWords } from '../../src/queue/words/expected.ts'
import type { Phrase } from '../../src/queue/words/phrase.ts'
import { estimatesOf } from '../../src/server/pages/queue-extras.ts'

const by = (n: number) => ({ standing: { expected: { basis: [`from the last ${n} batches`] } } })
const without = (none: Phrase) => ({ standing: { expected: { none } } })
const held = noEstimateWords({ key: 'held' })
const few = noEstimateWords({ key: 'few', passed: 1, needed: 3 })

test('under a list stands once what its times go by, and why most rows have none where no row has one', () => {
  assert.deepEqual(estimatesOf([without(held), by(5), by(5)]), [['Landing times come from the last 5 batches.']])
  assert.deepEqual(estimatesOf([without(held), without(few), without(few)]), [few])
  assert.deepEqual(estimatesOf([{ standing: {} }]), [])
})
