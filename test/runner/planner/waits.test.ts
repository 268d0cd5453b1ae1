import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Wait } from '../../../src/runner/planner/types.ts'
import { createScene, flight, MINUTE, run, START } from './scene.ts'

/** STA-4: whatever waits is said, in the order in which a person would want to know. */
test('STA-4 a batch that is being checked says which workflows still run, one ahead as well', () => {
  const scene = createScene('ab', {
    settings: { batch: 1, depth: 2, waitMs: 0 },
    starts: () => [run('filed'), run('filed', { workflow: 'lint' })],
  })
  scene.pass()
  scene.end(1, run('passed'), run('running', { workflow: 'lint' }))
  scene.pass()
  assert.deepEqual(scene.last.waits, [
    { for: 'checks', tip: 'm0+a1', workflows: ['lint'] },
    { for: 'checks', tip: 'm0+a1+b1', workflows: ['test', 'lint'] },
  ])
})

test('STA-4 a batch that passed ahead, or whose runs are not known, waits for no workflow', () => {
  const scene = createScene('a')
  scene.pass()
  scene.runs.delete(1)
  scene.pass()
  assert.deepEqual(scene.last.waits, [])
})

test('STA-4 pulls that wait for pre-flights are counted, with every workflow that one of them waits for', () => {
  const scene = createScene('abc', { preflights: ['check', 'test'] })
  const passed = flight('passed', { workflow: 'test' })
  scene.change('a', { flights: [flight('running'), passed] })
  scene.change('b', { flights: [flight('trouble', { check: 'c1', endedAt: START }), flight('passed', { workflow: 'test' })] })
  scene.change('c', { flights: 'unread' })
  scene.pass()
  assert.deepEqual(scene.last.waits, [{ for: 'preflights', pulls: 3, workflows: ['check', 'test'] }])
  assert.equal(scene.last.wakeAt, START + MINUTE)
})

test('STA-4 a queue that is filling is not said to be while a batch is in flight', () => {
  const scene = createScene('ab', { settings: { batch: 2, depth: 1, waitMs: MINUTE } })
  scene.pass()
  scene.join('c')
  scene.pass()
  assert.deepEqual(
    scene.last.waits.map(wait => wait.for),
    ['checks'],
  )
})

test('STA-4 a key that lies in the future makes nobody wait where nothing is to fill', () => {
  const scene = createScene('a')
  scene.change('a', { queuedAt: START + 4 * MINUTE })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'file 1'])
})

test('STA-4 an empty queue waits for nothing and wakes nobody', () => {
  const scene = createScene('')
  assert.deepEqual(scene.pass(), [])
  assert.deepEqual(scene.last.waits, [])
  assert.equal(scene.last.wakeAt, undefined)
})

test('STA-4 a list of unreadable heads is said up to twenty', () => {
  const scene = createScene('abcdefghijklmnopqrstuvwxyz')
  scene.queue = scene.queue.map(waiting => ({ ...waiting, head: { state: 'unreadable', server: 'pds.example' } }))
  scene.pass()
  assert.equal(scene.last.waits.length, 20)
})

test('STA-4 the runner is woken for the first of what is due, and never for what is past', () => {
  const scene = createScene('ab', { settings: { batch: 3, depth: 1, waitMs: 5 * MINUTE } })
  scene.change('b', { head: { state: 'unreadable', server: 'pds.example' } })
  scene.pass()
  const kinds: Wait['for'][] = scene.last.waits.map(wait => wait.for)
  assert.deepEqual(kinds, ['filling', 'unreadable'])
  assert.equal(scene.last.wakeAt, START + MINUTE)
  scene.now = START + 2 * MINUTE
  scene.pass()
  assert.equal(scene.last.wakeAt, START + 4 * MINUTE)
})
