import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alice, bob, commit, dave, History, rigby, rocky } from './support.ts'

test('HON-8 merged is final: closed does not change it, and its author cannot open it', () => {
  const history = new History().tip({ contains: new Map([[commit(7), false]]) })
  const pull = history.pull(dave)
  history.queued(bob, pull)
  const merged = history.merged(rigby, pull, { commit: commit(7) })
  history.closed(bob, pull)
  history.opened(dave, pull)
  history.queued(bob, pull)
  assert.equal(history.see(pull).state, 'merged')
  assert.equal(history.see(pull).stateRecord?.uri, merged.uri)
  assert.deepEqual(history.line(), [])
  history.takeOut(rigby).edit({ runners: [{ did: rocky }] })
  assert.equal(history.see(pull).state, 'merged', 'whoever is named later')
})

test('HON-8 owner or collaborator open it again only while its commit is not on the branch', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.merged(rigby, pull, { commit: commit(7) })
  history.opened(bob, pull)
  assert.equal(history.see(pull).state, 'merged', 'nobody has looked')
  history.tip({ contains: new Map([[commit(7), true]]) })
  assert.equal(history.see(pull).state, 'merged')
  history.tip({ contains: new Map([[commit(7), false]]) })
  assert.equal(history.see(pull).state, 'open')
})

test('HON-8 only a new queueing brings a reopened pull back', () => {
  const history = new History().tip({ contains: new Map([[commit(7), false]]) })
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.merged(rigby, pull, { commit: commit(7) })
  history.queued(bob, pull)
  history.opened(alice, pull)
  assert.equal(history.see(pull).state, 'open')
  assert.deepEqual(history.line(), [])
  const again = history.queued(bob, pull)
  assert.equal(history.see(pull).entry?.key, again.rkey)
})

test('HON-8 one merged commit on the branch is enough to keep a pull merged', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.merged(rigby, pull, { commit: commit(7) })
  const landed = history.merged(rigby, pull, { commit: commit(8) })
  history.opened(alice, pull)
  history.tip({
    contains: new Map([
      [commit(7), false],
      [commit(8), true],
    ]),
  })
  assert.equal(history.see(pull).state, 'merged')
  assert.equal(history.see(pull).stateRecord?.uri, landed.uri, 'and that one says how it landed')
  assert.equal(history.see(pull).mergedThere, true)
})

test('HON-8 a pull that was merged, reopened and merged again says how it landed the second time', () => {
  const history = new History().tip({ contains: new Map([[commit(7), false]]) })
  const pull = history.pull(dave)
  history.merged(rigby, pull, { commit: commit(7) })
  history.opened(alice, pull)
  const second = history.merged(rigby, pull, { commit: commit(8) })
  assert.equal(history.see(pull).stateRecord?.uri, second.uri)
})

test('STA-5 what landed does not read as landing again while the branch that moved on has not been read', () => {
  const history = new History().tip({ contains: new Map([[commit(7), true]]) })
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.merged(rigby, pull, { commit: commit(7) })
  assert.equal(history.see(pull).mergedThere, true)
  history.refsOf(alice, 'orchard', { main: commit(8) })
  assert.equal(history.see(pull).mergedThere, true, 'another landing')
  history.tip({ tip: commit(8), contains: new Map([[commit(7), false]]) })
  assert.equal(history.see(pull).mergedThere, false, 'read again, it was taken off')
  history.refsOf(alice, 'orchard', { main: commit(9) })
  assert.equal(history.see(pull).mergedThere, undefined, 'what was missing may be there now')
})
