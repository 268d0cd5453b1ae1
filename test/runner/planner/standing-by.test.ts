import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StandBy } from '../../../src/runner/planner/types.ts'
import { author, createScene, HOUR, owner, run, type Scene, START } from './scene.ts'

const settings = { batch: 2, depth: 2, waitMs: 0 } as const
const held = { pull: 'pull-z', entry: 'entry-z', key: 'key-z', author, head: 'z1' }

function standing(standBy: StandBy): Scene {
  const scene = createScene('abc', { settings })
  scene.pass()
  scene.standBy = standBy
  return scene
}

const others: readonly [string, StandBy][] = [
  ['WHO-3 WHO-7 another one lands', { why: 'not-lander', first: owner }],
  ['WHO-8 another process holds the lease', { why: 'lease', until: START + 60_000 }],
]
for (const [what, standBy] of others) {
  test(`${what}: the line is dropped, nobody is ejected and nothing is built`, () => {
    const scene = standing(standBy)
    scene.drafts = [held]
    scene.end(1, run('failed'))
    assert.deepEqual(scene.pass(), ['drop 2 not-lander', 'drop 1 not-lander'])
    assert.deepEqual(scene.last.waits, [{ for: 'stand-by', standBy }])
    assert.deepEqual(scene.pass(), [])
    scene.standBy = undefined
    scene.drafts = []
    assert.deepEqual(scene.pass().slice(0, 2), ['build 3 on m0: abc', 'file 3'])
  })
}

const here: readonly [string, StandBy, boolean][] = [
  ['REC-8 a clock that is off', { why: 'clock', skewMs: 90_000 }, false],
  ['GWY-8 no delegation', { why: 'not-delegated', owner }, true],
  ['GWY-8 GWY-14 another git at the gateway', { why: 'git-version', mine: '2.47.3', theirs: '2.39.5' }, true],
]
for (const [what, standBy, ejects] of here) {
  test(`${what}: what is in flight stays; nothing lands, is judged or is built, and what waits keeps its place`, () => {
    const scene = standing(standBy)
    for (const ended of [run('passed'), run('failed')]) {
      scene.end(1, ended)
      assert.deepEqual(scene.pass(), [])
    }
    assert.deepEqual(scene.last.waits[0], { for: 'stand-by', standBy })
    scene.end(1, run('passed'))
    scene.standBy = undefined
    assert.deepEqual(scene.pass().slice(0, 1), ['land 1'])
  })
  test(`${what}: a draft is ${ejects ? 'ejected' : 'ejected once that is put right'}`, () => {
    const scene = standing(standBy)
    scene.drafts = [held]
    assert.deepEqual(scene.pass(), ejects ? ['eject z draft'] : [])
    scene.standBy = undefined
    assert.deepEqual(scene.pass(), ejects ? [] : ['eject z draft'])
  })
  test(`${what}: what moves still drops, and nothing takes its place`, () => {
    const scene = standing(standBy)
    scene.move('m1')
    assert.deepEqual(scene.pass(), ['drop 2 branch-moved', 'drop 1 branch-moved'])
  })
  test(`${what}: what was built is filed once that is put right`, () => {
    const scene = createScene('a')
    scene.pass({ crashBefore: 'file' })
    scene.standBy = standBy
    assert.deepEqual(scene.pass(), [])
    scene.standBy = undefined
    assert.deepEqual(scene.pass(), ['file 1'])
  })
}

test('REC-8 BLD-4 an hour of which a clock that was off tells is no hour', () => {
  const scene = createScene('a', { standBy: { why: 'clock', skewMs: -2 * HOUR } })
  scene.change('a', { head: { state: 'unreadable', server: 'pds.example' } })
  scene.pass()
  scene.standBy = undefined
  scene.now += 2 * HOUR
  assert.deepEqual(scene.pass(), [])
})

test('REC-8 FAI-8 a clock that is put back makes nothing wait for longer than the longest back-off', () => {
  const scene = createScene('a', { building: { ok: false, said: 'the disk is full' } })
  scene.pass()
  scene.building = { ok: true }
  scene.now -= 2 * HOUR
  assert.deepEqual(scene.pass(), ['build 2 on m0: a', 'file 2'])
})
