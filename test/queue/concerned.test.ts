import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isConcerned } from '../../src/queue/concerned.ts'
import { alice, bob, carol, dave, History, mallory, rigby } from './support.ts'

test('a part in a repository has whom its record names, and who opened or queued a pull of it', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  const view = history.view()
  for (const did of [alice, bob, carol, rigby, dave]) assert.ok(isConcerned(view, did), did)
  assert.equal(isConcerned(view, mallory), false)
})
