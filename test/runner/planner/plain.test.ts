import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyLine, plan } from '../../../src/runner/planner/plan.ts'
import type { Result } from '../../../src/runner/planner/types.ts'
import { createScene, flight, lost, run, timeout } from './scene.ts'

/** A scene in which everything that is remembered between passes has come up. */
function eventful() {
  const scene = createScene('abcdefgh', {
    settings: { batch: 4, depth: 2, waitMs: 0 },
    preflights: ['check'],
    left: (name, base) => (name === 'h' && base !== 'm0' ? { why: 'conflict', files: ['x'], more: 0, with: [] } : undefined),
  })
  for (const name of 'abcde') scene.change(name, { flights: [flight('passed')] })
  scene.change('f', { flights: [flight('trouble', { check: 'c1', endedAt: scene.now })] })
  scene.change('g', { head: { state: 'unreadable', server: 'pds.example' } })
  scene.change('h', { applies: false })
  scene.pass()
  scene.end(1, timeout())
  scene.pass()
  scene.ejecting = false
  scene.drafts = [{ pull: 'pull-z', entry: 'entry-z', key: 'key-z', author: 'did:plc:z' }]
  scene.end(scene.line.batches[0]?.id ?? 0, run('failed'))
  scene.pass()
  return scene
}

test('MOV-6 a line is plain data: it is the same after a way through JSON, and so is what comes of it', () => {
  const scene = eventful()
  const line = JSON.parse(JSON.stringify(scene.line))
  assert.deepStrictEqual(line, scene.line)
  assert.deepStrictEqual(plan(line, scene.snapshot(), []), plan(scene.line, scene.snapshot(), []))
})

test('the same line, snapshot and results give the same plan, and none of them is changed', () => {
  const scene = eventful()
  scene.end(scene.line.batches[0]?.id ?? 0, lost())
  const [line, seen] = [structuredClone(scene.line), structuredClone(scene.snapshot())]
  const results: Result[] = [{ of: 'eject', key: 'key-z', ok: true }]
  assert.deepStrictEqual(plan(scene.line, scene.snapshot(), results), plan(line, seen, results))
  assert.deepStrictEqual(line, scene.line)
  assert.deepStrictEqual(seen, scene.snapshot())
})

test('CHK-8 results that nobody asked for, late ones and those of another batch, change nothing', () => {
  const scene = createScene('ab')
  scene.pass()
  const strangers: Result[] = [
    { of: 'build', id: 1, ok: true, stack: { tip: 'x', tree: 'x', members: [] }, left: new Map() },
    { of: 'build', id: 9, ok: false, said: 'late' },
    { of: 'file', id: 9, ok: true },
    { of: 'land', id: 9, ok: true },
    { of: 'land', id: 9, ok: false, why: 'not-lander' },
    { of: 'fly', pull: 'pull-z', head: 'z1', tip: 'm0', ok: false },
  ]
  const { line, actions } = plan(scene.line, scene.snapshot(), strangers)
  assert.deepEqual(line, scene.line)
  assert.deepEqual(actions, [])
})

test('a plan that repeats a pass asks for the same again: nothing is lost where a pass breaks off', () => {
  const at = ['build', 'file', 'land', 'eject', 'drop', 'fly'] as const
  for (const crashBefore of at) {
    const scene = createScene('ab', { preflights: ['check'] })
    scene.change('a', { flights: [flight('passed')] })
    const did = [...scene.pass({ crashBefore }), ...scene.pass()]
    assert.ok(did.includes('fly b at b1 on m0: check'), crashBefore)
    const id = scene.line.batches[0]?.id ?? 0
    scene.end(id, run('failed'))
    const ended = [...scene.pass({ crashBefore }), ...scene.pass()]
    assert.ok(ended.includes('eject a checks'), `${crashBefore}: ${ended.join('; ')}`)
  }
})

test('a line of a branch that nothing is known of is empty', () => {
  assert.deepEqual(emptyLine('main').batches, [])
  assert.equal(emptyLine('release/1.0').branch, 'release/1.0')
})

test('AHD-2 a stack that does not stand on the last batch of the line is not taken', () => {
  const scene = createScene('abc', { settings: { batch: 2, depth: 2, waitMs: 0 } })
  scene.pass()
  const asked = { id: 7, base: 'elsewhere', generation: 1, under: 1, keys: ['key-c'], half: false }
  const line = { ...scene.line, batches: scene.line.batches.slice(0, 1), memory: { ...scene.line.memory, asked } }
  const stack = { tip: 'elsewhere+c1', tree: 'tree', members: [] }
  const planned = plan(line, { ...scene.snapshot(), queue: scene.queue.slice(0, 2) }, [
    { of: 'build', id: 7, ok: true, stack, left: new Map() },
  ])
  assert.deepEqual(
    planned.line.batches.map(({ id }) => id),
    [1],
  )
})
