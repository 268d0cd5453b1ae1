import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstParentChain, isAncestor } from '../../src/git/chain.ts'
import { commit, git, newRepo } from './support.ts'

test('GWY-4 the chain is the first-parent line from the old commit to the new one, oldest first', async t => {
  const dir = newRepo(t)
  const base = commit(dir, 'main', { a: '0' })
  const older = commit(dir, 'main', { a: '1' })
  const from = commit(dir, 'main', { a: '2' })
  const one = commit(dir, 'main', { a: '3' })
  const side = commit(dir, 'side', { a: '1', b: '1' }, { parents: [older] })
  const merge = commit(dir, 'main', { a: '3', b: '1' }, { parents: [one, side] })
  const two = commit(dir, 'main', { a: '4', b: '1' })
  const turned = commit(dir, 'turned', { a: '3', b: '1' }, { parents: [side, one] })
  const island = commit(dir, 'island', { z: '1' })
  const chain = (to: string, most = 10, start = from) => firstParentChain({ dir }, { from: start, to, most })
  assert.deepEqual(await chain(two), { ok: true, ids: [one, merge, two] })
  assert.deepEqual(await chain(two, 3), { ok: true, ids: [one, merge, two] })
  assert.deepEqual(await chain(two, 2), { ok: false, why: 'too-long' })
  assert.deepEqual(await chain(from), { ok: true, ids: [] })
  assert.deepEqual(await chain(two, 10, base), { ok: true, ids: [older, from, one, merge, two] })
  // The old commit is a second parent, older than the new one, or nowhere.
  assert.deepEqual(await chain(turned), { ok: false, why: 'none' })
  assert.deepEqual(await chain(base), { ok: false, why: 'none' })
  assert.deepEqual(await chain(island), { ok: false, why: 'none' })
  assert.deepEqual(await chain(side, 1), { ok: false, why: 'none' })
  git(dir, ['tag', '-a', '-m', 'x', 'v1', two])
  for (const bad of ['f'.repeat(40), git(dir, ['rev-parse', 'refs/tags/v1']), git(dir, ['rev-parse', 'main:a']), 'main', '--all', '']) {
    assert.deepEqual(await chain(bad), { ok: false, why: 'none' }, bad)
    assert.deepEqual(await chain(two, 10, bad), { ok: false, why: 'none' }, bad)
  }
  await assert.rejects(firstParentChain({ dir, signal: AbortSignal.abort() }, { from: base, to: two, most: 9 }))
})

test('a commit is an ancestor of itself and of what was made on it, in quarantines too', async t => {
  const dir = newRepo(t)
  const one = commit(dir, 'main', { a: '1' })
  const two = commit(dir, 'main', { a: '2' })
  const other = newRepo(t)
  const place = { dir: other, env: { GIT_OBJECT_DIRECTORY: `${dir}/objects` } }
  const answers = [
    await isAncestor(place, one, two),
    await isAncestor(place, two, two),
    await isAncestor(place, two, one),
    await isAncestor(place, 'f'.repeat(40), one),
    await isAncestor(place, 'main', one),
  ]
  assert.deepEqual(
    answers.map(row => row.ok && row.ancestor),
    [true, true, false, false, false],
  )
  for (const tip of ['f'.repeat(40), 'main']) {
    const absent = await isAncestor(place, one, tip)
    assert.equal(!absent.ok && absent.code, 'missing-commit')
  }
})
