import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Flight } from '../../../src/runner/planner/types.ts'
import { createScene, flight, MINUTE, run, START } from './scene.ts'

const fly = 'fly a at a1 on m0: check'
const built = ['build 1 on m0: a', 'file 1']

function sceneOf(...flights: readonly Flight[]) {
  const scene = createScene('a', { preflights: ['check'] })
  scene.change('a', { flights })
  return scene
}

/** PRE-3, a row each: the newest run at the head, and what is done. */
const rows: readonly { when: string; flights: readonly Flight[]; does: readonly string[] }[] = [
  { when: 'success on the present tip', flights: [flight('passed')], does: built },
  { when: 'success on any other tip', flights: [flight('passed', { tip: 'l9' })], does: built },
  { when: 'skipped by its paths', flights: [flight('not-needed')], does: built },
  { when: 'running', flights: [flight('running')], does: [] },
  { when: 'running on another tip', flights: [flight('running', { tip: 'l9' })], does: [] },
  { when: 'queued by this runner', flights: [flight('queued')], does: [] },
  { when: 'failed on the present tip', flights: [flight('failed', { check: 'c1', status: 'failure' })], does: ['eject a preflight'] },
  { when: 'failed on another tip', flights: [flight('failed', { tip: 'l9', check: 'c1' })], does: [fly] },
  { when: 'none', flights: [flight('none')], does: [fly] },
  { when: 'no word of it at all', flights: [], does: [fly] },
  { when: 'cancelled', flights: [flight('cancelled', { check: 'c1' })], does: [fly] },
  { when: 'timed out for the first time', flights: [flight('timeout', { check: 'c1' })], does: [fly] },
  { when: 'without a verdict a moment ago', flights: [flight('trouble', { check: 'c1', endedAt: START - 1 })], does: [] },
  { when: 'without a verdict, the back-off over', flights: [flight('trouble', { check: 'c1', endedAt: START - MINUTE })], does: [fly] },
]

for (const { when, flights, does } of rows) {
  test(`PRE-3 newest run ${when}: ${does.join(', ') || 'waits'}`, () => assert.deepEqual(sceneOf(...flights).pass(), does))
}

test('PRE-1 the set is read from the tip: without pre-flights a pull is ready, whatever was read of it', () => {
  const scene = createScene('a')
  scene.change('a', { flights: 'unread' })
  assert.deepEqual(scene.pass(), built)
})

test('PRE-6 the ejection names head, branch, tip and the failed workflows, and its checks are their records', () => {
  const scene = createScene('a', { preflights: ['check', 'lint', 'test'] })
  const failed = (workflow: string) => flight('failed', { workflow, check: `at://${workflow}`, status: 'failure' })
  const late = flight('failed', { workflow: 'test', check: 'at://test', status: 'error' })
  scene.change('a', { flights: [failed('check'), flight('passed', { workflow: 'lint' }), late] })
  scene.pass()
  const [ejected] = scene.ejected
  assert.deepEqual(ejected?.why, { key: 'preflight', names: ['check', 'test'], head: 'a1', branch: 'main', tip: 'm0' })
  assert.deepEqual(ejected?.checks, [
    { workflow: 'check', status: 'failure', check: 'at://check' },
    { workflow: 'test', status: 'error', check: 'at://test' },
  ])
  assert.equal(ejected?.head, 'a1')
})

test('PRE-6 a failure without a check to point at is ejected all the same', () => {
  const scene = sceneOf(flight('failed'))
  assert.deepEqual(scene.pass(), ['eject a preflight'])
  assert.deepEqual(scene.ejected[0]?.checks, [])
})

test('PRE-7 only the missing ones are run', () => {
  const scene = createScene('a', { preflights: ['check', 'test'] })
  scene.change('a', { flights: [flight('passed'), flight('none', { workflow: 'test' })] })
  assert.deepEqual(scene.pass(), ['fly a at a1 on m0: test'])
  assert.deepEqual(scene.last.waits, [{ for: 'preflights', pulls: 1, workflows: ['test'] }])
})

test('PRE-8 in the pass that files a pre-flight it is waited for; a later pass that sees nothing of it does not wait', () => {
  const scene = sceneOf(flight('none'))
  assert.deepEqual(scene.pass(), [fly])
  assert.deepEqual(scene.pass(), built)
})

test('PRE-8 what was run on another tip or at another head is no longer known', () => {
  const scene = sceneOf(flight('none'))
  scene.pass()
  scene.move('m1')
  assert.deepEqual(scene.pass(), ['fly a at a1 on m1: check'])
  scene.change('a', { head: { state: 'at', commit: 'a2' } })
  assert.deepEqual(scene.pass(), ['fly a at a2 on m1: check'])
})

test('PRE-8 its run is judged as soon as it shows, and a run that somebody cancelled is made again', () => {
  const scene = sceneOf(flight('none'))
  scene.pass()
  scene.change('a', { flights: [flight('running', { check: 'own' })] })
  assert.deepEqual(scene.pass(), [])
  scene.change('a', { flights: [flight('cancelled', { check: 'own' })] })
  assert.deepEqual(scene.pass(), [fly])
  scene.change('a', { flights: [flight('failed', { check: 'own-2' })] })
  assert.deepEqual(scene.pass(), ['eject a preflight'])
})

test('PRE-8 an older failure elsewhere that is still the newest after our run is not waited for', () => {
  const scene = sceneOf(flight('failed', { tip: 'l9', check: 'theirs' }))
  assert.deepEqual(scene.pass(), [fly])
  assert.deepEqual(scene.pass(), built)
})

test('PRE-8 a flight that was asked for and never answered is asked for again', () => {
  const scene = sceneOf(flight('none'))
  assert.deepEqual(scene.pass({ crashBefore: 'fly' }), [])
  assert.deepEqual(scene.pass(), [fly])
})

test('PRE-8 the answer about a pull that left meanwhile changes nothing', () => {
  const scene = sceneOf(flight('none'))
  const snapshot = scene.snapshot
  scene.snapshot = () => {
    const seen = snapshot()
    scene.leave('a')
    return seen
  }
  assert.deepEqual(scene.pass(), [fly])
})

test('PRE-9 one that conflicts with the branch is not run: building the batch decides', () => {
  const scene = createScene('ab', {
    preflights: ['check'],
    left: name => (name === 'a' ? { why: 'conflict', files: ['seeds.ts'], more: 0, with: [] } : undefined),
  })
  scene.change('a', { applies: false, flights: [flight('none')] })
  scene.change('b', { applies: true, flights: [flight('passed')] })
  assert.deepEqual(scene.pass(), ['build 1 on m0: ab', 'eject a conflict', 'file 1'])
})

test('PRE-3 FAI-8 a pre-flight that times out is run again once, then ejected, kind timeout', () => {
  const scene = sceneOf(flight('timeout', { check: 'c1', status: 'error' }))
  assert.deepEqual(scene.pass(), [fly])
  scene.change('a', { flights: [flight('running', { check: 'c2' })] })
  assert.deepEqual(scene.pass(), [])
  scene.change('a', { flights: [flight('timeout', { check: 'c2', status: 'error' })] })
  assert.deepEqual(scene.pass(), ['eject a timeout'])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'timeout', names: ['check'] })
  assert.deepEqual(scene.ejected[0]?.checks, [{ workflow: 'check', status: 'error', check: 'c2' }])
})

test('PRE-3 FAI-8 a second time-out on another tip is run once more on the present one', () => {
  const scene = sceneOf(flight('timeout', { check: 'c1' }))
  scene.pass()
  scene.move('m1')
  scene.change('a', { flights: [flight('timeout', { check: 'c2' })] })
  assert.deepEqual(scene.pass(), ['fly a at a1 on m1: check'])
})

test('PRE-3 FAI-8 one without a verdict is run again after 1, 2, 4 … 30 minutes and never ejects', () => {
  const scene = sceneOf()
  const waited: number[] = []
  for (let nth = 1; nth <= 7; nth++) {
    const ended = scene.now
    scene.change('a', { flights: [flight('trouble', { check: `c${nth}`, endedAt: ended })] })
    assert.deepEqual(scene.pass(), [])
    scene.now = scene.last.wakeAt ?? Number.NaN
    waited.push((scene.now - ended) / MINUTE)
    assert.deepEqual(scene.pass(), [fly])
  }
  assert.deepEqual(waited, [1, 2, 4, 8, 16, 30, 30])
})

test('PRE-7 a flight that cannot be filed is tried again after a back-off; after three tries the building of the batch decides', () => {
  const scene = createScene('a', { preflights: ['check'], flying: () => false, left: () => ({ why: 'hostile', detail: 'No.' }) })
  scene.change('a', { flights: [flight('none')] })
  assert.deepEqual(scene.pass(), [fly])
  assert.deepEqual(scene.pass(), [])
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), [fly])
  scene.now += 2 * MINUTE
  assert.deepEqual(scene.pass(), [fly, 'build 1 on m0: a', 'eject a other'])
})

test('PRE-5 what is in a batch is not judged by its pre-flights, and a batch lands on its own runs (CHK-11)', () => {
  const scene = sceneOf(flight('passed'))
  scene.pass()
  scene.change('a', { flights: [flight('failed', { check: 'c9' })] })
  assert.deepEqual(scene.pass(), [])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1'])
})

test('MOV-5 GWY-8 while the runner stops or stands by nothing is flown and nobody is judged', () => {
  for (const over of [{ stopping: true }, { standBy: { why: 'not-delegated', owner: 'did:plc:a' } as const }]) {
    const scene = createScene('ab', { preflights: ['check'], ...over })
    scene.change('a', { flights: [flight('failed', { check: 'c1' })] })
    scene.change('b', { flights: [flight('none')] })
    assert.deepEqual(scene.pass(), [])
  }
})

test('PRE-8 what was flown for one pull says nothing of another, nor of another workflow', () => {
  const scene = createScene('ab', { preflights: ['check', 'test'] })
  const both = (check: Flight['state'], tests: Flight['state']) => ({ flights: [flight(check), flight(tests, { workflow: 'test' })] })
  scene.change('a', both('none', 'running'))
  scene.change('b', both('running', 'running'))
  assert.deepEqual(scene.pass(), ['fly a at a1 on m0: check'])
  scene.change('a', both('none', 'none'))
  scene.change('b', both('none', 'passed'))
  assert.deepEqual(scene.pass(), ['fly a at a1 on m0: test', 'fly b at b1 on m0: check'])
  assert.deepEqual(scene.pass(), ['build 1 on m0: ab', 'file 1'])
})

test('PRE-7 a flight that cannot be filed holds up no other, and forgets none that was', () => {
  const scene = createScene('ab', { preflights: ['check', 'test'], flying: name => name === 'b' })
  const none = [flight('none'), flight('none', { workflow: 'test' })]
  scene.change('a', { flights: none })
  scene.change('b', { flights: none })
  assert.deepEqual(scene.pass(), ['fly a at a1 on m0: check test', 'fly b at b1 on m0: check test'])
  assert.deepEqual(scene.pass(), ['build 1 on m0: b', 'file 1'])
  scene.now += MINUTE
  scene.flying = () => true
  scene.change('a', { flights: [flight('none'), flight('running', { workflow: 'test' })] })
  assert.deepEqual(scene.pass(), ['fly a at a1 on m0: check'])
  scene.flying = () => false
  scene.change('a', { flights: none })
  assert.deepEqual(scene.pass(), ['fly a at a1 on m0: test'])
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), ['fly a at a1 on m0: test'])
})
