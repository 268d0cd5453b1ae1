import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareIndexes } from '../../src/indexer/compare.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { alice, bob, MINUTE, START } from '../queue/made-up.ts'
import { key, openBench, pullRecord, put, queueRecord, repoRecord, uriOf } from './support.ts'

test('the order of a record’s fields is no difference between indexes: servers give them back in another', async () => {
  const [here, there] = [await openBench(), await openBench()]
  const pull = uriOf(bob, 'pull', key(1))
  const entry = queueRecord(pull)
  const turned = Object.fromEntries(Object.entries(entry).reverse())
  const same = [put(alice, 'repo', 'orchard', repoRecord(), 1), put(bob, 'pull', key(1), pullRecord(), 2)]
  const queued = put(bob, 'queue', key(2), entry, 3)
  await here.take(...same, queued)
  await there.take(...same, { ...queued, record: { ...turned, $type: 'dev.knotless.queue' } })
  const now = START + 60 * MINUTE
  assert.deepEqual(compareIndexes(here.index, there.index, foldRepository, now).differences, [])

  const left = put(bob, 'queue', key(3), queueRecord(pull, { state: 'left' }), 4)
  await there.take(left)
  const found = compareIndexes(here.index, there.index, foldRepository, now).differences
  assert.ok(found.some(({ what }) => what === 'answer'))
  await Promise.all([here.close(), there.close()])
})
