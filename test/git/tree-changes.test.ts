import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { gitEnv } from '../../src/git/env.ts'
import { openQuarantineIn } from '../../src/git/quarantine.ts'
import type { GitRefusal } from '../../src/git/refusal.ts'
import { runGit } from '../../src/git/run.ts'
import { commitTree, type TreeChange } from '../../src/git/tree-changes.ts'
import { ObjectMaker } from './pack-writer.ts'
import { commit, git, newRepo, snapshot, tempDir, writeTree } from './support.ts'

/** A way to change files of a repository's commits without writing into it. */
async function changer(t: TestContext, dir: string) {
  const quarantine = await openQuarantineIn(tempDir(t), [`${dir}/objects`])
  const place = { dir, env: quarantine.env }
  const change = (base: string, changes: TreeChange[]) => commitTree(place, { base, changes })
  return { quarantine, place, change }
}

function treeOf(result: { ok: true; tree: string } | GitRefusal): string {
  assert.ok(result.ok, JSON.stringify(result))
  return result.tree
}

function codeOf(result: { ok: true; tree: string } | GitRefusal): string {
  return result.ok ? 'ok' : result.code
}

test('files are set, made executable and deleted, and nothing but the quarantine is written to', async t => {
  const work = newRepo(t)
  const start = { a: '1', run: { mode: '100755', content: '#!' }, 'd/x': 'x', 'd/y': 'y', link: { mode: '120000', content: 'a' } }
  const base = commit(work, 'main', start)
  const before = snapshot(work)
  const { quarantine, place, change } = await changer(t, work)
  const made = treeOf(
    await change(base, [
      { path: 'a', content: 'größer' },
      { path: 'run', content: '#!/bin/sh' },
      { path: 'd/x' },
      { path: 'new/deep/file', content: new Uint8Array([0, 255]), mode: '100755' },
      { path: 'link', content: 'now a file' },
    ]),
  )
  const listed = await runGit(['ls-tree', '-r', '-t', made], place)
  assert.deepEqual(snapshot(work), before)
  const wanted = writeTree(work, {
    a: 'größer',
    run: { mode: '100755', content: '#!/bin/sh' },
    'd/y': 'y',
    'new/deep/file': { mode: '100755', content: new Uint8Array([0, 255]) },
    link: 'now a file',
  })
  assert.equal(made, wanted, listed.stdout.toString())
  // The same content at the same place is the same tree; no mode means the one that was there, a mode means that one.
  assert.equal(treeOf(await change(base, [{ path: 'a', content: '1' }])), git(work, ['rev-parse', `${base}^{tree}`]))
  assert.equal(treeOf(await change(base, [])), git(work, ['rev-parse', `${base}^{tree}`]))
  assert.match(
    (await runGit(['ls-tree', treeOf(await change(base, [{ path: 'run', content: '#!', mode: '100644' }]))], place)).stdout.toString(),
    /^100644 .*\trun$/m,
  )
  assert.deepEqual(
    readdirSync(quarantine.dir).filter(name => name.startsWith('index')),
    [],
  )
})

test('many files in many folders at once', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { a: '1', 'd1/f1': 'old' })
  const { change } = await changer(t, work)
  const files = Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`d${n % 30}/f${n}`, `${n % 7}`]))
  const made = treeOf(await change(base, [...Object.entries(files).map(([path, content]) => ({ path, content })), { path: 'a' }]))
  assert.equal(made, writeTree(work, files))
})

test('a file where a folder is, or the other way round, is refused in words, unless it is cleared in the same step', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { file: '1', 'd/x': 'x', 'd/y/z': 'z' })
  const { change } = await changer(t, work)
  const tries: [TreeChange[], RegExp | 'ok'][] = [
    [[{ path: 'file/inner', content: 'x' }], /"file" is a file: delete it first/],
    [[{ path: 'd', content: 'x' }], /"d" is a folder: delete the files in it first/],
    [[{ path: 'd', content: 'x' }, { path: 'd/x' }], /"d" is a folder/],
    [
      [
        { path: 'n', content: 'x' },
        { path: 'n/m', content: 'x' },
      ],
      /"n" would be a file and a folder/,
    ],
    [[{ path: 'gone' }], /There is no file "gone" to delete/],
    [[{ path: 'd' }], /There is no file "d" to delete/],
    [[{ path: 'file' }, { path: 'file', content: 'x' }], /"file" is changed twice/],
    [[{ path: 'file' }, { path: 'file/inner', content: 'x' }], 'ok'],
    [[{ path: 'd', content: 'x' }, { path: 'd/x' }, { path: 'd/y/z' }], 'ok'],
  ]
  for (const [changes, wanted] of tries) {
    const result = await change(base, changes)
    assert.equal(codeOf(result), wanted === 'ok' ? 'ok' : 'bad-path', JSON.stringify(changes))
    if (wanted !== 'ok') assert.match(result.ok ? '' : result.message, wanted)
  }
  const made = treeOf(await change(base, [{ path: 'file' }, { path: 'file/inner', content: 'x' }]))
  assert.equal(made, writeTree(work, { 'file/inner': 'x', 'd/x': 'x', 'd/y/z': 'z' }))
})

const names = [
  '.git',
  '.GIT',
  '.Git',
  'git~1',
  'GIT~1',
  '.git.',
  '.git ',
  '.git...',
  '.git . ',
  '.g\u200cit',
  '.git\ufeff',
  '\u200d.git',
  '.git::$INDEX_ALLOCATION',
  '.git:x',
  '.',
  '..',
  '.git\\hooks',
  'x\\.git',
  'x\\git~1\\y',
  'git~2',
  '.gitt',
  '.github',
  'git',
  '.git-x',
  '..git',
  '...',
  ' .git',
  '.gi\u200ct',
  'a\\b',
  'größe',
]

test('STO-11 a path is refused where the strict check would refuse the tree, and only there', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { a: '1' })
  const { place, change } = await changer(t, work)
  const index = { dir: work, env: gitEnv(place.env), input: Buffer.alloc(0) }
  async function strictTakes(name: string): Promise<boolean> {
    const make = new ObjectMaker()
    const inner = make.tree([{ mode: '100644', name: 'f', id: make.add('blob', 'x') }])
    make.tree([{ mode: '40000', name, id: inner }])
    const run = await runGit(['index-pack', '--stdin', '--strict'], { ...index, input: make.pack() })
    return run.code === 0
  }
  for (const name of names) {
    const takes = await strictTakes(name)
    for (const path of [`${name}/f`, `d/${name}/f`])
      assert.equal(codeOf(await change(base, [{ path, content: 'x' }])), takes ? 'ok' : 'bad-path', JSON.stringify(path))
  }
  const piece = fc.constantFrom('.git', 'git~1', '.', ' ', ':', '\\', '\u200c', 'G', 'x', '~', '\ufeff', 't')
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 5 }), async parts => {
      const name = parts.join('')
      assert.equal(codeOf(await change(base, [{ path: `${name}/f`, content: 'x' }])) === 'ok', await strictTakes(name))
    }),
    { numRuns: 25 },
  )
  const bad = [
    '',
    '/a',
    'a/',
    'a//b',
    '../x',
    'a/../b',
    'a\0b',
    'a\nb',
    'a\x1bb',
    'a\u0085b',
    '\ud800',
    `${'n'.repeat(256)}`,
    `${'n/'.repeat(512)}n`,
    'x'.repeat(4097),
    `${'y/'.repeat(3000)}y`,
  ]
  for (const path of bad) assert.equal(codeOf(await change(base, [{ path, content: 'x' }])), 'bad-path', JSON.stringify(path.slice(0, 50)))
})

test('what is too much is refused before anything is written', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { a: '1' })
  const { quarantine, change } = await changer(t, work)
  assert.equal(codeOf(await change(base, [{ path: 'big', content: Buffer.alloc(1_000_001) }])), 'too-large')
  assert.equal(
    codeOf(
      await change(
        base,
        Array.from({ length: 1001 }, (_, n) => ({ path: `f${n}`, content: '' })),
      ),
    ),
    'too-large',
  )
  assert.equal(
    codeOf(
      await change(
        base,
        Array.from({ length: 17 }, (_, n) => ({ path: `f${n}`, content: Buffer.alloc(1_000_000, n) })),
      ),
    ),
    'too-large',
  )
  assert.equal(
    codeOf(
      await change(
        base,
        Array.from({ length: 100 }, (_, n) => ({ path: `${'abcdefg/'.repeat(500)}${n}`, content: '' })),
      ),
    ),
    'too-large',
  )
  for (const bad of ['f'.repeat(40), 'main', git(work, ['rev-parse', `${base}:a`])])
    assert.equal(codeOf(await change(bad, [])), 'missing-commit')
  assert.deepEqual(readdirSync(quarantine.dir), ['pack'])
  await assert.rejects(commitTree({ dir: work }, { base, changes: [{ path: 'b', content: 'x' }] }))
  assert.ok(!existsSync(`${work}/index`))
})

test('STO-11 a commit that stands for more files than there is memory takes no change, and says so', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { a: '1' })
  const make = new ObjectMaker()
  let bomb = make.tree([{ mode: '100644', name: 'f', id: make.add('blob', 'x') }])
  for (let level = 0; level < 10; level++)
    bomb = make.tree(Array.from({ length: 10 }, (_, n) => ({ mode: '40000', name: `d${n}`, id: bomb })))
  const head = make.commit(bomb, [base])
  git(work, ['index-pack', '--stdin'], make.pack())
  const { change } = await changer(t, work)
  const result = await change(head, [{ path: 'a', content: '2' }])
  assert.equal(codeOf(result), 'too-large')
})
