import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeftOut } from '../../../src/runner/planner/types.ts'
import { createScene, lost, run, type Scene } from './scene.ts'

const conflict: LeftOut = { why: 'conflict', files: ['seeds.ts'], more: 0, with: [] }
const settings = { batch: 2, depth: 2, waitMs: 0 } as const

/** A batch of a and b is being checked, and one of c and d on top of it. */
function twoDeep(over: Partial<Scene> = {}): Scene {
  const scene = createScene('abcd', { settings, ...over })
  scene.pass()
  return scene
}

test('AHD-1 the next batch is built on the tip of the one being checked, and never more than one ahead', () => {
  const scene = createScene('abcdef', { settings })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abcdef', 'file 1', 'build 2 on m0+a1+b1 ahead of 1: cdef', 'file 2 ahead'])
  assert.deepEqual(scene.pass(), [])
})

test('AHD-1 with --depth 1 one batch is checked at a time', () => {
  const scene = createScene('abcd', { settings: { ...settings, depth: 1 } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abcd', 'file 1'])
  assert.deepEqual(scene.pass(), [])
})

test('AHD-1 nothing is built on a batch whose checks are not filed', () => {
  const scene = createScene('abcd', { settings, filing: { ok: false } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abcd', 'file 1'])
})

test('AHD-2 AHD-5 when the one under it lands it is looked at in the same pass: what passed lands, the next is built', () => {
  const scene = twoDeep()
  scene.end(2, run('passed'))
  assert.deepEqual(scene.pass(), [])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1', 'land 2'])
  assert.equal(scene.tip?.commit, 'm0+a1+b1+c1+d1')
})

test('AHD-5 what is still being checked when the one under it lands is next, and its runs go first', () => {
  const scene = twoDeep()
  scene.join('e')
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1', 'promote 2', 'build 3 on m0+a1+b1+c1+d1 ahead of 2: e', 'file 3 ahead'])
  assert.deepEqual(scene.pass(), [])
})

test('AHD-2 when the one under it fails it is dropped too, the one on top first, and its pulls keep their places', () => {
  const scene = twoDeep()
  scene.end(2, run('passed'))
  scene.end(1, run('failed'))
  assert.deepEqual(scene.pass(), ['drop 2 batch-failed', 'drop 1 batch-failed', 'build 3 on m0: a', 'file 3'])
  assert.deepEqual(scene.names(), ['a', 'b', 'c', 'd'])
})

test('FAI-9 a batch ahead that is red is judged only once the batch under it has landed', () => {
  const scene = twoDeep()
  scene.end(2, run('failed'))
  assert.deepEqual(scene.pass(), [])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1', 'drop 2 batch-failed', 'build 3 on m0+a1+b1: c', 'file 3'])
  assert.deepEqual(scene.ejected, [])
})

test('FAI-9 when the batch under it fails, the verdict above is thrown away', () => {
  const scene = createScene('ab', { settings: { ...settings, batch: 1 } })
  scene.pass()
  scene.end(2, run('failed'))
  scene.end(1, run('failed'))
  assert.deepEqual(scene.pass(), ['drop 2 batch-failed', 'drop 1 batch-failed', 'eject a checks', 'build 3 on m0: b', 'file 3'])
  assert.deepEqual(scene.names(), ['b'])
})

test('FAI-8 FAI-9 a batch ahead without a verdict waits for the batch under it as well', () => {
  const scene = twoDeep()
  scene.end(2, lost())
  assert.deepEqual(scene.pass(), [])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1', 'drop 2 no-verdict'])
})

test('AHD-3 no batch runs ahead while there are suspects', () => {
  const scene = createScene('abcd', { settings: { ...settings, batch: 4 } })
  scene.pass()
  scene.join('e')
  scene.end(1, run('failed'))
  assert.deepEqual(scene.pass(), ['drop 1 batch-failed', 'build 2 on m0: ab', 'file 2'])
  scene.end(2, run('passed'))
  assert.deepEqual(scene.pass(), ['land 2', 'build 3 on m0+a1+b1: c', 'file 3'])
})

test('AHD-4 building ahead a pull in conflict, or with nothing to land, is left out and not ejected, and not tried on that batch again', () => {
  const scene = createScene('abcd', {
    settings,
    left: (name, base) => (base === 'm0' ? undefined : name === 'c' ? conflict : name === 'd' ? { why: 'empty' } : undefined),
  })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abcd', 'file 1', 'build 2 on m0+a1+b1 ahead of 1: cd'])
  assert.deepEqual(scene.pass(), [])
  assert.deepEqual(scene.ejected, [])
  scene.join('e')
  assert.deepEqual(scene.pass(), ['build 3 on m0+a1+b1 ahead of 1: e', 'file 3 ahead'])
})

test('AHD-4 with another head it is tried again', () => {
  const scene = createScene('abc', { settings, left: (name, base) => (name === 'c' && base !== 'm0' ? conflict : undefined) })
  scene.pass()
  scene.change('c', { head: { state: 'at', commit: 'c2' } })
  assert.deepEqual(scene.pass(), ['build 3 on m0+a1+b1 ahead of 1: c'])
})

test('AHD-4 on the branch itself a conflict is real: once the one under it landed it is ejected', () => {
  const scene = createScene('abc', { settings, left: name => (name === 'c' ? conflict : undefined) })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abc', 'file 1', 'build 2 on m0+a1+b1 ahead of 1: c'])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1', 'build 3 on m0+a1+b1: c', 'eject c conflict'])
})

for (const [what, left] of [
  ['gone', { why: 'gone' }],
  ['hostile', { why: 'hostile', detail: 'No.' }],
] as const) {
  test(`BLD-4 STO-11 building ahead, a head that is ${what} is ejected: that does not hang on the batch under it`, () => {
    const scene = createScene('abc', { settings, left: name => (name === 'c' ? left : undefined) })
    assert.deepEqual(scene.pass().slice(2), ['build 2 on m0+a1+b1 ahead of 1: c', `eject c ${what === 'gone' ? 'branch-gone' : 'other'}`])
  })
}

test('AHD-1 a stack whose batch under it is gone when it comes is not taken', () => {
  const scene = createScene('abcd', { settings })
  const carried = scene.pass({ crashBefore: 'build' })
  assert.deepEqual(carried, [])
  const seen = scene.snapshot
  let turns = 0
  // a leaves between the question and the answer.
  scene.snapshot = () => {
    if (++turns === 4) scene.leave('a')
    return seen()
  }
  assert.deepEqual(scene.pass(), [
    'build 2 on m0: abcd',
    'file 2',
    'build 3 on m0+a1+b1 ahead of 2: cd',
    'drop 3 pull-moved-on',
    'drop 2 pull-moved-on',
    'build 4 on m0: bcd',
    'file 4',
    'build 5 on m0+b1+c1 ahead of 4: d',
    'file 5 ahead',
  ])
})
