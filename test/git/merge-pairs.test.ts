import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { boundsFaults } from '../../src/git/bounds.ts'
import { mergeIn } from '../../src/git/merge.ts'
import { mergePairs, type PairOutcome } from '../../src/git/merge-pairs.ts'
import type { ObjectsPlace } from '../../src/git/objects.ts'
import { openQuarantineIn } from '../../src/git/quarantine.ts'
import { ObjectMaker } from './pack-writer.ts'
import { commit, git, newRepo, snapshot, tempDir, writeTree } from './support.ts'

/** Somewhere to merge the commits of a repository without writing into it. */
async function placeOf(t: TestContext, dir: string): Promise<ObjectsPlace> {
  const quarantine = await openQuarantineIn(tempDir(t), [`${dir}/objects`])
  return { dir, env: quarantine.env }
}

const lines = (...changed: [number, string][]) =>
  Array.from({ length: 30 }, (_, n) => `${changed.find(([at]) => at === n)?.[1] ?? `line ${n}`}\n`).join('')

async function outcomesOf(...args: Parameters<typeof mergePairs>): Promise<PairOutcome[]> {
  const merged = await mergePairs(...args)
  assert.ok(merged.ok, JSON.stringify(merged))
  return merged.outcomes
}

test('GWY-4 GWY-14 many pairs at once give the very trees and conflicts that each gives alone', async t => {
  const work = newRepo(t)
  const start = {
    f: lines(),
    'old/a': lines([1, 'a']),
    'old/b': lines([2, 'b']),
    'old/c': lines([3, 'c']),
    gone: 'x\n',
    '.gitattributes': 'f merge=union\n',
  }
  const base = commit(work, 'main', start)
  const { gone, 'old/a': a, 'old/b': b, 'old/c': c, ...kept } = start
  const heads = [
    commit(work, 'p1', { ...start, f: lines([3, 'three']) }, { parents: [base] }),
    commit(work, 'p2', { ...start, f: lines([20, 'their twenty']) }, { parents: [base] }),
    commit(work, 'p3', { ...start, 'old/new': 'n' }, { parents: [base] }),
    commit(work, 'p4', { ...start, 'old/a': lines([1, 'a'], [9, 'nine']) }, { parents: [base] }),
    commit(work, 'p5', { ...kept, 'old/a': a, 'old/b': b, 'old/c': c }, { parents: [base] }),
    commit(work, 'p6', { ...start, 'größe/naïve\nname': 'x' }, { parents: [base] }),
    base,
  ]
  const tip = commit(work, 'main', { ...kept, gone, f: lines([20, 'twenty']), 'new/a': a, 'new/b': b, 'new/c': c })
  const pairs = [...heads, tip].flatMap(head => [
    { onto: tip, head },
    { onto: base, head },
    { onto: head, head: tip },
  ])
  const before = snapshot(work)
  const outcomes = await outcomesOf(await placeOf(t, work), pairs)
  const alone = await placeOf(t, work)
  for (const [at, { onto, head }] of pairs.entries()) {
    const one = await mergeIn(alone, onto, head)
    assert.ok(one.ok)
    const wanted = one.applies
      ? { applies: true, tree: one.tree }
      : { applies: false, conflicts: one.conflicts, moreConflicts: one.moreConflicts }
    assert.deepEqual(outcomes[at], wanted)
  }
  assert.ok(outcomes.some(row => row.applies === false) && outcomes.some(row => row.applies === true))
  assert.deepEqual(snapshot(work), before)
})

test('GWY-4 a merged tree lies in the place, and of many conflicts a hundred are named', async t => {
  const work = newRepo(t)
  const files = (text: string) => Object.fromEntries(Array.from({ length: 130 }, (_, n) => [`dir/file-${n}`, text]))
  const base = commit(work, 'main', { ...files('old\n'), f: lines() })
  const head = commit(work, 'topic', { ...files('old\n'), f: lines([3, 'three']) }, { parents: [base] })
  const clash = commit(work, 'clash', { ...files('theirs\n'), f: lines() }, { parents: [base] })
  const tip = commit(work, 'main', { ...files('ours\n'), f: lines([20, 'twenty']) })
  const place = await placeOf(t, work)
  const [clean, conflict] = await outcomesOf(place, [
    { onto: tip, head },
    { onto: tip, head: clash },
  ])
  const tree = writeTree(work, { ...files('ours\n'), f: lines([3, 'three'], [20, 'twenty']) })
  assert.deepEqual(clean, { applies: true, tree })
  assert.equal((await mergeIn(place, tip, head)).ok, true)
  assert.ok(conflict?.applies === false)
  assert.deepEqual([conflict.conflicts.length, conflict.moreConflicts], [100, 30])
  assert.deepEqual(await outcomesOf(place, []), [])
})

test('GWY-4 a pair that cannot be merged says why, and the others are merged', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { f: lines() })
  const head = commit(work, 'topic', { f: lines([3, 'three']) }, { parents: [base] })
  const tip = commit(work, 'main', { f: lines([20, 'twenty']) })
  const island = commit(work, 'island', { y: 'y' }, { parents: [] })
  const blob = git(work, ['rev-parse', `${base}:f`])
  git(work, ['tag', '-a', '-m', 'x', 'v1', head])
  const tag = git(work, ['rev-parse', 'refs/tags/v1'])
  const place = await placeOf(t, work)
  const good = { onto: tip, head }
  const [merged] = await outcomesOf(place, [good])
  assert.equal(merged?.applies, true)
  const bad = [island, 'f'.repeat(40), blob, tag, 'topic', `${tip} ${head}\n${tip}`, '--help', '']
  for (const other of bad) {
    for (const pair of [
      { onto: tip, head: other },
      { onto: other, head },
    ]) {
      const [first, second, third] = await outcomesOf(place, [good, pair, good])
      assert.deepEqual([first, third], [merged, merged], JSON.stringify(pair))
      assert.ok(second?.applies === null)
      assert.equal(second.unread.code, other === island ? 'unrelated' : 'missing-commit')
    }
  }
  const all = await outcomesOf(
    place,
    bad.map(other => ({ onto: tip, head: other })),
  )
  assert.ok(all.every(row => row.applies === null))
  const many = await mergePairs(place, Array(201).fill(good))
  assert.equal(!many.ok && many.code, 'too-large')
  const off = await mergePairs(place, [good], AbortSignal.abort())
  assert.equal(!off.ok && off.code, 'failed')
})

test('STO-11 a head out of bounds is refused alone, and a head that was found within bounds is not walked again', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { f: 'x' })
  const make = new ObjectMaker()
  const leaf = make.tree([{ mode: '100644', name: 'f', id: make.add('blob', 'x') }])
  const wrap = (id: string, name: string) => make.tree([{ mode: '40000', name, id }])
  let deep = leaf
  for (let depth = 0; depth < 520; depth++) deep = wrap(deep, 'd')
  let deepest = deep
  for (let depth = 0; depth < 60_000; depth++) deepest = wrap(deepest, 'd')
  const bad = [deep, deepest, wrap(leaf, 'n'.repeat(256))].map(tree => make.commit(tree, [base]))
  git(work, ['index-pack', '--stdin'], make.pack())
  const head = commit(work, 'topic', { f: 'x', g: 'y' }, { parents: [base] })
  const place = await placeOf(t, work)
  const pairs = [head, ...bad, head].map(id => ({ onto: base, head: id }))
  const outcomes = await outcomesOf(place, pairs)
  assert.deepEqual(
    outcomes.map(row => (row.applies === null ? row.unread.message : row.applies)),
    [
      true,
      'The branch holds folders nested deeper than 512.',
      'The branch holds folders nested deeper than 512.',
      'The branch holds a file name longer than 255 bytes.',
      true,
    ],
  )
  const walked = await boundsFaults(
    place,
    pairs.map(row => ({ base: row.onto, head: row.head })),
  )
  assert.deepEqual(
    walked.map(fault => fault?.code),
    [undefined, 'too-large', 'too-large', 'too-large', undefined],
  )

  const checked = new Map<string, true>()
  await mergePairs(place, pairs, undefined, checked)
  assert.deepEqual([...checked.keys()], [`${head} ${base}`])
  // Told that a head is within bounds, it takes the caller's word.
  checked.set(`${bad[2]} ${base}`, true)
  const [told] = await outcomesOf(place, [{ onto: base, head: bad[2] ?? '' }], undefined, checked)
  assert.equal(told?.applies, true)
})
