import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gitEnv } from '../../src/git/env.ts'
import { mergeOnto } from '../../src/git/merge.ts'
import type { Mirror } from '../../src/git/mirror.ts'
import { syncMirror } from '../../src/git/sync.ts'
import { ObjectMaker } from './pack-writer.ts'
import {
  type Blobs,
  blobsFrom,
  commit,
  git,
  makePack,
  newMirror,
  newRepo,
  packRow,
  recordOf,
  recordOfRepo,
  snapshot,
  writeTree,
} from './support.ts'

/** A mirror of all that a repository holds. */
async function mirrorOf(t: TestContext, work: string): Promise<Mirror> {
  const blobs: Blobs = new Map()
  const mirror = await newMirror(t)
  const done = await syncMirror(mirror, recordOfRepo(work, blobs), blobsFrom(blobs))
  assert.equal(done.ok, true, JSON.stringify(done))
  return mirror
}

const lines = (...changed: [number, string][]) =>
  Array.from({ length: 30 }, (_, n) => `${changed.find(([at]) => at === n)?.[1] ?? `line ${n}`}\n`).join('')

test('ADM-5 a head merges onto the tip, and neither mirror gets an object', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { f: lines() })
  const head = commit(work, 'topic', { f: lines([3, 'three']), new: 'x' }, { parents: [base] })
  const tip = commit(work, 'main', { f: lines([20, 'twenty']) })
  const mirror = await mirrorOf(t, work)
  const before = snapshot(mirror.dir)
  const merged = await mergeOnto({ target: mirror, tip, source: mirror, head })
  const tree = writeTree(work, { f: lines([3, 'three'], [20, 'twenty']), new: 'x' })
  assert.deepEqual(merged, { ok: true, applies: true, tree, changesChecks: false, nothingToLand: false })
  assert.deepEqual(snapshot(mirror.dir), before)
})

test('ADM-5 a head of a fork merges though the target never saw it', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { f: lines() })
  const target = await mirrorOf(t, work)
  const fork = newRepo(t)
  git(fork, ['fetch', '-q', work, 'refs/heads/main:refs/heads/main'])
  const head = commit(fork, 'main', { f: lines([3, 'three']) })
  const source = await mirrorOf(t, fork)
  const [a, b] = [snapshot(target.dir), snapshot(source.dir)]
  const merged = await mergeOnto({ target, tip: base, source, head })
  assert.ok(merged.ok && merged.applies)
  assert.equal(merged.tree, git(fork, ['rev-parse', `${head}^{tree}`]))
  assert.deepEqual([snapshot(target.dir), snapshot(source.dir)], [a, b])
  const absent = await mergeOnto({ target, tip: base, source: target, head })
  assert.equal(!absent.ok && absent.code, 'missing-commit')
})

test('ADM-5 a head in conflict names the files, whatever they are called', async t => {
  const work = newRepo(t)
  const names = ['plain', 'with\nnewline', 'tab\tand "quotes"', 'größe/straße', 'caf\u00e9']
  const files = (text: string) => Object.fromEntries(names.map(name => [name, text]))
  const base = commit(work, 'main', { ...files('old\n'), same: 's' })
  const head = commit(work, 'topic', { ...files('theirs\n'), same: 's' }, { parents: [base] })
  const tip = commit(work, 'main', { ...files('ours\n'), same: 's' })
  const mirror = await mirrorOf(t, work)
  const merged = await mergeOnto({ target: mirror, tip, source: mirror, head })
  assert.ok(merged.ok && !merged.applies)
  assert.deepEqual([...merged.conflicts].sort(), [...names].sort())
  assert.equal(merged.moreConflicts, 0)
})

test('ADM-5 of many conflicts a hundred are named and the rest counted', async t => {
  const work = newRepo(t)
  const files = (text: string) => Object.fromEntries(Array.from({ length: 130 }, (_, n) => [`dir/file-${n}`, text]))
  const base = commit(work, 'main', files('old\n'))
  const head = commit(work, 'topic', files('theirs\n'), { parents: [base] })
  const tip = commit(work, 'main', files('ours\n'))
  const mirror = await mirrorOf(t, work)
  const merged = await mergeOnto({ target: mirror, tip, source: mirror, head })
  assert.ok(merged.ok && !merged.applies)
  assert.equal(merged.conflicts.length, 100)
  assert.equal(merged.moreConflicts, 30)
})

test('a commit that is not there, or no commit, is no conflict', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { f: 'x' })
  const mirror = await mirrorOf(t, work)
  const blob = git(work, ['rev-parse', `${base}:f`])
  for (const head of ['f'.repeat(40), blob, 'main', '--help', `${base}^`, '']) {
    const merged = await mergeOnto({ target: mirror, tip: base, source: mirror, head })
    assert.equal(!merged.ok && merged.code, 'missing-commit', head)
    const swapped = await mergeOnto({ target: mirror, tip: head, source: mirror, head: base })
    assert.equal(!swapped.ok && swapped.code, 'missing-commit', head)
  }
})

test('histories with nothing in common are unrelated, not in conflict', async t => {
  const work = newRepo(t)
  const tip = commit(work, 'main', { f: 'x' })
  const head = commit(work, 'island', { f: 'y' })
  const mirror = await mirrorOf(t, work)
  const merged = await mergeOnto({ target: mirror, tip, source: mirror, head })
  assert.equal(!merged.ok && merged.code, 'unrelated')
})

test('BLD-8 a head whose changes the branch has leaves nothing to land', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { f: 'old' })
  const head = commit(work, 'topic', { f: 'new' }, { parents: [base] })
  const tip = commit(work, 'main', { f: 'new' })
  const mirror = await mirrorOf(t, work)
  for (const one of [head, base, tip]) {
    const merged = await mergeOnto({ target: mirror, tip, source: mirror, head: one })
    assert.ok(merged.ok && merged.applies && merged.nothingToLand)
  }
})

test('ADM-11 a head that changes what checks it is known by it', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { f: 'x', '.knotless/workflows/check.yml': 'one\n' })
  const ahead = commit(work, 'main', { f: 'y', '.knotless/workflows/check.yml': 'one\n', '.knotless/queue.yml': 'batch: 2\n' })
  const changed = commit(work, 'changes', { f: 'x', '.knotless/workflows/check.yml': 'two\n' }, { parents: [base] })
  const dropped = commit(work, 'drops', { f: 'x' }, { parents: [base] })
  const clashing = commit(work, 'clashes', { f: 'z', '.knotless/workflows/check.yml': 'two\n' }, { parents: [base] })
  const other = commit(work, 'other', { f: 'x', '.knotless/workflows/check.yml': 'one\n', g: 'new' }, { parents: [base] })
  const mirror = await mirrorOf(t, work)
  const changes = async (head: string) => {
    const merged = await mergeOnto({ target: mirror, tip: ahead, source: mirror, head })
    assert.ok(merged.ok)
    return merged.changesChecks
  }
  assert.deepEqual(await Promise.all([changed, dropped, clashing, other].map(changes)), [true, true, true, false])
})

test('GWY-14 attributes and merge drivers of a tree are not heeded', async t => {
  const work = newRepo(t)
  const attributes = { '.gitattributes': 'f merge=union\n* text eol=crlf\n' }
  const base = commit(work, 'main', { f: 'a\n', ...attributes })
  const head = commit(work, 'topic', { f: 'x\na\n', ...attributes }, { parents: [base] })
  const tip = commit(work, 'main', { f: 'y\na\n', ...attributes })
  const mirror = await mirrorOf(t, work)
  const merged = await mergeOnto({ target: mirror, tip, source: mirror, head })
  assert.ok(merged.ok && !merged.applies)
  assert.deepEqual(merged.conflicts, ['f'])
})

test('GWY-14 the environment and the user of the process change no merge', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { 'old/a': lines(), 'old/b': lines([1, 'b']), 'old/c': lines([2, 'c']) })
  const head = commit(
    work,
    'topic',
    { 'old/a': lines(), 'old/b': lines([1, 'b']), 'old/c': lines([2, 'c']), 'old/new': 'n' },
    { parents: [base] },
  )
  const tip = commit(work, 'main', { 'new/a': lines(), 'new/b': lines([1, 'b']), 'new/c': lines([2, 'c']) })
  const mirror = await mirrorOf(t, work)
  const plain = await mergeOnto({ target: mirror, tip, source: mirror, head })
  git(mirror.dir, ['config', 'merge.directoryRenames', 'false'])
  const set = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'merge.directoryRenames', GIT_CONFIG_VALUE_0: 'false', GIT_DIR: '/nonexistent' }
  Object.assign(process.env, set)
  t.after(() => {
    for (const name of Object.keys(set)) delete process.env[name]
  })
  for (const name of Object.keys(set)) assert.equal(gitEnv()[name], undefined)
  assert.deepEqual(await mergeOnto({ target: mirror, tip, source: mirror, head }), plain)
  // A folder that was renamed on one side and added to on the other is a question for a person.
  assert.ok(plain.ok && !plain.applies)
})

test('STO-11 heads deeper, longer or with more files than any system takes are refused', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { f: 'x' })
  const make = new ObjectMaker()
  const leaf = make.tree([{ mode: '100644', name: 'f', id: make.add('blob', 'x') }])
  const wrap = (id: string, name: string) => make.tree([{ mode: '40000', name, id }])
  let deep = leaf
  for (let depth = 0; depth < 520; depth++) deep = wrap(deep, 'd')
  let deepest = deep
  for (let depth = 0; depth < 60_000; depth++) deepest = wrap(deepest, 'd')
  let long = leaf
  for (let depth = 0; depth < 25; depth++) long = wrap(long, 'n'.repeat(180))
  let bomb = leaf
  for (let level = 0; level < 10; level++)
    bomb = make.tree(Array.from({ length: 10 }, (_, n) => ({ mode: '40000', name: `d${n}`, id: bomb })))
  const trees = { deep, deepest, long, name: wrap(leaf, 'n'.repeat(256)), bomb }
  const heads = Object.entries(trees).map(([branch, tree]) => [`refs/heads/${branch}`, make.commit(tree, [base])] as const)
  const blobs: Blobs = new Map()
  const packs = [packRow(blobs, makePack(work, [base])), packRow(blobs, make.pack())]
  const mirror = await newMirror(t)
  const synced = await syncMirror(mirror, recordOf({ 'refs/heads/main': base, ...Object.fromEntries(heads) }, packs), blobsFrom(blobs))
  assert.equal(synced.ok, true)
  const said: { [branch: string]: RegExp } = {
    deepest: /nested deeper than 512/,
    deep: /nested deeper than 512/,
    long: /path longer than 4,096/,
    name: /name longer than 255/,
    bomb: /more than 500,000/,
  }
  for (const [name, head] of heads) {
    const branch = name.slice('refs/heads/'.length)
    const merged = await mergeOnto({ target: mirror, tip: base, source: mirror, head })
    assert.equal(!merged.ok && merged.code, 'too-large', branch)
    assert.match(merged.ok ? '' : merged.message, said[branch] ?? /nothing/)
  }
})
