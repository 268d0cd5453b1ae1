/** What random histories found (`npm run simulate`), each as short as it gets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeftOut } from '../../../src/runner/planner/types.ts'
import { createScene, flight, HOUR, MINUTE, run } from './scene.ts'

test('BLD-8 a pull is not told that its changes are on the branch while they are only in the batch before it', () => {
  // Both bring the same change: b changes nothing on top of a, as long as a is there.
  let isAlone = false
  const scene = createScene('ab', { left: (name): LeftOut | undefined => (name === 'b' && !isAlone ? { why: 'empty' } : undefined) })
  scene.pass()
  assert.deepEqual(scene.ejected, [])
  scene.end(1, run('failed'))
  isAlone = true
  scene.pass()
  assert.deepEqual(
    scene.ejected.map(({ pull }) => pull),
    ['pull-a'],
  )
  assert.deepEqual(
    scene.line.batches[0]?.members.map(({ pull }) => pull),
    ['pull-b'],
  )
})

test('STA-4 a pull whose ejection could not be written is said to wait for that', () => {
  const scene = createScene('a', { ejecting: false })
  scene.change('a', { head: { state: 'gone' } })
  scene.pass()
  assert.equal(scene.last.waits.length, 1)
  assert.notEqual(scene.last.wakeAt, undefined)
})

test('REC-8 BLD-4 a head that can be read again once the clock is right is not ejected for what was so meanwhile', () => {
  const scene = createScene('a', { standBy: { why: 'clock', skewMs: 90_000 } })
  scene.change('a', { head: { state: 'unreadable', server: 'pds.example' } })
  scene.pass()
  scene.now += HOUR + MINUTE
  scene.pass()
  scene.standBy = undefined
  scene.change('a', { head: { state: 'at', commit: 'a1' } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'file 1'])
})

test('REC-8 BLD-4 a branch that was pushed again before the clock was right is not ejected as gone', () => {
  const scene = createScene('a', { standBy: { why: 'clock', skewMs: 90_000 } })
  scene.change('a', { head: { state: 'gone' } })
  scene.pass()
  scene.standBy = undefined
  scene.change('a', { head: { state: 'at', commit: 'a1' } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'file 1'])
})

test('PRE-3 a pull is not ejected for a pre-flight on a tip from which the branch moved before the ejection was asked for', () => {
  const scene = createScene('a', { preflights: ['check'] })
  scene.change('a', { flights: [flight('failed', { check: 'check-1', status: 'failure' })] })
  scene.pass({ crashBefore: 'eject' })
  scene.move('m1')
  assert.deepEqual(scene.pass(), ['fly a at a1 on m1: check'])
})

test('QUE-9 a pinned pull that moved between reading and building is not landed at a head that nobody looked at', () => {
  const scene = createScene('a', { pinned: true, fetched: () => 'a2', starts: () => [] })
  scene.change('a', { authorMayQueue: false })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'drop 1 pull-moved-on', 'eject a changed'])
  assert.equal(scene.tip?.commit, 'm0')
})

test('FAI-6 REC-8 what was ejected is not built again because a clock was an hour ahead for a while', () => {
  const scene = createScene('a', { lagging: true })
  scene.change('a', { head: { state: 'gone' } })
  assert.deepEqual(scene.pass(), ['eject a branch-gone'])
  const listed = scene.queue
  scene.queue = []
  scene.standBy = { why: 'clock', skewMs: HOUR }
  scene.now += HOUR
  scene.pass()
  scene.standBy = undefined
  scene.now -= HOUR
  scene.queue = listed
  scene.change('a', { head: { state: 'at', commit: 'a1' } })
  assert.deepEqual(scene.pass(), [])
})
