import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayLand } from '../../../src/runner/landing/may-land.ts'
import { alice, bob, carol, History, iso, mallory, rigby, rocky } from '../../queue/support.ts'

const queue = { queue: true }
const lands = { lands: true }

test('WHO-1 who may push lands, named or not, when started with --queue', () => {
  const view = new History({ runners: [{ did: rigby }] }).view()
  for (const did of [alice, bob, carol]) assert.deepEqual(mayLand(view, did, queue), lands)
  assert.deepEqual(mayLand(view, alice, { queue: false }), { lands: false, first: rigby })
})

test('WHO-2 WHO-3 failing that the first named runner lands, and no other', () => {
  const view = new History({ runners: [{ did: rigby }, { did: rocky }] }).view()
  assert.deepEqual(mayLand(view, rigby, queue), lands)
  assert.deepEqual(mayLand(view, rocky, queue), { lands: false, first: rigby })
  assert.deepEqual(mayLand(view, mallory, queue), { lands: false, first: rigby })
})

test('WHO-2 a named runner that may push keeps the first one out, running or not; one that may push and runs does so too', () => {
  const named = new History({ runners: [{ did: rigby }, { did: carol }] })
  assert.deepEqual(mayLand(named.view(), rigby, queue), { lands: false, first: carol })
  const unnamed = new History({ runners: [{ did: rigby }] })
  unnamed.lander(bob)
  assert.deepEqual(mayLand(unnamed.view(), rigby, queue), { lands: false, first: bob })
  unnamed.lander(bob, { key: 'later', startedAt: iso(unnamed.now), stoppedAt: iso(unnamed.now) })
  assert.deepEqual(mayLand(unnamed.view(), rigby, queue), lands)
})

test('WHO-7 of several the first by the record lands, and one that is not first says who is', () => {
  const history = new History({ runners: [{ did: rigby }, { did: carol }] })
  history.lander(alice)
  assert.deepEqual(mayLand(history.view(), bob, queue), { lands: false, first: alice })
  assert.deepEqual(mayLand(history.view(), alice, queue), lands)
  assert.deepEqual(mayLand(history.view(), carol, queue), lands, 'who is named comes first')
  history.lander(carol)
  assert.deepEqual(mayLand(history.view(), alice, queue), { lands: false, first: carol })
})

test('WHO-7 a record that says running with a lease long past counts as gone', () => {
  const history = new History({ runners: [{ did: rigby }] })
  const until = history.now + 60_000
  history.lander(alice, { lease: { instance: 'one', until: iso(until) } })
  assert.deepEqual(mayLand(history.view(until), bob, queue), { lands: false, first: alice })
  assert.deepEqual(mayLand(history.view(until + 120_001), bob, queue), lands)
  assert.deepEqual(mayLand(history.view(until + 120_001), rigby, queue), lands)
})

test('GWY-9 onto a queue-only branch a collaborator’s runner has to be named; the owner’s and the named ones land there', () => {
  const history = new History({ runners: [{ did: rigby }], protections: [{ branch: 'main', queue: true }] })
  const onMain = { queue: true, branch: 'main' }
  assert.deepEqual(mayLand(history.view(), bob, onMain), { lands: false, first: rigby })
  assert.deepEqual(mayLand(history.view(), bob, { queue: true, branch: 'other' }), lands)
  history.lander(bob)
  assert.deepEqual(mayLand(history.view(), rigby, onMain), lands, 'bob, who may not, keeps nobody from it')
  assert.deepEqual(mayLand(history.view(), rigby, { queue: true, branch: 'other' }), { lands: false, first: bob })
  assert.deepEqual(mayLand(history.view(), alice, onMain), lands)
})
