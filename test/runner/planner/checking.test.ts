import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunNow } from '../../../src/runner/planner/types.ts'
import { createScene, lost, MINUTE, run, timeout } from './scene.ts'

/** What the runs of a batch of two are, and what is done; `drop` means that it is built in another way. */
const rows: readonly { ids: string; when: string; runs: readonly RunNow[]; does: readonly string[] }[] = [
  { ids: 'LND-1', when: 'all passed', runs: [run('passed'), run('passed', { workflow: 'lint' })], does: ['land 1'] },
  { ids: 'LND-1', when: 'one still runs', runs: [run('passed'), run('running', { workflow: 'lint' })], does: [] },
  { ids: 'LND-1', when: 'one is only filed', runs: [run('passed'), run('filed', { workflow: 'lint' })], does: [] },
  { ids: 'CHK-6', when: 'all are skipped or reused', runs: [run('skipped'), run('reused', { workflow: 'lint' })], does: ['land 1'] },
  { ids: 'CHK-6', when: 'a skipped one is beside one that runs', runs: [run('skipped'), run('running', { workflow: 'lint' })], does: [] },
  {
    ids: 'CHK-8',
    when: 'one failed while another runs',
    runs: [run('failed'), run('running', { workflow: 'lint' })],
    does: ['drop 1 batch-failed', 'build 2 on m0: a', 'file 2'],
  },
  {
    ids: 'CHK-6',
    when: 'a workflow file does not load, which is a verdict',
    runs: [run('passed'), run('failed', { workflow: 'lint', status: 'error' })],
    does: ['drop 1 batch-failed', 'build 2 on m0: a', 'file 2'],
  },
  { ids: 'FAI-8', when: 'one lost its executor while another runs', runs: [lost(), run('running', { workflow: 'lint' })], does: [] },
  { ids: 'FAI-8', when: 'one timed out while another runs', runs: [timeout(), run('running', { workflow: 'lint' })], does: [] },
  {
    ids: 'FAI-8',
    when: 'one lost its executor and the rest passed',
    runs: [lost(), run('passed', { workflow: 'lint' })],
    does: ['drop 1 no-verdict'],
  },
  { ids: 'FAI-8', when: 'one timed out and one lost its executor', runs: [timeout(), lost('lint')], does: ['drop 1 no-verdict'] },
  {
    ids: 'CHK-8 FAI-8',
    when: 'somebody cancelled one',
    runs: [run('cancelled'), run('passed', { workflow: 'lint' })],
    does: ['drop 1 no-verdict'],
  },
  {
    ids: 'FAI-8',
    when: 'one failed and one timed out',
    runs: [run('failed'), timeout('lint')],
    does: ['drop 1 batch-failed', 'build 2 on m0: a', 'file 2'],
  },
  {
    ids: 'FAI-8',
    when: 'one timed out for the first time',
    runs: [timeout(), run('passed', { workflow: 'lint' })],
    does: ['drop 1 no-verdict', 'build 2 on m0: ab', 'file 2'],
  },
]

for (const { ids, when, runs, does } of rows) {
  test(`FAI-1 ${ids} a batch of which ${when}: ${does.join(', ') || 'waits'}`, () => {
    const scene = createScene('ab', { starts: () => runs.map(({ workflow }) => run('filed', { workflow })) })
    scene.pass()
    scene.end(1, ...runs)
    assert.deepEqual(scene.pass(), does)
    assert.deepEqual(scene.ejected, [])
  })
}

test('CHK-6 a batch in which nothing runs lands in the very pass that built it', () => {
  const scene = createScene('ab', { starts: () => [] })
  assert.deepEqual(scene.pass(), ['build 1 on m0: ab', 'file 1', 'land 1'])
})

test('CHK-12 a batch whose runs are not known is not judged, and one of which a run vanished does not pass', () => {
  const scene = createScene('a', { starts: () => [run('filed'), run('filed', { workflow: 'lint' })] })
  scene.pass()
  scene.runs.delete(1)
  assert.deepEqual(scene.pass(), [])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['drop 1 no-verdict'])
})

test('FAI-2 FAI-7 a batch of one names its culprit: tip, branch, its commit, the failed workflows, and that it failed alone', () => {
  const scene = createScene('a')
  scene.pass()
  scene.end(1, run('failed', { check: 'at://test' }), run('passed', { workflow: 'lint' }), timeout('e2e'))
  assert.deepEqual(scene.pass(), ['drop 1 batch-failed', 'eject a checks'])
  const [ejected] = scene.ejected
  assert.equal(ejected?.head, 'a1')
  assert.deepEqual(ejected?.why, { key: 'alone', names: ['test'], commit: 'm0+a1', branch: 'main', tip: 'm0', newer: 0 })
  assert.deepEqual(ejected?.checks, [
    { workflow: 'test', check: 'at://test', status: 'failure' },
    { workflow: 'e2e', check: 'check-e2e', status: 'error' },
  ])
})

test('FAI-2 a run whose record does not say how it ended is on record as what it was', () => {
  const scene = createScene('a')
  scene.pass()
  scene.end(1, { ...run('failed'), status: undefined }, { ...timeout('e2e'), status: undefined })
  scene.pass()
  assert.deepEqual(
    scene.ejected[0]?.checks.map(({ status }) => status),
    ['failure', 'error'],
  )
})

test('FAI-2 one whose head moved while it failed is ejected at the head that failed, saying that newer commits were not tried', () => {
  const scene = createScene('a')
  scene.pass()
  scene.change('a', { head: { state: 'at', commit: 'a2' } })
  scene.end(1, run('failed'))
  scene.pass()
  assert.equal(scene.ejected[0]?.head, 'a1')
  assert.deepEqual(scene.ejected[0]?.why, { key: 'alone', names: ['test'], commit: 'm0+a1', branch: 'main', tip: 'm0', newer: 'unknown' })
})

test('FAI-8 the runner’s own trouble: built again after 1, 2, 4 … 30 minutes, without limit, nobody ejected, and said', () => {
  const scene = createScene('ab')
  scene.pass()
  const waited: number[] = []
  for (let nth = 1; nth <= 7; nth++) {
    scene.end(nth, lost())
    assert.deepEqual(scene.pass(), [`drop ${nth} no-verdict`])
    const until = scene.last.wakeAt ?? Number.NaN
    assert.deepEqual(scene.last.waits, [{ for: 'trouble', until, times: nth, said: 'test lost its executor.' }])
    waited.push((until - scene.now) / MINUTE)
    scene.now = until
    assert.deepEqual(scene.pass(), [`build ${nth + 1} on m0: ab`, `file ${nth + 1}`])
  }
  assert.deepEqual(waited, [1, 2, 4, 8, 16, 30, 30])
  assert.deepEqual(scene.ejected, [])
  scene.end(8, run('passed'))
  scene.pass()
  assert.equal(scene.line.memory.setbacks.length, 0)
})

test('FAI-8 nothing is built, not even other pulls, while the runner’s trouble lasts', () => {
  const scene = createScene('a')
  scene.pass()
  scene.end(1, lost())
  scene.join('b')
  assert.deepEqual(scene.pass(), ['drop 1 no-verdict'])
  assert.deepEqual(scene.pass(), [])
})

test('FAI-8 a batch that timed out is built again once of the same pulls, though others queued meanwhile', () => {
  const scene = createScene('ab')
  scene.pass()
  scene.join('c')
  scene.end(1, timeout())
  assert.deepEqual(scene.pass(), ['drop 1 no-verdict', 'build 2 on m0: ab', 'file 2'])
  scene.end(2, run('passed'))
  assert.deepEqual(scene.pass(), ['land 2', 'build 3 on m0+a1+b1: c', 'file 3'])
})

test('FAI-8 a second time-out of the same workflow with the same heads is halved, until one times out alone: ejected, kind timeout', () => {
  const scene = createScene('ab')
  scene.pass()
  scene.end(1, timeout())
  scene.pass()
  scene.end(2, timeout())
  assert.deepEqual(scene.pass(), ['drop 2 batch-failed', 'build 3 on m0: a', 'file 3'])
  scene.end(3, run('passed'))
  // The tree is the one that timed out; the last one runs all the same.
  assert.deepEqual(scene.pass(), ['land 3', 'build 4 on m0+a1: b', 'file 4'])
  scene.end(4, timeout())
  assert.deepEqual(scene.pass(), ['drop 4 batch-failed', 'eject b timeout'])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'timeout', names: ['test'] })
  assert.deepEqual(scene.ejected[0]?.checks, [{ workflow: 'test', check: 'check-test', status: 'error' }])
})

test('FAI-8 one that times out alone is built again once as well', () => {
  const scene = createScene('a')
  scene.pass()
  scene.end(1, timeout())
  assert.deepEqual(scene.pass(), ['drop 1 no-verdict', 'build 2 on m0: a', 'file 2'])
  scene.end(2, timeout())
  assert.deepEqual(scene.pass(), ['drop 2 batch-failed', 'eject a timeout'])
})

test('FAI-8 a time-out of another workflow, or with another head, is a first one', () => {
  const scene = createScene('a')
  scene.pass()
  scene.end(1, timeout('test'))
  scene.pass()
  scene.end(2, timeout('e2e'))
  assert.deepEqual(scene.pass(), ['drop 2 no-verdict', 'build 3 on m0: a', 'file 3'])
  scene.change('a', { head: { state: 'at', commit: 'a2' } })
  scene.move('m1')
  scene.pass()
  scene.end(4, timeout('test'))
  assert.deepEqual(scene.pass(), ['drop 4 no-verdict', 'build 5 on m1: a', 'file 5'])
})

test('FAI-8 when one of those that timed out left, the others are built as usual', () => {
  const scene = createScene('abc')
  scene.pass()
  scene.end(1, timeout())
  assert.deepEqual(scene.pass({ crashBefore: 'build' }), ['drop 1 no-verdict'])
  scene.leave('b')
  scene.join('d')
  assert.deepEqual(scene.pass(), ['build 3 on m0: acd', 'file 3'])
})

test('FAI-8 a half that times out for the first time is built again once, as a half', () => {
  const scene = createScene('abcd')
  scene.pass()
  scene.end(1, run('failed'))
  scene.pass()
  scene.end(2, timeout())
  assert.deepEqual(scene.pass(), ['drop 2 no-verdict', 'build 3 on m0: ab', 'file 3'])
  assert.equal(scene.line.memory.suspects?.members.length, 4)
})
