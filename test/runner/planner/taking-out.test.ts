import assert from 'node:assert/strict'
import { test } from 'node:test'
import { author, createScene, HOUR, MINUTE, START } from './scene.ts'

const held = { pull: 'pull-z', entry: 'entry-z', key: 'key-z', author, head: 'z1' }

test('QUE-5 a pull that was made a draft while it was queued is ejected, saying so, once', () => {
  const scene = createScene('a', { drafts: [held, { pull: 'pull-y', entry: 'entry-y', key: 'key-y', author }], lagging: true })
  assert.deepEqual(scene.pass(), ['eject z draft', 'eject y draft', 'build 1 on m0: a', 'file 1'])
  assert.deepEqual(scene.ejected[0], {
    do: 'eject',
    pull: 'pull-z',
    entry: 'entry-z',
    key: 'key-z',
    head: 'z1',
    kind: 'draft',
    why: { key: 'draft', by: author },
    checks: [],
  })
  assert.ok(!('head' in (scene.ejected[1] ?? {})))
  assert.deepEqual(scene.pass(), [])
})

test('QUE-5 one that left draft before it could be ejected is in the queue with its key; ejecting it is no longer asked for', () => {
  const scene = createScene('', { drafts: [held], ejecting: false })
  assert.deepEqual(scene.pass(), ['eject z draft'])
  scene.drafts = []
  scene.ejecting = true
  scene.now += MINUTE
  assert.deepEqual(scene.pass(), [])
})

/** QUE-9, a row each: on a pinned branch, of an author who may not queue. */
const rows = [
  { when: 'nothing changed', over: {}, why: undefined },
  { when: 'its head is another', over: { head: { state: 'at', commit: 'a2' } as const }, why: { key: 'changed', from: 'a1', to: 'a2' } },
  { when: 'it was queued for another branch', over: { sawBranch: 'old' }, why: { key: 'retargeted', from: 'old', to: 'main' } },
  { when: 'its record says no branch', over: { sawBranch: undefined }, why: undefined },
  { when: 'its record says no head', over: { sawHead: undefined }, why: { key: 'unseen', head: 'a1' } },
] as const

for (const { when, over, why } of rows) {
  test(`QUE-9 pinned, ${when}: ${why === undefined ? 'built' : 'taken out'}`, () => {
    const scene = createScene('a', { pinned: true })
    scene.change('a', { authorMayQueue: false, ...over })
    assert.deepEqual(scene.pass(), why === undefined ? ['build 1 on m0: a', 'file 1'] : ['eject a changed'])
    assert.deepEqual(scene.ejected[0]?.why, why)
  })
  test(`QUE-9 pinned, ${when}, but its author may queue: built`, () => {
    const scene = createScene('a', { pinned: true })
    scene.change('a', over)
    assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'file 1'])
  })
  test(`QUE-9 not pinned, ${when}: built`, () => {
    const scene = createScene('a')
    scene.change('a', { authorMayQueue: false, ...over })
    assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'file 1'])
  })
}

test('QUE-9 a pinned pull whose head cannot be read now is not judged by it', () => {
  const scene = createScene('a', { pinned: true })
  scene.change('a', { authorMayQueue: false, head: { state: 'unreadable', server: 'pds.example' } })
  assert.deepEqual(scene.pass(), [])
})

test('BLD-4 a waiting pull whose head branch is gone is ejected, naming it and its repository', () => {
  const scene = createScene('ab')
  scene.change('a', { head: { state: 'gone' } })
  assert.deepEqual(scene.pass(), ['eject a branch-gone', 'build 1 on m0: b', 'file 1'])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'branch-gone', head: 'branch-a', owner: author, name: 'orchard' })
})

test('BLD-4 one whose account is gone is ejected as such, naming the account that held the head', () => {
  const fork = 'did:plc:carolccccccccccccccccccc'
  const scene = createScene('ab')
  scene.change('a', { head: { state: 'account-gone' }, headRepo: `at://${fork}/dev.knotless.repo/fork` })
  scene.change('b', { head: { state: 'account-gone' }, headRepo: 'nonsense' })
  scene.pass()
  assert.deepEqual(
    scene.ejected.map(({ why }) => why),
    [
      { key: 'account-gone', author: fork },
      { key: 'account-gone', author },
    ],
  )
})

test('BLD-4 one whose head cannot be read is left out, said, looked at again with back-off, and ejected after an hour', () => {
  const scene = createScene('ab')
  scene.change('a', { head: { state: 'unreadable', server: 'pds.example' } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: b', 'file 1'])
  assert.deepEqual(
    scene.last.waits.filter(wait => wait.for === 'unreadable'),
    [{ for: 'unreadable', pull: 'pull-a', server: 'pds.example', until: START + MINUTE }],
  )
  scene.now += HOUR - 1
  assert.deepEqual(scene.pass(), [])
  assert.equal(scene.last.wakeAt, START + HOUR)
  scene.now += 1
  assert.deepEqual(scene.pass(), ['eject a unreadable'])
  assert.deepEqual(scene.ejected[0]?.why, { key: 'unreadable', head: 'branch-a', server: 'pds.example' })
})

test('BLD-4 a head that can be read again is built at once, and a later outage starts a new hour', () => {
  const scene = createScene('a')
  const down = { head: { state: 'unreadable', server: 'pds.example' } } as const
  scene.change('a', down)
  scene.pass()
  scene.now += 50 * MINUTE
  scene.change('a', { head: { state: 'at', commit: 'a1' } })
  assert.deepEqual(scene.pass(), ['build 1 on m0: a', 'file 1'])
  scene.move('m1')
  scene.change('a', down)
  scene.now += 20 * MINUTE
  assert.deepEqual(scene.pass(), ['drop 1 branch-moved'])
})

test('BLD-4 one that its author takes out and in again has a new hour', () => {
  const scene = createScene('a')
  scene.change('a', { head: { state: 'unreadable', server: 'pds.example' } })
  scene.pass()
  scene.now += 50 * MINUTE
  scene.change('a', { key: 'key-a-again' })
  scene.pass()
  scene.now += 20 * MINUTE
  assert.deepEqual(scene.pass(), [])
})
