import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScene, flight, MINUTE, run, type Scene, timeout } from './scene.ts'

/** A batch of these pulls has failed, and its first half is being checked. */
function halving(names: string, over: Partial<Scene> = {}): Scene {
  const scene = createScene(names, over)
  scene.pass()
  scene.end(1, run('failed', { check: 'at://first' }))
  scene.pass()
  return scene
}

const members = (scene: Scene) => scene.line.batches.map(batch => batch.members.map(({ pull }) => pull.replace('pull-', '')).join(''))
const suspects = (scene: Scene) => scene.line.memory.suspects?.members.map(({ pull }) => pull.replace('pull-', '')).join('')

for (const [names, half] of [
  ['ab', 'a'],
  ['abc', 'ab'],
  ['abcde', 'abc'],
  ['abcdefgh', 'abcd'],
] as const) {
  test(`FAI-3 of ${names.length} suspects the first half, rounded up, runs alone next: ${half}`, () => {
    const scene = halving(names)
    assert.deepEqual(members(scene), [half])
    assert.equal(suspects(scene), names)
    assert.deepEqual(scene.last.waits[0], { for: 'suspects', left: names.length, of: names.length })
  })
}

test('FAI-3 a half that passes lands and its pulls stop being suspects; of the rest the first half is next', () => {
  const scene = halving('abcdefgh')
  scene.end(2, run('passed'))
  assert.deepEqual(scene.pass(), ['land 2', 'build 3 on m0+a1+b1+c1+d1: ef', 'file 3'])
  assert.equal(suspects(scene), 'efgh')
})

test('FAI-3 a half that fails becomes the suspects, and the others are as queued as ever', () => {
  const scene = halving('abcdefgh')
  scene.end(2, run('failed'))
  assert.deepEqual(scene.pass(), ['drop 2 batch-failed', 'build 3 on m0: ab', 'file 3'])
  assert.equal(suspects(scene), 'abcd')
  scene.end(3, run('passed'))
  scene.pass()
  scene.end(4, run('failed'))
  assert.deepEqual(scene.pass(), ['drop 4 batch-failed', 'eject c checks', 'build 5 on m0+a1+b1: defgh', 'file 5'])
})

test('FAI-4 FAI-7 the one suspect left after a landing is ejected without a run: on top of whom, and that halving found it', () => {
  const scene = halving('abc')
  scene.end(2, run('passed'))
  assert.deepEqual(scene.pass(), ['land 2', 'build 3 on m0+a1+b1: c', 'eject c checks'])
  const [ejected] = scene.ejected
  assert.deepEqual(ejected?.why, {
    key: 'halving',
    names: ['test'],
    others: [{ pull: 'pull-a', title: 'Pull A' }, ' and ', { pull: 'pull-b', title: 'Pull B' }],
    size: 3,
    branch: 'main',
    tip: 'm0',
  })
  assert.deepEqual(ejected?.checks, [{ workflow: 'test', check: 'at://first', status: 'failure' }])
  assert.equal(ejected?.head, 'c1')
  assert.equal(scene.line.memory.suspects, null)
})

test('FAI-4 its checks are the first failing batch’s, the sentence is of the batch whose tree failed', () => {
  const scene = halving('abcdefgh')
  scene.end(2, run('passed'))
  scene.pass()
  scene.end(3, run('failed', { check: 'at://second', workflow: 'lint' }))
  assert.deepEqual(scene.pass(), ['drop 3 batch-failed', 'build 4 on m0+a1+b1+c1+d1: e', 'file 4'])
  scene.end(4, run('passed'))
  scene.pass()
  const [ejected] = scene.ejected
  assert.equal(ejected?.pull, 'pull-f')
  assert.deepEqual(ejected?.checks, [{ workflow: 'test', check: 'at://first', status: 'failure' }])
  assert.deepEqual(ejected?.why, {
    key: 'halving',
    names: ['lint'],
    others: [{ pull: 'pull-e', title: 'Pull E' }],
    size: 2,
    branch: 'main',
    tip: 'm0+a1+b1+c1+d1',
  })
})

test('FAI-7 of a pair of which each passed alone it is said that they fail together', () => {
  const together = createScene('ab', { preflights: ['test'] })
  for (const name of 'ab') together.change(name, { flights: [flight('passed', { workflow: 'test' })] })
  together.pass()
  together.end(1, run('failed'))
  together.pass()
  together.end(2, run('passed'))
  assert.deepEqual(together.pass(), ['land 2', 'build 3 on m0+a1: b', 'eject b checks'])
  assert.deepEqual(together.ejected[0]?.why, {
    key: 'together',
    names: ['test'],
    others: [{ pull: 'pull-a', title: 'Pull A' }],
    branch: 'main',
    halving: true,
  })
})

for (const [why, flights] of [
  ['it ran on the branch with the other one already', [flight('passed', { workflow: 'test', tip: 'm0+a1' })]],
  ['another workflow passed', [flight('passed', { workflow: 'lint' })]],
  ['it did not pass', [flight('running', { workflow: 'test' })]],
  ['its checks were not read', 'unread'],
] as const) {
  test(`FAI-7 a pair is not said to fail together when ${why}`, () => {
    const scene = halving('ab')
    scene.end(2, run('passed'))
    scene.change('b', { flights })
    scene.pass()
    assert.equal(scene.ejected[0]?.why.key, 'halving')
  })
}

test('FAI-7 one that ran alone on top of what landed from its batch says so', () => {
  const scene = halving('abcd')
  scene.end(2, run('passed'))
  scene.pass()
  scene.end(3, run('failed'))
  scene.pass()
  assert.deepEqual(scene.ejected[0]?.why, {
    key: 'alone',
    names: ['test'],
    commit: 'm0+a1+b1+c1',
    branch: 'main',
    tip: 'm0+a1+b1',
    newer: 0,
    onTop: [{ pull: 'pull-a', title: 'Pull A' }, ' and ', { pull: 'pull-b', title: 'Pull B' }],
  })
})

test('FAI-10 the last suspect runs when its tree is not the one that failed', () => {
  const scene = halving('ab')
  scene.end(2, run('passed'))
  scene.tree = commit => `another tree ${commit}`
  assert.deepEqual(scene.pass(), ['land 2', 'build 3 on m0+a1: b', 'file 3'])
  scene.end(3, run('passed'))
  assert.deepEqual(scene.pass(), ['land 3'])
  assert.deepEqual(scene.ejected, [])
})

test('FAI-10 a suspect whose head moved clears the suspects, and everybody is built again', () => {
  const scene = halving('abc')
  scene.change('c', { head: { state: 'at', commit: 'c2' } })
  scene.end(2, run('passed'))
  assert.deepEqual(scene.pass(), ['land 2', 'build 3 on m0+a1+b1: c', 'file 3'])
  assert.equal(scene.line.memory.suspects, null)
})

test('FAI-10 a head that moved before its batch failed makes no suspects', () => {
  const scene = createScene('ab')
  scene.pass()
  scene.change('b', { head: { state: 'at', commit: 'b2' } })
  scene.end(1, run('failed'))
  assert.deepEqual(scene.pass(), ['drop 1 batch-failed', 'build 2 on m0: ab', 'file 2'])
})

test('FAI-10 a half that is built with another head than the one that failed finds nobody', () => {
  const scene = createScene('ab')
  scene.pass()
  scene.end(1, run('failed'))
  scene.fetched = name => `${name}2`
  assert.deepEqual(scene.pass(), ['drop 1 batch-failed', 'build 2 on m0: a', 'file 2'])
  assert.equal(scene.line.memory.suspects, null)
})

/** FAI-5, a row each. */
const clears: readonly { when: string; happens: (scene: Scene) => void; does: readonly string[] }[] = [
  {
    when: 'the branch moves by another push',
    happens: scene => scene.move('m1'),
    does: ['drop 2 branch-moved', 'build 3 on m1: abcd', 'file 3'],
  },
  {
    when: 'the branch is made again',
    happens: scene => scene.move('m0', 2),
    does: ['drop 2 branch-moved', 'build 3 on m0: abcd', 'file 3'],
  },
  { when: 'a suspect that is not in the half leaves', happens: scene => scene.leave('d'), does: [] },
  {
    when: 'a suspect of the half leaves',
    happens: scene => scene.leave('a'),
    does: ['drop 2 pull-moved-on', 'build 3 on m0: bcd', 'file 3'],
  },
  {
    when: 'the head of a suspect cannot be read',
    happens: scene => scene.change('d', { head: { state: 'unreadable', server: 'pds.example' } }),
    does: [],
  },
]

for (const { when, happens, does } of clears) {
  test(`FAI-5 suspects are cleared when ${when}`, () => {
    const scene = halving('abcd')
    happens(scene)
    assert.deepEqual(scene.pass(), does)
    assert.equal(scene.line.memory.suspects, null)
  })
}

test('FAI-5 between two halves a push clears the suspects as well', () => {
  const scene = halving('abcd')
  scene.end(2, run('passed'))
  scene.building = { ok: false, said: 'the disk is full' }
  scene.pass()
  assert.equal(suspects(scene), 'cd')
  scene.move('m9')
  scene.building = { ok: true }
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), ['build 4 on m9: cd', 'file 4'])
  assert.equal(scene.line.memory.suspects, null)
})

test('FAI-5 a suspect that conflicts when its half is built is ejected for that, and clears the suspects', () => {
  const scene = createScene('abcd')
  scene.pass()
  scene.end(1, run('failed'))
  scene.left = name => (name === 'b' ? { why: 'conflict', files: ['seeds.ts'], more: 0, with: [] } : undefined)
  assert.deepEqual(scene.pass(), ['drop 1 batch-failed', 'build 2 on m0: ab', 'eject b conflict', 'file 2'])
  assert.equal(scene.line.memory.suspects, null)
  assert.deepEqual(members(scene), ['a'])
})

test('FAI-5 a half of which nobody is left clears the suspects', () => {
  const scene = createScene('ab')
  scene.pass()
  scene.end(1, run('failed'))
  scene.left = name => (name === 'a' ? { why: 'gone' } : undefined)
  assert.deepEqual(scene.pass(), ['drop 1 batch-failed', 'build 2 on m0: a', 'eject a branch-gone', 'build 3 on m0: b', 'file 3'])
  assert.equal(scene.line.memory.suspects, null)
})

test('FAI-3 a half that fails after suspects were cleared starts its own halving', () => {
  const scene = halving('abcd')
  scene.leave('d')
  scene.pass()
  scene.end(2, run('failed', { check: 'at://own' }))
  assert.deepEqual(scene.pass(), ['drop 2 batch-failed', 'build 3 on m0: a', 'file 3'])
  assert.deepEqual(scene.line.memory.suspects?.checks, [{ workflow: 'test', check: 'at://own', status: 'failure' }])
})

test('FAI-3 pulls queued meanwhile wait for the cause to be found, then are built', () => {
  const scene = halving('ab')
  scene.join('z')
  assert.deepEqual(scene.pass(), [])
  scene.end(2, run('passed'))
  assert.deepEqual(scene.pass(), ['land 2', 'build 3 on m0+a1: b', 'eject b checks', 'build 4 on m0+a1: z', 'file 4'])
})

test('FAI-3 when the only culprit is in the first half alone, its mates go on', () => {
  const scene = halving('abc')
  scene.end(2, run('failed'))
  scene.pass()
  scene.end(3, run('failed'))
  assert.deepEqual(scene.pass(), ['drop 3 batch-failed', 'eject a checks', 'build 4 on m0: bc', 'file 4'])
  assert.equal(scene.ejected[0]?.why.key, 'alone')
})

test('FAI-8 FAI-3 suspects that timed out and then fail are taken as failed, with the checks of that failure', () => {
  const scene = createScene('abcd')
  scene.pass()
  scene.end(1, timeout())
  scene.pass()
  scene.end(2, timeout())
  scene.pass()
  scene.end(3, run('failed', { check: 'at://red' }))
  scene.pass()
  assert.equal(scene.line.memory.suspects?.how, 'failed')
  assert.deepEqual(scene.line.memory.suspects?.checks, [{ workflow: 'test', check: 'at://red', status: 'failure' }])
})
