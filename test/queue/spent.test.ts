import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOwn, spentBranches } from '../../src/queue/spent.ts'
import { type AtUri, alice, bob, carol, commit, dave, HEAD, History, repoAt, TIP } from './support.ts'

const OTHER = commit(3)

/** A pull of bob's from the branch topic onto main, and what it is to land as. */
function orchard(): { history: History; pull: AtUri } {
  const history = new History().refsOf(alice, 'orchard', { main: TIP, release: TIP, topic: HEAD, other: OTHER })
  return { history, pull: history.pull(bob) }
}

const spent = (history: History, ...landing: { pull: string; head: string }[]) => spentBranches(history.view(), landing)

test('LND-4 the head branch of a pull that lands is spent, at the commit that was squashed', () => {
  const { history, pull } = orchard()
  assert.deepEqual(spent(history, { pull, head: HEAD }), [{ branch: 'topic', at: HEAD, pull }])
})

test('LND-4 a head branch that moved past what was squashed is kept', () => {
  const { history, pull } = orchard()
  assert.deepEqual(spent(history, { pull, head: OTHER }), [])
})

test('LND-4 a head branch that is gone, or a pull that is not known, deletes nothing', () => {
  const { history, pull } = orchard()
  history.refsOf(alice, 'orchard', { main: TIP })
  assert.deepEqual(spent(history, { pull, head: HEAD }, { pull: `${pull}x`, head: HEAD }), [])
})

test('LND-4 a head branch in a fork is kept, also one of the same name', () => {
  const { history } = orchard()
  const pull = history.pull(dave, { head: { repo: repoAt(dave), branch: 'topic' } })
  history.refsOf(dave, 'orchard', { topic: HEAD })
  assert.equal(history.see(pull).head, HEAD)
  assert.deepEqual(spent(history, { pull, head: HEAD }), [])
})

test('LND-4 the default branch is kept, whatever pull brings it', () => {
  const { history } = orchard()
  const pull = history.pull(bob, { branch: 'release', head: { repo: history.uri, branch: 'main' } })
  assert.deepEqual(spent(history, { pull, head: TIP }), [])
})

test('LND-4 the target of a pull that lands is kept', () => {
  const { history, pull } = orchard()
  const back = history.pull(bob, { branch: 'topic', head: { repo: history.uri, branch: 'other' } })
  assert.deepEqual(spent(history, { pull, head: HEAD }, { pull: back, head: OTHER }), [{ branch: 'other', at: OTHER, pull: back }])
})

test('LND-4 a branch with a rule is kept, whatever the rule says', () => {
  for (const rule of [{ queue: true }, { queue: false }, { queue: false, pinned: true }]) {
    const { history, pull } = orchard()
    history.edit({ protections: [{ branch: 'topic', ...rule }] })
    assert.deepEqual(spent(history, { pull, head: HEAD }), [])
  }
})

test('LND-4 a branch that another open pull brings is kept', () => {
  const { history, pull } = orchard()
  const other = history.pull(carol, { branch: 'release' })
  assert.deepEqual(spent(history, { pull, head: HEAD }), [])
  history.closed(carol, other)
  assert.equal(spent(history, { pull, head: HEAD }).length, 1)
})

test('LND-4 a branch that another open pull is onto is kept', () => {
  const { history, pull } = orchard()
  const stacked = history.pull(carol, { branch: 'topic', head: { repo: history.uri, branch: 'other' } })
  assert.deepEqual(spent(history, { pull, head: HEAD }), [])
  history.merged(carol, stacked)
  assert.equal(spent(history, { pull, head: HEAD }).length, 1)
})

test('LND-4 a branch of the same name in a fork keeps none', () => {
  const { history, pull } = orchard()
  history.pull(dave, { head: { repo: repoAt(dave), branch: 'topic' } })
  assert.equal(spent(history, { pull, head: HEAD }).length, 1)
})

test('LND-4 a branch that two pulls of one landing bring is deleted once; others in their order', () => {
  const { history, pull } = orchard()
  const twin = history.pull(carol)
  const third = history.pull(carol, { head: { repo: history.uri, branch: 'other' } })
  assert.deepEqual(spent(history, { pull: third, head: OTHER }, { pull: twin, head: HEAD }, { pull, head: HEAD }), [
    { branch: 'other', at: OTHER, pull: third },
    { branch: 'topic', at: HEAD, pull: twin },
  ])
})

test('LND-4 HON-4 after a transfer only branches at the new address are deleted, and pulls that name the old one still keep theirs', () => {
  const { history, pull } = orchard()
  history.transfer(dave)
  assert.deepEqual(spent(history, { pull, head: HEAD }), [], 'its head is at the old address')
  const fresh = history.pull(bob)
  assert.deepEqual(spent(history, { pull: fresh, head: HEAD }), [], 'the old pull brings it too')
  assert.deepEqual(spent(history, { pull, head: HEAD }, { pull: fresh, head: HEAD }), [{ branch: 'topic', at: HEAD, pull: fresh }])
  history.closed(bob, pull)
  assert.deepEqual(spent(history, { pull: fresh, head: HEAD }), [{ branch: 'topic', at: HEAD, pull: fresh }])
  assert.equal(spentBranches(history.viewFromOldAddress(), [{ pull: fresh, head: HEAD }]).length, 1)
})

test('HON-4 a repository has the addresses that it has and had', () => {
  const { history } = orchard()
  const old = history.uri
  assert.deepEqual([isOwn(history.view(), old), isOwn(history.view(), repoAt(dave))], [true, false])
  history.transfer(dave)
  assert.deepEqual([isOwn(history.view(), old), isOwn(history.view(), repoAt(dave))], [true, true])
  const foreign = { ...history.view(), uri: repoAt(carol) }
  assert.ok(isOwn(foreign, repoAt(carol)), 'the address that it was asked for at')
  const before = history.viewFromOldAddress()
  assert.deepEqual([isOwn(before, old), isOwn(before, repoAt(dave))], [true, true])
})
