import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NotLanded } from '../../../src/runner/planner/types.ts'
import { createScene, MINUTE, owner, run, type Scene, START } from './scene.ts'

const settings = { batch: 2, depth: 2, waitMs: 0 } as const

/** A batch of a and b has passed and its landing goes as it is told; one of c is ahead of it. */
function refused(...answers: readonly NotLanded[]): Scene {
  const left = [...answers]
  const scene = createScene('abc', {
    settings,
    landing: () => {
      const answer = left.shift()
      return answer === undefined ? { ok: true } : { ok: false, ...answer }
    },
  })
  scene.pass()
  scene.end(1, run('passed'))
  return scene
}

/** Lets whatever is in flight pass, pass after pass. */
function goOn(scene: Scene, passes = 6): string[] {
  return Array.from({ length: passes }).flatMap(() => {
    for (const { id } of scene.line.batches) scene.end(id, run('passed'))
    return scene.pass()
  })
}

test('LND-1 only the lowest batch lands', () => {
  const scene = createScene('abc', { settings })
  scene.pass()
  scene.end(2, run('passed'))
  assert.deepEqual(scene.pass(), [])
})

const dropAll = (cause: string) => [`land 1`, `drop 2 ${cause}`, `drop 1 ${cause}`]

test('LND-2 LND-7 a head that moved drops every batch, and the queue is built again at the heads as they are', () => {
  const scene = refused({ why: 'head-moved', keys: ['key-a'] })
  scene.fetched = name => (name === 'a' ? 'a2' : undefined)
  assert.deepEqual(scene.pass(), [
    ...dropAll('pull-moved-on'),
    'build 3 on m0: abc',
    'file 3',
    'build 4 on m0+a2+b1 ahead of 3: c',
    'file 4 ahead',
  ])
  assert.deepEqual(scene.ejected, [])
})

test('LND-15 the second time that its head moved under a landing it is ejected, saying so; the rest is built again', () => {
  const scene = refused({ why: 'head-moved', keys: ['key-a'] }, { why: 'head-moved', keys: ['key-a'] })
  scene.pass()
  scene.end(3, run('passed'))
  const did = scene.pass()
  assert.deepEqual(did.slice(0, 5), ['land 3', 'drop 4 pull-moved-on', 'drop 3 pull-moved-on', 'eject a changed', 'build 5 on m0: bc'])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'head-moved', times: 2 })
})

test('LND-15 one that could not be read at a landing twice is ejected as such', () => {
  const scene = refused({ why: 'head-moved', keys: ['key-a'] }, { why: 'head-unreadable', keys: ['key-a'] })
  scene.pass()
  scene.end(3, run('passed'))
  assert.ok(scene.pass().includes('eject a unreadable'))
  assert.deepEqual(scene.ejected[0]?.why, { key: 'head-unread', times: 2 })
})

test('LND-15 it counts per queueing: another pull’s moves, and the moves before it was queued again, do not count', () => {
  const scene = refused({ why: 'head-moved', keys: ['key-a'] }, { why: 'head-moved', keys: ['key-b'] })
  scene.pass()
  scene.end(3, run('passed'))
  scene.pass()
  assert.deepEqual(scene.ejected, [])
  scene.change('a', { key: 'key-a-again' })
  scene.pass()
  scene.landing = () => ({ ok: false, why: 'head-moved', keys: ['key-a-again'] })
  const lowest = scene.line.batches[0]?.id ?? 0
  scene.end(lowest, run('passed'))
  scene.pass()
  assert.deepEqual(scene.ejected, [])
})

test('LND-2 a head that moved, without a word whose, waits for the next pass', () => {
  const scene = refused({ why: 'head-moved', keys: [] })
  assert.deepEqual(scene.pass(), dropAll('pull-moved-on'))
  assert.equal(scene.last.wakeAt, START + 1000)
})

test('LND-12 MOV-2 a pull that turns out to be out is passed over in this pass, whatever was read; the rest is built again', () => {
  const scene = refused({ why: 'out', keys: ['key-a'] })
  assert.deepEqual(scene.pass(), [...dropAll('pull-moved-on'), 'build 3 on m0: bc', 'file 3'])
  scene.end(3, run('passed'))
  assert.deepEqual(scene.pass().slice(0, 1), ['land 3'])
})

test('LND-3 LND-7 a branch that moved at the push drops every batch; this pass read it too early to build', () => {
  const scene = refused({ why: 'branch-moved' })
  assert.deepEqual(scene.pass(), dropAll('branch-moved'))
  assert.equal(scene.last.wakeAt, START + 1000)
  scene.move('m1')
  assert.deepEqual(scene.pass().slice(0, 2), ['build 3 on m1: abc', 'file 3'])
})

test('GWY-8 trouble: the batch stays, and lands after a back-off of 1, 2, 4 … minutes', () => {
  const trouble = { why: 'trouble', said: 'the gateway does not answer' } as const
  const scene = refused(trouble, trouble)
  assert.deepEqual(scene.pass(), ['land 1'])
  assert.deepEqual(
    scene.last.waits.filter(wait => wait.for === 'landing-again'),
    [{ for: 'landing-again', until: START + MINUTE, said: 'the gateway does not answer' }],
  )
  assert.deepEqual(scene.pass(), [])
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), ['land 1'])
  assert.equal(scene.last.wakeAt, scene.now + 2 * MINUTE)
  scene.now += 2 * MINUTE
  assert.deepEqual(scene.pass(), ['land 1', 'promote 2'])
})

test('GWY-8 trouble of a batch that was dropped since does not hold up the next one', () => {
  const scene = refused({ why: 'trouble', said: 'busy' })
  scene.pass()
  scene.move('m1')
  scene.pass()
  scene.end(3, run('passed'))
  assert.deepEqual(scene.pass().slice(0, 1), ['land 3'])
})

test('GWY-8 not delegated: its pulls are ejected with the gateway’s reason, the batch ahead is dropped, and nothing more is built', () => {
  const scene = refused({ why: 'not-delegated', said: 'No delegation stands.' })
  assert.deepEqual(scene.pass(), [...dropAll('landing-failed'), 'eject a gateway', 'eject b gateway'])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'no-delegation', owner, said: 'No delegation stands.' })
  assert.deepEqual(scene.names(), ['c'])
})

test('GWY-8 not the lander: the line is dropped, nobody is ejected, and the runner stands by', () => {
  const scene = refused({ why: 'not-lander' })
  assert.deepEqual(scene.pass(), dropAll('not-lander'))
  assert.deepEqual(scene.last.waits, [{ for: 'stand-by', standBy: { why: 'not-lander' } }])
  assert.deepEqual(scene.pass(), [])
  scene.now += MINUTE
  assert.deepEqual(scene.pass().slice(0, 1), ['build 3 on m0: abc'])
})

test('GWY-8 GWY-14 trees that differ between git versions: the lander stands by, says both versions, and ejects nobody', () => {
  const scene = refused({ why: 'tree-differs', mine: '2.47.3', theirs: '2.39.5' })
  scene.join('d')
  assert.deepEqual(scene.pass(), ['land 1'])
  assert.deepEqual(scene.last.waits[0], { for: 'stand-by', standBy: { why: 'git-version', mine: '2.47.3', theirs: '2.39.5' } })
  assert.deepEqual(scene.pass(), [])
  assert.equal(scene.line.batches.length, 2)
  scene.now += MINUTE
  assert.deepEqual(scene.pass().slice(0, 1), ['land 1'])
})

test('GWY-8 a chain that the gateway will not accept is built again once, of the same pulls, though others queued', () => {
  const scene = refused({ why: 'not-a-batch', said: 'Its second commit is no squash.' })
  scene.settings = { batch: 8, depth: 1, waitMs: 0 }
  assert.deepEqual(scene.pass(), [...dropAll('landing-failed'), 'build 3 on m0: ab', 'file 3'])
  assert.deepEqual(scene.ejected, [])
})

test('GWY-8 twice for the same heads, and the pull that the verdict names is ejected with its words', () => {
  const said = { why: 'not-a-batch', pull: 'pull-b', said: 'Its second commit is no squash.' } as const
  const scene = refused(said, said)
  scene.pass()
  scene.end(3, run('passed'))
  assert.deepEqual(scene.pass().slice(0, 5), [
    'land 3',
    'drop 4 landing-failed',
    'drop 3 landing-failed',
    'eject b gateway',
    'build 5 on m0: ac',
  ])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'gateway', said: said.said })
})

test('GWY-8 where none is named it is looked for by halves, and each of those runs and is refused twice', () => {
  const said = { why: 'not-a-batch', said: 'Nothing like it is queued.' } as const
  const scene = createScene('ab', {
    landing: id =>
      scene.line.batches.find(batch => batch.id === id)?.members.some(({ pull }) => pull === 'pull-b')
        ? { ok: false, ...said }
        : { ok: true },
  })
  assert.deepEqual(goOn(scene), [
    'build 1 on m0: ab',
    'file 1',
    'land 1',
    'drop 1 landing-failed',
    'build 2 on m0: ab',
    'file 2',
    'land 2',
    'drop 2 batch-failed',
    'build 3 on m0: a',
    'file 3',
    'land 3',
    'build 4 on m0+a1: b',
    'file 4',
    'land 4',
    'drop 4 landing-failed',
    'build 5 on m0+a1: b',
    'file 5',
    'land 5',
    'drop 5 batch-failed',
    'eject b gateway',
  ])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'gateway', said: said.said })
})

test('GWY-8 a refusal that names a pull outside the batch names nobody', () => {
  const said = { why: 'not-a-batch', pull: 'pull-z', said: 'No.' } as const
  const scene = createScene('a', { landing: () => ({ ok: false, ...said }) })
  goOn(scene, 3)
  assert.deepEqual(
    scene.ejected.map(({ pull }) => pull),
    ['pull-a'],
  )
})

test('LND-8 FAI-6 what a repair landed is done with: the batch it was goes, the one ahead is the lowest, and it is not built again', () => {
  const scene = refused()
  scene.lagging = true
  assert.deepEqual(scene.pass({ crashBefore: 'land' }), [])
  scene.move('m0+a1+b1')
  assert.deepEqual(scene.pass({ repaired: ['key-a', 'key-b', 'key-y'] }), ['promote 2'])
  assert.deepEqual(
    scene.line.batches.map(({ id }) => id),
    [2],
  )
  assert.deepEqual(
    scene.line.memory.done.map(({ key, how }) => `${key} ${how}`),
    ['key-a landed', 'key-b landed', 'key-y landed'],
  )
})

test('LND-8 after a restart nothing is known but what the repair says: that is passed over', () => {
  const scene = createScene('ab')
  assert.deepEqual(scene.pass({ repaired: ['key-a'] }), ['build 1 on m0: b', 'file 1'])
})

test('LND-11 a branch that is at the tip of the lowest batch has been landed on by the queue itself: nothing ahead is dropped', () => {
  const scene = refused()
  scene.pass({ crashBefore: 'land' })
  scene.move('m0+a1+b1')
  assert.deepEqual(scene.pass(), ['promote 2'])
  assert.deepEqual(
    scene.line.batches.map(({ id }) => id),
    [2],
  )
})

test('LND-11 a half whose landing was never answered stops being suspects all the same', () => {
  const scene = createScene('abcd')
  scene.pass()
  scene.end(1, run('failed'))
  scene.pass()
  scene.end(2, run('passed'))
  scene.pass({ crashBefore: 'land' })
  scene.leave('a')
  scene.leave('b')
  scene.move('m0+a1+b1')
  assert.deepEqual(scene.pass(), ['build 3 on m0+a1+b1: c', 'file 3'])
  assert.equal(scene.line.memory.suspects?.members.length, 2)
})
