import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alice, bob, carol, History, iso, mallory, rigby, rocky } from './support.ts'

test('WHO-1 a running lander of an account that may push lands, named or not', () => {
  const history = new History()
  history.lander(bob)
  const { lander } = history.view()
  assert.deepEqual({ did: lander?.did, named: lander?.named }, { did: bob, named: false })
  assert.equal(lander?.record?.did, bob)
})

test('WHO-2 failing that the first named runner lands, seen or not', () => {
  const history = new History({ runners: [{ did: rigby }, { did: rocky }] })
  history.lander(rocky)
  history.lander(mallory)
  assert.deepEqual(history.view().lander, { did: rigby, named: true, running: false, record: undefined })
  const record = history.lander(rigby)
  assert.equal(history.view().lander?.record, record)
})

test('WHO-2 a named runner that may push keeps the others out, running or not', () => {
  const history = new History({ runners: [{ did: rigby }, { did: carol }] })
  history.lander(rigby)
  assert.equal(history.view().lander?.did, carol)
})

test('WHO-2 nobody lands where no runner is named and none that may push runs', () => {
  const history = new History({ runners: [] })
  assert.equal(history.view().lander, undefined)
  history.lander(bob, { stoppedAt: iso(history.now) })
  assert.equal(history.view().lander, undefined)
})

test("WHO-7 of several that run: first in runners, then the owner, then collaborators in the record's order", () => {
  const history = new History({ runners: [{ did: rigby }] })
  history.lander(carol)
  history.lander(bob)
  assert.equal(history.view().lander?.did, bob)
  history.lander(alice)
  assert.equal(history.view().lander?.did, alice)
  history.edit({ runners: [{ did: rigby }, { did: carol }] })
  assert.equal(history.view().lander?.did, carol)
  history.lander(carol, { key: 'again', stoppedAt: iso(history.now) })
  assert.equal(history.view().lander?.did, alice)
  history.landers.reverse()
  assert.equal(history.view().lander?.did, alice, 'the record that was started last tells')
})

test('WHO-7 WHO-8 one whose lease ended long ago does not run, whatever its record says, and the answer changes by itself then', () => {
  const history = new History({ runners: [{ did: rigby }] })
  const until = history.now + 60_000
  history.lander(alice, { lease: { instance: 'one', until: iso(until) } })
  history.lander(bob)
  assert.equal(history.view().lander?.did, alice)
  const gone = history.view().wakesAt
  assert.equal(gone, until + 120_001)
  assert.equal(history.view(until + 120_000).lander?.did, alice, 'it may be a little late')
  assert.equal(history.view(gone).lander?.did, bob)
})
