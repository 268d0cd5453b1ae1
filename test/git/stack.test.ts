import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { treeBounds } from '../../src/git/bounds.ts'
import { mergeIn, mergeLimits } from '../../src/git/merge.ts'
import { openMergeLoop } from '../../src/git/merge-loop.ts'
import { mergeTrees } from '../../src/git/merge-trees.ts'
import { type Mirror, openMirror } from '../../src/git/mirror.ts'
import { commitsNaming } from '../../src/git/named.ts'
import { startProcessesBy } from '../../src/git/processes.ts'
import { openQuarantineIn } from '../../src/git/quarantine.ts'
import { openStack, type Stack, type Stacked, type StackOptions } from '../../src/git/stack.ts'
import { openStarter } from '../../src/git/starter.ts'
import { touchedBy } from '../../src/git/touched.ts'
import { commit, git, newRepo, snapshot, tempDir } from './support.ts'

const did = 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb'
const time = 1_790_000_000
const pullOf = (n: number) => `at://did:plc:cccccccccccccccccccccccc/dev.knotless.pull/3lxyzabcdef2${n}`
const lines = (...changed: [number, string][]) =>
  Array.from({ length: 30 }, (_, n) => `${changed.find(([at]) => at === n)?.[1] ?? `line ${n}`}\n`).join('')

async function mirrorOf(t: TestContext): Promise<Mirror> {
  return await openMirror(newRepo(t))
}

const heads = (ids: readonly string[]) => ids.map((head, n) => ({ head, text: { title: `Change ${n}`, branch: `b${n}`, pull: pullOf(n) } }))

async function opened(t: TestContext, mirror: Mirror, base: string, more: Partial<StackOptions> = {}): Promise<Stack> {
  const stack = await openStack(mirror, { base, committer: did, time, ...more })
  t.after(() => stack.close())
  return stack
}

async function added(stack: Stack, ids: readonly string[], most = ids.length): Promise<Stacked[]> {
  const done = await stack.add(heads(ids), most)
  assert.ok(done.ok, JSON.stringify(done))
  return done.outcomes
}

const why = (outcome: Stacked | undefined) => (outcome?.in === false ? outcome.why : 'in')

test('BLD-3 each head is merged onto the commit before it and squashed: one commit a pull, on one line, as bare git would merge it', async t => {
  const mirror = await mirrorOf(t)
  const start = { f: lines(), 'dir/a': lines([1, 'a']), 'dir/b': 'b\n' }
  const left = commit(mirror.dir, 'main', start)
  const base = commit(mirror.dir, 'main', { ...start, f: lines([1, 'one']) })
  const one = commit(mirror.dir, 'p1', { ...start, f: lines([20, 'twenty']) }, { parents: [left] })
  const two = commit(mirror.dir, 'p2', { f: lines(), 'moved/a': lines([1, 'a']), 'dir/b': 'b\n' }, { parents: [left] })
  const middle = commit(mirror.dir, 'p3', { ...start, 'dir/a': lines([1, 'a'], [9, 'nine']) }, { parents: [base] })
  const three = commit(mirror.dir, 'p3', { ...start, 'dir/a': lines([1, 'a'], [9, 'nine']), new: 'n' }, { parents: [middle] })
  const stack = await opened(t, mirror, base)
  assert.deepEqual((await added(stack, [one, two, three])).map(why), ['in', 'in', 'in'])
  const commits = await stack.finish(() => false)
  let parent = base
  for (const [n, made] of commits.entries()) {
    assert.equal(made.head, [one, two, three][n])
    const object = git(mirror.dir, ['cat-file', 'commit', made.commit]).split('\n')
    const author = git(mirror.dir, ['cat-file', 'commit', made.head])
      .split('\n')
      .find(line => line.startsWith('author '))
    assert.deepEqual(object, [
      `tree ${made.tree}`,
      `parent ${parent}`,
      author,
      `committer ${did} <${did}@knotless.invalid> ${time} +0000`,
      '',
      `Change ${n}`,
      '',
      pullOf(n),
    ])
    assert.equal(git(mirror.dir, ['merge-tree', '--write-tree', parent, made.head]), made.tree)
    parent = made.commit
  }
  // A rename of one and a change of another come together.
  assert.match(git(mirror.dir, ['show', `${parent}:moved/a`]), /nine/)
  assert.equal(git(mirror.dir, ['fsck', '--full', '--strict', '--no-dangling']), '')
})

test('BLD-5 BLD-6 a conflict leaves one out alone: with the branch, or with those stacked before it that change its files', async t => {
  const mirror = await mirrorOf(t)
  const start = { f: lines(), g: lines(), dir: 'a file\n' }
  const left = commit(mirror.dir, 'main', start)
  const base = commit(mirror.dir, 'main', { ...start, g: lines([5, 'five']) })
  const ids = [
    commit(mirror.dir, 'p0', { ...start, f: lines([3, 'a']) }, { parents: [left] }),
    commit(mirror.dir, 'p1', { ...start, other: 'x' }, { parents: [left] }),
    commit(mirror.dir, 'p2', { ...start, f: lines([28, 'b']), y: 'y' }, { parents: [left] }),
    // In conflict with what is stacked, with what the branch has, with both.
    commit(mirror.dir, 'p3', { ...start, f: lines([3, 'c']) }, { parents: [left] }),
    commit(mirror.dir, 'p4', { ...start, g: lines([5, 'another']) }, { parents: [left] }),
    commit(mirror.dir, 'p5', { ...start, f: lines([3, 'd']), g: lines([5, 'yet another']) }, { parents: [left] }),
    commit(mirror.dir, 'p6', { ...start, other: 'z' }, { parents: [left] }),
    commit(mirror.dir, 'p7', { ...start, z: 'z' }, { parents: [left] }),
  ]
  const stack = await opened(t, mirror, base)
  const outcomes = await added(stack, ids)
  assert.deepEqual(outcomes.map(why), ['in', 'in', 'in', 'conflict', 'conflict', 'conflict', 'conflict', 'in'])
  const conflict = (files: string[], before: number[]) => ({ in: false, why: 'conflict', files, more: 0, with: before })
  assert.deepEqual(outcomes[3], conflict(['f'], [0, 2]))
  assert.deepEqual(outcomes[4], conflict(['g'], []))
  assert.deepEqual(outcomes[5], conflict(['g'], []))
  assert.deepEqual(outcomes[6], conflict(['other'], [1]))
  assert.equal((await stack.finish(() => false)).length, 4)
})

test('BLD-6 who made a file of a folder, or a folder of a file, is named', async t => {
  const mirror = await mirrorOf(t)
  const start = { f: lines(), 'd/x': 'x\n', 'd/y': 'y\n', r: lines([2, 'r']) }
  const base = commit(mirror.dir, 'main', start)
  const ids = [
    commit(mirror.dir, 'p0', { ...start, new: 'a file\n' }, { parents: [base] }),
    commit(mirror.dir, 'p1', { f: lines(), d: 'a file\n', r: start.r }, { parents: [base] }),
    commit(mirror.dir, 'p2', { f: lines(), 'd/x': 'x\n', 'd/y': 'y\n', s: start.r }, { parents: [base] }),
    commit(mirror.dir, 'p3', { ...start, 'new/file': 'in a folder\n' }, { parents: [base] }),
    commit(mirror.dir, 'p4', { ...start, 'd/x': 'changed\n' }, { parents: [base] }),
    commit(mirror.dir, 'p5', { f: lines(), 'd/x': 'x\n', 'd/y': 'y\n', q: start.r }, { parents: [base] }),
  ]
  const outcomes = await added(await opened(t, mirror, base), ids)
  assert.deepEqual(outcomes.map(why), ['in', 'in', 'in', 'conflict', 'conflict', 'conflict'])
  assert.deepEqual(
    outcomes.slice(3).map(one => (one.in === false && one.why === 'conflict' ? one.with : [])),
    [[0], [1], [2]],
  )
})

test('BLD-8 what changes nothing on the branch is empty; what changes nothing on others only is decided later', async t => {
  const mirror = await mirrorOf(t)
  const start = { f: lines() }
  const left = commit(mirror.dir, 'main', start)
  const base = commit(mirror.dir, 'main', { f: lines([3, 'three']) }, { message: `Landed\n\n${pullOf(0)}\n` })
  const ids = [
    commit(mirror.dir, 'p0', { f: lines([3, 'three']) }, { parents: [left] }),
    commit(mirror.dir, 'p1', { ...start, g: 'g\n' }, { parents: [left] }),
    commit(mirror.dir, 'p2', { ...start, g: 'g\n' }, { parents: [left] }),
    left,
    base,
  ]
  const stack = await opened(t, mirror, base)
  assert.deepEqual((await added(stack, ids)).map(why), ['empty', 'in', 'covered', 'empty', 'empty'])
  // In conflict with the stack, and on the branch long since.
  const changed = await opened(t, mirror, base)
  const over = commit(mirror.dir, 'p3', { f: lines([3, 'four']) }, { parents: [base] })
  assert.deepEqual((await added(changed, [over, ids[0] ?? ''])).map(why), ['in', 'empty'])
  assert.deepEqual(await (await opened(t, mirror, base)).finish(() => false), [])
})

test('BLD-8 the commit that names a pull in its last line is found, and none that quotes it elsewhere', async t => {
  const mirror = await mirrorOf(t)
  const first = commit(mirror.dir, 'main', { f: '1' }, { message: `Landed\n\n${pullOf(1)}\n\n` })
  commit(mirror.dir, 'main', { f: '2' }, { message: `Quotes\n\n${pullOf(1)}\n\n${pullOf(2)} and more\n` })
  const side = commit(mirror.dir, 'side', { g: '1' }, { parents: [first], message: `Aside\n\n${pullOf(3)}\n` })
  const long = commit(mirror.dir, 'main', { f: '3' }, { message: `Long\n\n${'x\n'.repeat(40_000)}${pullOf(4)}\n` })
  // Where a message is cut, its last line is none.
  const cut = `${pullOf(5)}\n`
  const before = 33 * 1024 - 41 - cut.length - 'Cut\n\n\n'.length + 1
  commit(mirror.dir, 'main', { f: '3a' }, { parents: [long], message: `Cut\n\n${'x'.repeat(before)}\n${cut}more\n` })
  const tip = commit(mirror.dir, 'main', { f: '4', g: '1' }, { parents: [git(mirror.dir, ['rev-parse', 'main']), side] })
  const found = await commitsNaming(mirror, { tip, pulls: [1, 2, 3, 4, 5].map(pullOf) })
  assert.deepEqual([...found], [[pullOf(1), first]])
})

test('CHK-10 a stack that is made again gets other ids: its time is moved on where it would not, and only there', async t => {
  const mirror = await mirrorOf(t)
  const base = commit(mirror.dir, 'main', { f: lines() })
  const ids = [
    commit(mirror.dir, 'p0', { f: lines([3, 'three']) }, { parents: [base] }),
    commit(mirror.dir, 'p1', { f: lines(), g: 'g' }, { parents: [base] }),
  ]
  const used = new Set<string>()
  const times: string[] = []
  for (let round = 0; round < 3; round++) {
    const stack = await opened(t, mirror, base)
    await added(stack, ids)
    const commits = await stack.finish(commit => used.has(commit))
    const tip = commits.at(-1)?.commit ?? ''
    assert.ok(!used.has(tip))
    for (const one of commits) used.add(one.commit)
    times.push(git(mirror.dir, ['log', '-2', '--format=%ct', tip]))
    assert.equal(git(mirror.dir, ['rev-parse', `${tip}~2`]), base)
  }
  assert.deepEqual(
    times,
    [0, 1, 2].map(n => `${time + n}\n${time + n}`),
  )
  // Half of an earlier stack is another stack.
  const half = await opened(t, mirror, base)
  await added(half, ids.slice(0, 1))
  const [only] = await half.finish(commit => used.has(commit))
  assert.ok(only !== undefined && !used.has(only.commit))
})

test('STO-11 one bad head is left out alone, and its neighbours are stacked', async t => {
  const mirror = await mirrorOf(t)
  const base = commit(mirror.dir, 'main', { f: 'f' })
  const good = (n: number) => commit(mirror.dir, `good-${n}`, { f: 'f', [`g${n}`]: 'g' }, { parents: [base] })
  const deep = commit(mirror.dir, 'deep', { f: 'f', [`${'d/'.repeat(treeBounds.depth)}x`]: 'x' }, { parents: [base] })
  const unrelated = commit(mirror.dir, 'other', { f: 'f', o: 'o' }, { parents: [] })
  const tree = git(mirror.dir, ['rev-parse', `${base}^{tree}`])
  const ids = [good(0), deep, 'c'.repeat(40), good(1), unrelated, tree, 'no id', good(2)]
  const before = snapshot(mirror.objects)
  const outcomes = await added(await opened(t, mirror, base), ids)
  assert.deepEqual(outcomes.map(why), ['in', 'bad', 'bad', 'in', 'bad', 'bad', 'bad', 'in'])
  const codes = outcomes.flatMap(one => (one.in === false && one.why === 'bad' ? [one.fault.code] : []))
  assert.deepEqual(codes, ['too-large', 'missing-commit', 'unrelated', 'missing-commit', 'missing-commit'])
  // Three commits, and the trees of the second and the third: nothing of the others came in.
  assert.equal(Object.keys(snapshot(mirror.objects)).length - Object.keys(before).length, 5)
})

test('STO-11 nothing of a merge in conflict stays in the mirror', async t => {
  const mirror = await mirrorOf(t)
  const left = commit(mirror.dir, 'main', { f: lines() })
  const base = commit(mirror.dir, 'main', { f: lines([3, 'a']) })
  const head = commit(mirror.dir, 'p0', { f: lines([3, 'b']) }, { parents: [left] })
  const before = snapshot(mirror.objects)
  const stack = await openStack(mirror, { base, committer: did, time })
  assert.deepEqual((await added(stack, [head])).map(why), ['conflict'])
  const [merged] = await mergeTrees(mirror, { onto: base, heads: [head] })
  assert.equal(merged?.applies, false)
  assert.deepEqual(snapshot(mirror.objects), before)
  // Nor does it come in with the next one that is clean.
  const clean = commit(mirror.dir, 'p1', { f: lines(), g: 'g' }, { parents: [left] })
  const later = snapshot(mirror.objects)
  assert.deepEqual((await added(stack, [clean])).map(why), ['in'])
  const [member] = await stack.finish(() => false)
  await stack.close()
  const fresh = Object.keys(snapshot(mirror.objects)).filter(path => !(path in later))
  assert.deepEqual(fresh.map(path => path.replaceAll('/', '')).sort(), [member?.commit, member?.tree].sort())
  assert.deepEqual(readdirSync(join(mirror.dir, 'quarantine')), [])
})

test('BLD-1 no more are taken than there are to be, and what was not tried has no outcome', async t => {
  const mirror = await mirrorOf(t)
  const base = commit(mirror.dir, 'main', { f: 'f' })
  const ids = [0, 1, 2, 3].map(n => commit(mirror.dir, `p${n}`, { f: 'f', [`g${n}`]: 'g' }, { parents: [base] }))
  const stack = await opened(t, mirror, base)
  assert.deepEqual((await added(stack, ids, 2)).map(why), ['in', 'in'])
  assert.deepEqual(await added(stack, ids.slice(2), 2), [])
  assert.deepEqual((await added(stack, ids.slice(2), 3)).map(why), ['in'])
  const missing = await (await opened(t, mirror, 'd'.repeat(40))).add(heads(ids), 4)
  assert.equal(missing.ok || missing.code, 'missing-commit')
})

test('GWY-14 a loop of merges gives the very trees and conflicts that each merge gives alone', async t => {
  const mirror = await mirrorOf(t)
  const start = { f: lines(), 'old/a': lines([1, 'a']), 'old/b': lines([2, 'b']), '.gitattributes': 'f merge=union\n' }
  const base = commit(mirror.dir, 'main', start)
  const ids = [
    commit(mirror.dir, 'p0', { ...start, f: lines([3, 'x']) }, { parents: [base] }),
    commit(mirror.dir, 'p1', { ...start, f: lines([20, 'y']), 'odd\nname': 'o', größe: 'g' }, { parents: [base] }),
    commit(mirror.dir, 'p2', { ...start, 'old/new': 'n' }, { parents: [base] }),
    commit(mirror.dir, 'p3', { ...start, 'odd\nname': 'other' }, { parents: [base] }),
  ]
  const tip = commit(mirror.dir, 'main', { f: lines([3, 'z']), 'new/a': lines([1, 'a']), 'new/b': lines([2, 'b']), 'odd\nname': 'mine' })
  const place = { dir: mirror.dir, env: (await openQuarantineIn(tempDir(t), [mirror.objects])).env }
  const loop = openMergeLoop(place)
  const answers = await Promise.all([...ids, 'e'.repeat(40), ...ids].map(id => loop.merge(tip, id)))
  assert.equal(answers[ids.length], 'unsaid')
  for (const [at, id] of ids.entries()) {
    const alone = await mergeIn(place, tip, id)
    assert.ok(alone.ok)
    const wanted = alone.applies
      ? { applies: true, tree: alone.tree }
      : { applies: false, conflicts: alone.conflicts, moreConflicts: alone.moreConflicts }
    assert.deepEqual(answers[at], wanted)
    assert.deepEqual(answers[ids.length + 1 + at], wanted)
  }
  loop.close()
  const late = await loop.merge(tip, base)
  assert.ok(late !== 'unsaid' && late.applies === null)
  assert.ok(!existsSync(join(mirror.dir, 'index')))
})

test('a small program that starts git for this one makes the same stack', async t => {
  const mirror = await mirrorOf(t)
  const base = commit(mirror.dir, 'main', { f: 'f' })
  const ids = [0, 1].map(n => commit(mirror.dir, `p${n}`, { f: 'f', [`g${n}`]: 'g' }, { parents: [base] }))
  const stacked = async () => {
    const stack = await openStack(mirror, { base, committer: did, time })
    assert.deepEqual((await added(stack, ids)).map(why), ['in', 'in'])
    const commits = await stack.finish(() => false)
    await stack.close()
    return commits
  }
  const straight = await stacked()
  const starter = await openStarter()
  startProcessesBy(starter.start)
  try {
    assert.deepEqual(await stacked(), straight)
  } finally {
    startProcessesBy(undefined)
    await starter.close()
  }
})

test('a stack that is called off ends git, and says so', async t => {
  const mirror = await mirrorOf(t)
  const base = commit(mirror.dir, 'main', { f: 'f' })
  const stop = new AbortController()
  const stack = await opened(t, mirror, base, { signal: stop.signal })
  stop.abort()
  const done = await stack.add(heads([commit(mirror.dir, 'p0', { f: 'f', g: 'g' }, { parents: [base] })]), 1)
  assert.equal(done.ok || done.code, 'failed')
})

test('BLD-6 where it cannot be told who changed a file, all are named', async t => {
  const mirror = await mirrorOf(t)
  const base = commit(mirror.dir, 'main', { f: 'f' })
  const ids = [0, 1].map(n => commit(mirror.dir, `p${n}`, { f: 'f', [`g${n}`]: 'g' }, { parents: [base] }))
  assert.deepEqual(await touchedBy(mirror, ids, ['g1']), [1])
  assert.deepEqual(await touchedBy(mirror, ids, ['nowhere']), [0, 1])
  assert.deepEqual(await touchedBy(mirror, ids, ['g1/in/a/folder']), [1])
  const below = commit(mirror.dir, 'p2', { f: 'f', 'folder/in/it': 'g' }, { parents: [base] })
  assert.deepEqual(await touchedBy(mirror, [...ids, below], ['folder~1234', 'g0']), [0, 2])
})

test('STO-11 a merge runs within limits; one that is killed is the fault of its head, and the next goes on', async t => {
  const mirror = await mirrorOf(t)
  const base = commit(mirror.dir, 'main', { f: 'f' })
  const head = commit(mirror.dir, 'p0', { f: 'f', g: 'g' }, { parents: [base] })
  const bin = tempDir(t)
  const real = execFileSync('sh', ['-c', 'command -v git']).toString().trim()
  const said = join(bin, 'said')
  const script = `#!/bin/sh\nif [ ! -e ${said} ]; then ulimit -t > ${said}; ulimit -v >> ${said}; kill -XCPU $$; fi\nexec ${real} "$@"\n`
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 })
  const env = { ...(await openQuarantineIn(tempDir(t), [mirror.objects])).env, PATH: `${bin}:${process.env.PATH}` }
  const loop = openMergeLoop({ dir: mirror.dir, env })
  const killed = await loop.merge(base, head)
  assert.ok(killed !== 'unsaid' && killed.applies === null && killed.unread.code === 'too-large')
  assert.equal(readFileSync(said, 'utf8'), `${mergeLimits.run.ulimit.cpuSeconds}\n${mergeLimits.run.ulimit.memoryKiB}\n`)
  const next = await loop.merge(base, head)
  assert.ok(next !== 'unsaid' && next.applies)
  loop.close()
})
