/** Faults that other merge queues shipped, each as far as the planner can meet it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScene, lost, MINUTE, run, type Scene, timeout, waiting } from './scene.ts'

const settings = { batch: 2, depth: 2, waitMs: 0 } as const

function allPass(scene: Scene): void {
  for (const { id } of scene.line.batches) scene.end(id, run('passed'))
}

test('LND-2 a requeue after a push does not take the new head for the old one’s verdict', () => {
  const scene = createScene('a')
  scene.pass()
  scene.end(1, run('passed'))
  scene.leave('a')
  scene.queue = [waiting('a', { key: 'key-a-again', head: { state: 'at', commit: 'a2' } })]
  assert.deepEqual(scene.pass(), ['drop 1 pull-moved-on', 'build 2 on m0: a', 'file 2'])
})

test('AHD-2 LND-1 nothing lands on a base other than the one it was checked on', () => {
  const scene = createScene('abcd', { settings })
  scene.pass()
  scene.move('m1')
  allPass(scene)
  assert.ok(!scene.pass().some(did => did.startsWith('land')))
})

test('LND-11 the queue’s own landing does not restart what was built on it', () => {
  const scene = createScene('abcd', { settings })
  scene.pass()
  scene.end(1, run('passed'))
  const did = scene.pass()
  assert.ok(!did.some(one => one.startsWith('drop')), did.join('; '))
})

test('CHK-8 a cancelled run is no failure, and a skipped one is no success of anything else', () => {
  const scene = createScene('a')
  scene.pass()
  scene.end(1, run('skipped', { workflow: 'lint' }), run('cancelled'))
  assert.deepEqual(scene.pass(), ['drop 1 no-verdict'])
  assert.deepEqual(scene.ejected, [])
})

test('CHK-11 a batch does not land by what its pulls passed themselves', () => {
  const scene = createScene('a', { preflights: ['test'] })
  scene.change('a', { flights: [{ workflow: 'test', state: 'passed', tip: 'm0' }] })
  scene.pass()
  scene.end(1, run('failed'))
  assert.deepEqual(scene.pass(), ['drop 1 batch-failed', 'eject a checks'])
})

test('FAI-8 a time-out is not bisected as if it were a failure', () => {
  const scene = createScene('abcd')
  scene.pass()
  scene.end(1, timeout())
  assert.deepEqual(scene.pass(), ['drop 1 no-verdict', 'build 2 on m0: abcd', 'file 2'])
})

test('FAI-9 nobody is thrown out for a run that stood on another one which was still undecided', () => {
  const scene = createScene('ab', { settings: { ...settings, batch: 1 } })
  scene.pass()
  scene.end(2, run('failed'))
  assert.deepEqual(scene.pass(), [])
  scene.end(1, run('failed'))
  scene.pass()
  assert.deepEqual(
    scene.ejected.map(({ pull }) => pull),
    ['pull-a'],
  )
})

test('FAI-3 whoever of eight breaks the batch is found, alone, in three more runs at most that fail, and the other seven land', () => {
  for (const culprit of 'abcdefgh') {
    const scene = createScene('abcdefgh')
    let failures = 0
    for (let pass = 0; pass < 20 && scene.queue.length > 0; pass++) {
      scene.pass()
      for (const { id, members } of scene.line.batches) {
        const isRed = members.some(({ pull }) => pull === `pull-${culprit}`)
        if (isRed) failures++
        scene.end(id, run(isRed ? 'failed' : 'passed'))
      }
    }
    assert.deepEqual(
      scene.ejected.map(({ pull }) => pull),
      [`pull-${culprit}`],
    )
    assert.deepEqual(scene.queue, [])
    assert.ok(failures <= 4, `${failures} runs failed for ${culprit}`)
    assert.equal(scene.tip?.commit, `m0${[...'abcdefgh'].flatMap(name => (name === culprit ? [] : `+${name}1`)).join('')}`)
  }
})

test('FAI-3 two culprits in one batch are both found, and the six others land', () => {
  const scene = createScene('abcdefgh')
  for (let pass = 0; pass < 40 && scene.queue.length > 0; pass++) {
    scene.pass()
    for (const { id, members } of scene.line.batches) {
      scene.end(id, run(members.some(({ pull }) => pull === 'pull-b' || pull === 'pull-g') ? 'failed' : 'passed'))
    }
  }
  assert.deepEqual(
    scene.ejected.map(({ pull }) => pull),
    ['pull-b', 'pull-g'],
  )
  assert.equal(scene.tip?.commit, 'm0+a1+c1+d1+e1+f1+h1')
})

test('BLD-6 a conflict with the base is ejected once, and not tried for ever', () => {
  const scene = createScene('a', { lagging: true, left: () => ({ why: 'conflict', files: ['x'], more: 0, with: [] }) })
  assert.deepEqual([...scene.pass(), ...scene.pass(), ...scene.pass()], ['build 1 on m0: a', 'eject a conflict'])
})

test('FAI-8 a retry for want of a verdict sends nobody to the back', () => {
  const scene = createScene('abc', { settings: { batch: 2, depth: 1, waitMs: 0 } })
  scene.pass()
  scene.end(1, lost())
  scene.pass()
  scene.now += MINUTE
  assert.deepEqual(scene.pass().slice(0, 1), ['build 2 on m0: abc'])
})

test('BLD-4 PRE-5 one head that cannot be read blocks nobody', () => {
  const scene = createScene('abc')
  scene.change('a', { head: { state: 'unreadable', server: 'pds.example' } })
  assert.deepEqual(scene.pass().slice(0, 1), ['build 1 on m0: bc'])
})

test('MOV-7 new entries restart nothing that is in flight, however many come', () => {
  const scene = createScene('ab', { settings })
  scene.pass()
  for (const name of 'cdefghij') {
    scene.join(name)
    assert.ok(!scene.pass().some(did => did.startsWith('drop')))
  }
})

test('MOV-2 a pull that is merged by hand while it is queued does not block what is behind it', () => {
  const scene = createScene('ab')
  scene.pass()
  scene.leave('a')
  assert.deepEqual(scene.pass(), ['drop 1 pull-moved-on', 'build 2 on m0: b', 'file 2'])
})

test('BLD-4 a pull from a fork that is gone breaks nothing behind it', () => {
  const scene = createScene('ab')
  scene.change('a', { head: { state: 'account-gone' }, headRepo: '' })
  assert.deepEqual(scene.pass(), ['eject a branch-gone', 'build 1 on m0: b', 'file 1'])
})

test('FAI-6 an ejection is said once, however often the queue is read', () => {
  const scene = createScene('a', { lagging: true })
  scene.change('a', { head: { state: 'gone' } })
  assert.deepEqual([...scene.pass(), ...scene.pass(), ...scene.pass()], ['eject a branch-gone'])
})

test('LND-12 a pull that turned draft, or whose queuer no longer may, does not land with a batch that passed', () => {
  const scene = createScene('ab')
  scene.pass()
  scene.end(1, run('passed'))
  scene.leave('a')
  assert.deepEqual(scene.pass(), ['drop 1 pull-moved-on', 'build 2 on m0: b', 'file 2'])
})

test('GWY-8 a landing that is refused for ever is not checked again for ever', () => {
  const scene = createScene('a', { landing: () => ({ ok: false, why: 'not-a-batch', said: 'No.' }) })
  let builds = 0
  for (let pass = 0; pass < 10; pass++) {
    builds += scene.pass().filter(did => did.startsWith('build')).length
    allPass(scene)
  }
  assert.equal(builds, 2)
})
