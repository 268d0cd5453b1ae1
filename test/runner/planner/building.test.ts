import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScene, run } from './scene.ts'

test('BLD-1 LND-1 ready pulls are built in queue order, checked at their tip and landed together', () => {
  const scene = createScene('abc')
  assert.deepEqual(scene.pass(), ['build 1 on m0: abc', 'file 1'])
  assert.deepEqual(scene.last.waits, [{ for: 'checks', tip: 'm0+a1+b1+c1', workflows: ['test'] }])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1'])
  assert.equal(scene.tip?.commit, 'm0+a1+b1+c1')
  assert.deepEqual(scene.line.batches, [])
})
