import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScene, lost, run, type Scene, timeout, waiting } from './scene.ts'

const settings = { batch: 2, depth: 2, waitMs: 0 } as const

/** A batch of a and b is being checked, and one of c and d on top of it. */
function twoDeep(over: Partial<Scene> = {}): Scene {
  const scene = createScene('abcd', { settings, ...over })
  scene.pass()
  return scene
}

const draft = (name: string) => {
  const { pull, entry, key, author } = waiting(name)
  return { pull, entry, key, author, head: `${name}1` }
}

/** The table "When something moves", a row each, with what is built instead. */
const rows: readonly { ids: string; moves: string; happens: (scene: Scene) => void; does: readonly string[] }[] = [
  {
    ids: 'MOV-1',
    moves: 'the branch, by another push',
    happens: scene => scene.move('m1'),
    does: [
      'drop 2 branch-moved',
      'drop 1 branch-moved',
      'build 3 on m1: abcd',
      'file 3',
      'build 4 on m1+a1+b1 ahead of 3: cd',
      'file 4 ahead',
    ],
  },
  {
    ids: 'MOV-1',
    moves: 'the branch, deleted',
    happens: scene => {
      scene.tip = null
    },
    does: ['drop 2 branch-moved', 'drop 1 branch-moved'],
  },
  {
    ids: 'MOV-1 CHK-9',
    moves: 'the branch, deleted and made again at the same commit',
    happens: scene => scene.move('m0', 2),
    does: [
      'drop 2 branch-moved',
      'drop 1 branch-moved',
      'build 3 on m0: abcd',
      'file 3',
      'build 4 on m0+a1+b1 ahead of 3: cd',
      'file 4 ahead',
    ],
  },
  {
    ids: 'MOV-2',
    moves: 'a pull of the lowest batch left, closed, merged, retargeted, deleted, or its queuer no longer may',
    happens: scene => scene.leave('b'),
    does: [
      'drop 2 pull-moved-on',
      'drop 1 pull-moved-on',
      'build 3 on m0: acd',
      'file 3',
      'build 4 on m0+a1+c1 ahead of 3: d',
      'file 4 ahead',
    ],
  },
  {
    ids: 'MOV-2',
    moves: 'a pull of the batch ahead left',
    happens: scene => scene.leave('c'),
    does: ['drop 2 pull-moved-on', 'build 3 on m0+a1+b1 ahead of 1: d', 'file 3 ahead'],
  },
  {
    ids: 'MOV-2 QUE-5',
    moves: 'a pull of the batch ahead turned draft',
    happens: scene => {
      scene.leave('c')
      scene.drafts = [draft('c')]
    },
    does: ['drop 2 pull-moved-on', 'eject c draft', 'build 3 on m0+a1+b1 ahead of 1: d', 'file 3 ahead'],
  },
  {
    ids: 'MOV-2 QUE-4',
    moves: 'a pull of the batch ahead was taken out and queued again',
    happens: scene => {
      scene.leave('c')
      scene.queue = [...scene.queue, waiting('c', { key: 'key-c-again' })]
    },
    does: ['drop 2 pull-moved-on', 'build 3 on m0+a1+b1 ahead of 1: dc', 'file 3 ahead'],
  },
  { ids: 'MOV-3', moves: 'a pull’s head', happens: scene => scene.change('a', { head: { state: 'at', commit: 'a2' } }), does: [] },
  {
    ids: 'MOV-3 BLD-4',
    moves: 'a pull’s head branch, which is gone',
    happens: scene => scene.change('a', { head: { state: 'gone' } }),
    does: [],
  },
  {
    ids: 'MOV-3 BLD-4',
    moves: 'the server of a pull’s head, which does not answer',
    happens: scene => scene.change('a', { head: { state: 'unreadable', server: 'pds.example' } }),
    does: [],
  },
  { ids: 'MOV-7', moves: 'the back of the queue, where one joins', happens: scene => scene.join('e'), does: [] },
  {
    ids: 'MOV-7',
    moves: 'the back of the queue, where one that is in no batch leaves',
    happens: scene => {
      scene.join('e')
      scene.pass()
      scene.leave('e')
    },
    does: [],
  },
]

for (const { ids, moves, happens, does } of rows) {
  test(`${ids} what moved: ${moves}`, () => {
    const scene = twoDeep()
    happens(scene)
    assert.deepEqual(scene.pass(), does)
    assert.deepEqual(
      scene.ejected.filter(({ kind }) => kind !== 'draft'),
      [],
    )
  })
}

test('MOV-3 QUE-9 on a pinned branch a head that moved takes the pull out of its batch at once', () => {
  const scene = twoDeep({ pinned: true })
  scene.change('c', { authorMayQueue: false, head: { state: 'at', commit: 'c2' } })
  assert.deepEqual(scene.pass(), ['drop 2 pull-moved-on', 'eject c changed', 'build 3 on m0+a1+b1 ahead of 1: d', 'file 3 ahead'])
})

test('MOV-1 a branch that is not there is said as long as somebody waits for it, and built on once it is back', () => {
  const scene = createScene('a', { tip: null })
  assert.deepEqual(scene.pass(), [])
  assert.deepEqual(scene.last.waits, [{ for: 'branch' }])
  scene.move('m5', 2)
  assert.deepEqual(scene.pass(), ['build 1 on m5: a', 'file 1'])
  const empty = createScene('', { tip: null })
  empty.pass()
  assert.deepEqual(empty.last.waits, [])
})

test('MOV-1 between two builds a push is nothing special', () => {
  const scene = createScene('a')
  scene.move('m1')
  assert.deepEqual(scene.pass(), ['build 1 on m1: a', 'file 1'])
})

test('MOV-5 stopping: what is going is waited for, and a batch whose last run passes lands', () => {
  const scene = twoDeep()
  scene.stopping = true
  assert.deepEqual(scene.pass(), [])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1', 'promote 2'])
  scene.end(2, run('passed'))
  assert.deepEqual(scene.pass(), ['land 2'])
})

for (const [what, ended] of [
  ['a failure', run('failed')],
  ['a time-out', timeout()],
  ['a lost executor', lost()],
  ['a run that the stop cancelled', run('cancelled')],
] as const) {
  test(`MOV-5 stopping: ${what} counts for nothing; nobody is ejected or halved, nothing is built`, () => {
    const scene = twoDeep({ stopping: false })
    scene.stopping = true
    scene.end(1, ended)
    assert.deepEqual(scene.pass(), [])
  })
}

test('MOV-5 stopping: a batch of which one run was dropped before it began does not pass by what is left', () => {
  const scene = createScene('a', { starts: () => [run('running'), run('filed', { workflow: 'lint' })] })
  scene.pass()
  scene.pass()
  scene.stopping = true
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), [])
})

test('MOV-5 stopping: what is built and not filed is dropped, and nothing is built, flown or ejected', () => {
  const scene = twoDeep({ filing: { ok: false } })
  scene.stopping = true
  scene.drafts = [draft('z')]
  scene.change('d', { head: { state: 'gone' } })
  assert.deepEqual(scene.pass(), ['drop 1 stopping'])
})

test('MOV-5 stopping: what moves still drops', () => {
  const scene = twoDeep()
  scene.stopping = true
  scene.leave('c')
  assert.deepEqual(scene.pass(), ['drop 2 pull-moved-on'])
})

test('MOV-6 a line that knows nothing is made again from what is read', () => {
  const scene = createScene('ab')
  scene.pass()
  const again = createScene('ab')
  assert.deepEqual(again.pass(), ['build 1 on m0: ab', 'file 1'])
  assert.deepEqual(again.line, scene.line)
})

test('MOV-4 a dropped batch is forgotten: what its runs say later counts for nothing (CHK-8)', () => {
  const scene = createScene('ab')
  scene.pass()
  scene.move('m1')
  scene.pass()
  scene.end(1, run('failed'))
  assert.deepEqual(scene.pass(), [])
  assert.deepEqual(scene.ejected, [])
})
