import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeftOut } from '../../../src/runner/planner/types.ts'
import { createScene, flight, HOUR, MINUTE, run, type Scene, START } from './scene.ts'

test('BLD-1 LND-1 ready pulls are built in queue order, checked at their tip and landed together', () => {
  const scene = createScene('abc')
  assert.deepEqual(scene.pass(), ['build 1 on m0: abc', 'file 1'])
  assert.deepEqual(scene.last.waits, [{ for: 'checks', tip: 'm0+a1+b1+c1', workflows: ['test'] }])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1'])
  assert.equal(scene.tip?.commit, 'm0+a1+b1+c1')
  assert.deepEqual(scene.line.batches, [])
})

test('BLD-1 QUE-6 a batch has at most --batch pulls, the oldest; the rest comes next', () => {
  const scene = createScene('abcde', { settings: { batch: 2, depth: 1, waitMs: 0 } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abcde', 'file 1'])
  assert.deepEqual(
    scene.line.batches.flatMap(({ members }) => members.map(({ pull }) => pull)),
    ['pull-a', 'pull-b'],
  )
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1', 'build 2 on m0+a1+b1: cde', 'file 2'])
})

test('BLD-1 PRE-5 a pull that is not ready is passed over and holds up none behind it', () => {
  const scene = createScene('abc', { preflights: ['check'] })
  scene.change('a', { flights: [flight('running')] })
  scene.change('b', { flights: [flight('passed')] })
  scene.change('c', { flights: 'unread' })
  assert.deepEqual(scene.pass(), ['build 1 on m0: b', 'file 1'])
})

test('BLD-5 BLD-6 on the branch a pull that does not apply is ejected at its head, and the rest goes on', () => {
  const scene = createScene('abc', {
    left: name => (name === 'b' ? { why: 'conflict', files: ['seeds.ts'], more: 2, with: [], head: 'b2' } : undefined),
  })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abc', 'eject b conflict', 'file 1'])
  const [ejected] = scene.ejected
  assert.equal(ejected?.head, 'b2')
  assert.deepEqual(ejected?.why, { key: 'conflict', branch: 'main', tip: 'm0', head: 'b2', files: ['seeds.ts'], more: 2 })
})

test('BLD-6 in conflict with pulls that are stacked before it, the reason names files, pulls and branches', () => {
  const others = [
    { pull: 'pull-a', branch: 'branch-a' },
    { pull: 'pull-z', branch: 'branch-z' },
  ]
  const scene = createScene('ab', {
    left: name => (name === 'b' ? { why: 'conflict', files: ['seeds.ts'], more: 0, with: others } : undefined),
  })
  scene.pass()
  assert.deepEqual(scene.ejected[0]?.why, {
    key: 'conflict-pulls',
    branch: 'main',
    head: 'b1',
    files: ['seeds.ts'],
    more: 0,
    pulls: [
      { pull: 'pull-a', title: 'Pull A' },
      { pull: 'pull-z', title: 'pull-z' },
    ],
    branches: ['branch-a', 'branch-z'],
  })
})

test('BLD-7 when every pull is left out the next ones are built', () => {
  const scene = createScene('abcd', {
    settings: { batch: 2, depth: 1, waitMs: 0 },
    left: name => ('ab'.includes(name) ? { why: 'unreadable', server: 'pds.example' } : undefined),
  })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abcd', 'file 1'])
  const alone = createScene('a', { left: () => ({ why: 'conflict', files: ['seeds.ts'], more: 0, with: [] }) })
  assert.deepEqual(alone.pass(), ['build 1 on m0: a', 'eject a conflict'])
})

test('BLD-8 a pull that changes nothing is ejected, naming the commit that names it if there is one', () => {
  const scene = createScene('ab', { left: name => ({ why: 'empty', ...(name === 'a' ? { commit: 'c7' } : {}) }) })
  assert.deepEqual(scene.pass(), ['build 1 on m0: ab', 'eject a empty', 'eject b empty'])
  assert.deepEqual(
    scene.ejected.map(({ why }) => why),
    [
      { key: 'empty', branch: 'main', tip: 'm0', commit: 'c7' },
      { key: 'empty', branch: 'main', tip: 'm0' },
    ],
  )
})

test('STO-11 a head that is beyond bounds is ejected alone', () => {
  const detail = 'Its tree is deeper than 512.'
  const scene = createScene('abc', { left: name => (name === 'b' ? { why: 'hostile', detail } : undefined) })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abc', 'eject b other', 'file 1'])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'hostile', detail })
})

for (const { why, reason } of [
  { why: 'gone', reason: 'branch-gone' },
  { why: 'account-gone', reason: 'account-gone' },
] as const) {
  test(`BLD-4 a head that is ${why} at the build is ejected`, () => {
    const scene = createScene('ab', { left: name => (name === 'a' ? { why } : undefined) })
    assert.deepEqual(scene.pass(), ['build 1 on m0: ab', 'eject a branch-gone', 'file 1'])
    assert.equal(scene.ejected[0]?.why.key, reason)
  })
}

test('BLD-4 a head that cannot be fetched is left out, tried again with back-off and ejected after an hour', () => {
  const left: LeftOut = { why: 'unreadable', server: 'pds.example' }
  const scene = createScene('a', { left: () => left })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a'])
  assert.deepEqual(scene.last.waits, [{ for: 'unreadable', pull: 'pull-a', server: 'pds.example', until: START + MINUTE }])
  assert.equal(scene.last.wakeAt, START + MINUTE)
  assert.deepEqual(scene.pass(), [])
  const tries: number[] = []
  while (scene.queue.length > 0) {
    scene.now = scene.last.wakeAt ?? Number.NaN
    scene.pass()
    tries.push((scene.now - START) / MINUTE)
  }
  assert.deepEqual(tries, [1, 3, 7, 15, 31, 60])
  assert.equal(scene.ejected[0]?.kind, 'unreadable')
})

test('BLD-4 one that was fetched after all is forgotten to have been unreadable', () => {
  let down = true
  const scene = createScene('a', { left: () => (down ? { why: 'unreadable', server: 'pds.example' } : undefined) })
  scene.pass()
  down = false
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), ['build 2 on m0: a', 'file 2'])
  assert.deepEqual(scene.line.memory.setbacks, [])
})

test('BLD-9 a batch that is not full waits until its oldest ready pull has waited long enough', () => {
  const scene = createScene('ab', { settings: { batch: 3, depth: 1, waitMs: 5 * MINUTE } })
  assert.deepEqual(scene.pass(), [])
  assert.deepEqual(scene.last.waits, [{ for: 'filling', until: START + 5 * MINUTE, ready: 2, most: 3 }])
  assert.equal(scene.last.wakeAt, START + 5 * MINUTE)
  scene.now = START + 5 * MINUTE
  assert.deepEqual(scene.pass(), ['build 1 on m0: ab', 'file 1'])
})

test('BLD-9 a full batch does not wait, nor does one ahead', () => {
  const scene = createScene('abc', { settings: { batch: 2, depth: 2, waitMs: HOUR } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: abc', 'file 1', 'build 2 on m0+a1+b1 ahead of 1: c', 'file 2 ahead'])
})

test('FAI-8 a build that git cannot do now is made again after a back-off, with the reason said', () => {
  const scene = createScene('a', { building: { ok: false, said: 'the disk is full' } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a'])
  assert.deepEqual(scene.last.waits, [{ for: 'trouble', until: START + MINUTE, times: 1, said: 'the disk is full' }])
  assert.deepEqual(scene.pass(), [])
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), ['build 2 on m0: a'])
  assert.equal(scene.last.wakeAt, scene.now + 2 * MINUTE)
  scene.building = { ok: true }
  scene.now += 2 * MINUTE
  assert.deepEqual(scene.pass(), ['build 3 on m0: a', 'file 3'])
})

test('a stack that comes out empty with nobody left out is trouble, and not asked for again at once', () => {
  const scene = createScene('a', { settings: { batch: 0, depth: 1, waitMs: 0 } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a'])
  assert.equal(scene.last.waits[0]?.for, 'trouble')
})

test('PRE-1 nothing is built while the workflows of the branch cannot be read, and that is said', () => {
  const scene = createScene('a', { preflights: 'unknown' })
  assert.deepEqual(scene.pass(), [])
  assert.deepEqual(scene.last.waits, [{ for: 'workflows' }])
})

test('REC-5 runs begin only once every check is filed; what was not filed is filed again after a back-off', () => {
  const scene = createScene('a', { filing: { ok: false } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'file 1'])
  assert.equal(scene.last.waits[0]?.for, 'trouble')
  assert.deepEqual(scene.pass(), [])
  scene.filing = { ok: true }
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), ['file 1'])
})

test('STO-10 a workflow that cannot be filed ejects the pull that brought it; the others are built again', () => {
  const scene = createScene('abc', { filing: { ok: false, blame: { workflow: 'rude', pull: 'pull-b' } } })
  const did = scene.pass({ crashBefore: 'eject' })
  assert.deepEqual(did, ['build 1 on m0: abc', 'file 1', 'drop 1 pull-moved-on'])
  scene.filing = { ok: true }
  assert.deepEqual(scene.pass(), ['eject b other', 'build 3 on m0: ac', 'file 3'])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'not-filed', workflow: 'rude' })
})

test('STO-10 a blame that names no pull of the line is trouble', () => {
  const scene = createScene('a', { filing: { ok: false, blame: { workflow: 'rude', pull: 'pull-z' } } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'file 1'])
  assert.equal(scene.last.waits[0]?.for, 'trouble')
})

test('FAI-6 what was ejected is passed over as long as a reading lists it, and is taken again under a new key', () => {
  const scene = createScene('ab', { lagging: true, left: name => (name === 'a' ? { why: 'hostile', detail: 'No.' } : undefined) })
  assert.deepEqual(scene.pass(), ['build 1 on m0: ab', 'eject a other', 'file 1'])
  scene.end(1, run('passed'))
  assert.deepEqual(scene.pass(), ['land 1'])
  assert.deepEqual(scene.pass(), [])
  assert.deepEqual(scene.names(), ['a', 'b'])
  scene.left = () => undefined
  scene.change('a', { key: 'key-a-again', entry: 'entry-a-again' })
  assert.deepEqual(scene.pass(), ['build 2 on m0+b1: a', 'file 2'])
})

test('FAI-6 a reading that lags once more does not bring back what is done; later its key counts again', () => {
  const scene = createScene('a')
  scene.pass()
  scene.end(1, run('passed'))
  const [read] = scene.queue
  scene.pass()
  assert.deepEqual(scene.pass(), [])
  scene.queue = read === undefined ? [] : [read]
  assert.deepEqual(scene.pass(), [])
  scene.queue = []
  scene.pass()
  scene.now += 11 * MINUTE
  scene.pass()
  assert.deepEqual(scene.line.memory.done, [])
})

test('an ejection that could not be written is asked for again after a back-off, and the pull is not built meanwhile', () => {
  const scene = createScene('a', { ejecting: false, left: () => ({ why: 'hostile', detail: 'No.' }) })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'eject a other'])
  assert.deepEqual(scene.pass(), [])
  assert.equal(scene.last.wakeAt, START + MINUTE)
  scene.ejecting = true
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), ['eject a other'])
})

/** An ejection that is decided and not written holds only as long as what it says does. */
const conflict = { why: 'conflict', files: ['seeds.ts'], more: 0, with: [] } as const
const hostile = { why: 'hostile', detail: 'No.' } as const
const rows: readonly { left: LeftOut; moves: string; happens: (scene: Scene) => void; holds: boolean }[] = [
  { left: conflict, moves: 'nothing', happens: () => {}, holds: true },
  { left: conflict, moves: 'the branch', happens: scene => scene.move('m1'), holds: false },
  { left: conflict, moves: 'its head', happens: scene => scene.change('a', { head: { state: 'at', commit: 'a2' } }), holds: false },
  { left: hostile, moves: 'the branch', happens: scene => scene.move('m1'), holds: true },
  { left: hostile, moves: 'its head', happens: scene => scene.change('a', { head: { state: 'at', commit: 'a2' } }), holds: false },
  { left: { why: 'gone' }, moves: 'nothing', happens: () => {}, holds: true },
]

for (const { left, moves, happens, holds } of rows) {
  test(`BLD-6 STO-11 what is ejected as ${left.why} and could not be written is ${holds ? 'asked for again' : 'tried anew'} when ${moves} moved`, () => {
    const scene = createScene('a', { ejecting: false, left: () => left })
    scene.pass()
    scene.ejecting = true
    scene.now += MINUTE
    scene.left = () => undefined
    happens(scene)
    assert.equal(scene.pass()[0], holds ? `eject a ${scene.ejected[0]?.kind}` : `build 2 on ${scene.tip?.commit}: a`)
  })
}

test('BLD-6 a conflict with pulls that are stacked before it is looked at anew when it could not be written: they may be gone', () => {
  const others = [{ pull: 'pull-a', branch: 'branch-a' }]
  const scene = createScene('ab', {
    ejecting: false,
    left: name => (name === 'b' && scene.names().includes('a') ? { ...conflict, with: others } : undefined),
  })
  assert.deepEqual(scene.pass(), ['build 1 on m0: ab', 'eject b conflict', 'file 1'])
  scene.leave('a')
  scene.ejecting = true
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), ['drop 1 pull-moved-on', 'build 2 on m0: b', 'file 2'])
})
