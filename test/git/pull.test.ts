import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Mirror } from '../../src/git/mirror.ts'
import { commitsOf, type Diff, type DiffFile, diffOf } from '../../src/git/pull.ts'
import type { GitRefusal } from '../../src/git/refusal.ts'
import { syncMirror } from '../../src/git/sync.ts'
import { type Blobs, blobsFrom, commit, git, makePack, newMirror, newRepo, packRow, recordOf, recordOfRepo } from './support.ts'

async function mirrorOf(t: TestContext, work: string): Promise<Mirror> {
  const blobs: Blobs = new Map()
  const mirror = await newMirror(t)
  const done = await syncMirror(mirror, recordOfRepo(work, blobs), blobsFrom(blobs))
  assert.equal(done.ok, true, JSON.stringify(done))
  return mirror
}

type Files = Parameters<typeof commit>[2]

/** The diff from one tree to another, by way of a branch. */
async function diffFor(t: TestContext, before: Files, after: Files, more: { only?: string[] } = {}): Promise<Diff> {
  const work = newRepo(t)
  const tip = commit(work, 'main', before)
  const head = commit(work, 'topic', after, { parents: [tip] })
  const mirror = await mirrorOf(t, work)
  return there(await diffOf({ target: mirror, tip, source: mirror, head, ...more }))
}

function there(diff: Diff | GitRefusal): Diff {
  assert.ok(diff.ok, JSON.stringify(diff))
  return diff
}

function shown(file: DiffFile | undefined): string[] {
  return (file?.hunks ?? []).flatMap(hunk => [
    hunk.header,
    ...hunk.lines.map(line => `${line.kind}${line.old ?? ''}:${line.new ?? ''} ${line.text}`),
  ])
}

test('a pull lists the commits that its target has not, newest first', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { a: '0' })
  const ids = Array.from({ length: 5 }, (_, n) =>
    commit(
      work,
      'topic',
      { a: `${n + 1}` },
      { parents: n === 0 ? [base] : [git(work, ['rev-parse', 'topic'])], message: `Step ${n}\n\nmore text` },
    ),
  )
  const tip = commit(work, 'main', { a: '0', b: '1' })
  const mirror = await mirrorOf(t, work)
  const range = { target: mirror, tip, source: mirror, head: ids[4] ?? '' }
  const all = await commitsOf(range)
  assert.ok(all.ok && !all.more)
  assert.deepEqual(
    all.commits.map(row => row.commit),
    ids.toReversed(),
  )
  const [newest] = all.commits
  assert.deepEqual([newest?.subject, newest?.author], ['Step 4', { name: 'Ada' }])
  assert.match(newest?.date ?? '', /^2026-\d\d-\d\dT\d\d:\d\d:20\.000Z$/)
  const some = await commitsOf({ ...range, limit: 2 })
  assert.ok(some.ok && some.more)
  assert.deepEqual(
    some.commits.map(row => row.commit),
    [ids[4], ids[3]],
  )
  const none = await commitsOf({ ...range, head: base })
  assert.deepEqual(none, { ok: true, commits: [], more: false })
})

test('commits come from a fork, with texts of any kind made fit to show', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { a: '0' })
  const target = await mirrorOf(t, work)
  const fork = newRepo(t)
  git(fork, ['fetch', '-q', work, 'refs/heads/main:refs/heads/main'])
  const text = (subject: string | Buffer) =>
    Buffer.concat([
      Buffer.from(
        `tree ${git(fork, ['rev-parse', 'main^{tree}'])}\nparent ${base}\nauthor Zoë \u202e <z@b> 4000000000 +9900\ncommitter Z <z@b> 1 +0000\n\n`,
      ),
      Buffer.from(subject),
      Buffer.from('\n'),
    ])
  const latin = git(fork, ['hash-object', '-t', 'commit', '-w', '--stdin'], text(Buffer.from([0x47, 0x72, 0xfc, 0x6e])))
  const long = git(fork, ['hash-object', '-t', 'commit', '-w', '--stdin'], text(`x${'ö'.repeat(600_000)}`))
  git(fork, ['update-ref', 'refs/heads/latin', latin])
  git(fork, ['update-ref', 'refs/heads/long', long])
  const source = await mirrorOf(t, fork)
  const first = await commitsOf({ target, tip: base, source, head: latin })
  assert.deepEqual(first.ok && first.commits, [
    { commit: latin, subject: 'Gr\ufffdn', author: { name: 'Zoë \u202e' }, date: '2096-10-02T07:06:40.000Z' },
  ])
  const second = await commitsOf({ target, tip: base, source, head: long })
  assert.equal(second.ok && second.commits[0]?.subject, `x${'ö'.repeat(249)}`)
  const absent = await commitsOf({ target, tip: base, source: target, head: latin })
  assert.equal(!absent.ok && absent.code, 'missing-commit')
})

test('a diff starts at the merge base: what the target did meanwhile is not in it', async t => {
  const work = newRepo(t)
  const base = commit(work, 'main', { a: '1\n2\n3\n', keep: 'x\n' })
  const head = commit(work, 'topic', { a: '1\ntwo\n3\n', keep: 'x\n' }, { parents: [base] })
  const tip = commit(work, 'main', { a: '1\n2\n3\n', keep: 'y\n' })
  const mirror = await mirrorOf(t, work)
  const diff = there(await diffOf({ target: mirror, tip, source: mirror, head }))
  assert.equal(diff.base, base)
  assert.deepEqual(diff.totals, { files: 1, additions: 1, deletions: 1, exact: true })
  const [file] = diff.files
  assert.deepEqual([file?.path, file?.change, file?.binary, file?.additions, file?.deletions], ['a', 'modified', false, 1, 1])
  assert.deepEqual(shown(file), ['@@ -1,3 +1,3 @@', ' 1:1 1', '-2: 2', '+:2 two', ' 3:3 3'])
  const since = there(await diffOf({ target: mirror, tip, source: mirror, head, base: tip }))
  assert.deepEqual(
    since.files.map(row => row.path),
    ['a', 'keep'],
  )
})

test('files added, deleted, renamed, made executable, turned into a link', async t => {
  const body = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('')
  const diff = await diffFor(
    t,
    { gone: 'bye\n', 'old name': body, run: '#!/bin/sh\n', link: 'text\n', same: 'same\n', moved: 'exact\n' },
    {
      empty: '',
      'new name': `${body}more\n`,
      run: { mode: '100755', content: '#!/bin/sh\n' },
      link: { mode: '120000', content: 'same' },
      same: 'same\n',
      elsewhere: 'exact\n',
    },
  )
  const rows = diff.files.map(file => [file.path, file.oldPath, file.change, file.additions, file.deletions, file.folded])
  assert.deepEqual(rows, [
    ['elsewhere', 'moved', 'renamed', 0, 0, undefined],
    ['empty', undefined, 'added', 0, 0, undefined],
    ['gone', undefined, 'deleted', 0, 1, undefined],
    ['link', undefined, 'modified', 1, 1, undefined],
    ['new name', 'old name', 'renamed', 1, 0, undefined],
    ['run', undefined, 'mode', 0, 0, undefined],
  ])
  assert.deepEqual(shown(diff.files[3]), ['@@ -1 +0,0 @@', '-1: text', '@@ -0,0 +1 @@', '+:1 same'])
  assert.equal(diff.files[3]?.hunks?.[1]?.lines[0]?.noNewline, true)
  assert.deepEqual(diff.totals, { files: 6, additions: 2, deletions: 2, exact: true })
})

test('names with newlines, quotes and bytes that are no text', async t => {
  const work = newRepo(t)
  const tip = commit(work, 'main', { a: '1' })
  const odd = ['new\nline', 'tab\t"quoted"', 'b/diff --git a/x b/x', ' leading']
  const head = commit(work, 'topic', Object.fromEntries(odd.map(name => [name, `${name.length}\n`])), { parents: [tip] })
  const mirror = await mirrorOf(t, work)
  const diff = there(await diffOf({ target: mirror, tip, source: mirror, head }))
  assert.deepEqual(
    diff.files
      .filter(file => file.change === 'added')
      .map(file => file.path)
      .sort(),
    odd.sort(),
  )
  for (const file of diff.files.filter(row => row.change === 'added')) assert.deepEqual(shown(file).slice(1), [`+:1 ${file.path.length}`])
})

test('lines that look like a patch, invalid UTF-8 and carriage returns are shown as they are', async t => {
  const tricky = [
    'diff --git a/x b/x',
    '@@ -1 +1 @@',
    '--- a/x',
    '+++ b/x',
    '\\ No newline at end of file',
    'Binary files a/x and b/x differ',
    '',
  ]
  const diff = await diffFor(
    t,
    { a: `${tricky.join('\n')}\n`, z: 'old\n' },
    { a: Buffer.concat([Buffer.from(tricky.map(line => `${line}!`).join('\n')), Buffer.from([0x0a, 0xff, 0xfe, 0x0d, 0x0a])]), z: 'new' },
  )
  const [file, last] = diff.files
  assert.equal(file?.binary, false)
  const texts = (kind: string) => file?.hunks?.[0]?.lines.filter(line => line.kind === kind).map(line => line.text)
  assert.deepEqual(texts('-'), tricky)
  assert.deepEqual(texts('+'), [...tricky.map(line => `${line}!`), '\ufffd\ufffd\r'])
  assert.deepEqual(shown(last), ['@@ -1 +1 @@', '-1: old', '+:1 new'])
  assert.equal(last?.hunks?.[0]?.lines.at(-1)?.noNewline, true)
})

test('what is binary, has many lines or long ones, is folded or cut, and says so', async t => {
  const many = Array.from({ length: 401 }, (_, n) => `${n}\n`).join('')
  const files: Files = {
    binary: randomBytes(5000),
    few: many.slice(0, many.indexOf('400')),
    line: 'x'.repeat(5 * 2 ** 20 - 2 ** 21),
    many,
    'some-lines': `${'y'.repeat(3000)}\nshort\n`,
    huge: 'z'.repeat(5 * 2 ** 20),
    wide: Array.from({ length: 300 }, () => `${'w'.repeat(1500)}\n`).join(''),
  }
  const diff = await diffFor(t, { a: '' }, { a: '', ...files })
  const row = (path: string) => diff.files.find(file => file.path === path)
  const facts = (path: string) => [row(path)?.binary, row(path)?.folded, row(path)?.additions, row(path)?.hunks !== undefined]
  assert.deepEqual(facts('binary'), [true, 'binary', 0, false])
  assert.deepEqual(facts('few'), [false, undefined, 400, true])
  assert.deepEqual(facts('many'), [false, 'large', 401, false])
  assert.deepEqual(facts('huge'), [false, 'large', 0, false])
  assert.deepEqual(facts('wide'), [false, 'large', 300, false])
  assert.deepEqual(facts('line'), [false, undefined, 1, true])
  const line = row('line')?.hunks?.[0]?.lines[0]
  assert.deepEqual([line?.cut, line?.text.length, line?.noNewline], [true, 1999, true])
  assert.deepEqual(
    row('some-lines')?.hunks?.[0]?.lines.map(one => one.cut),
    [true, undefined],
  )
  assert.equal(diff.totals.exact, false)
})

test('a folded file can be asked for alone', async t => {
  const many = Array.from({ length: 2000 }, (_, n) => `${n}\n`).join('')
  const diff = await diffFor(t, { other: 'x' }, { other: 'y', many }, { only: ['many'] })
  assert.deepEqual(
    diff.files.map(file => [file.path, file.hunks?.[0]?.lines.length]),
    [['many', 2000]],
  )
  const star = await diffFor(t, { a: '1', '*': '1' }, { a: '2', '*': '2' }, { only: ['*'] })
  assert.deepEqual(
    star.files.map(file => file.path),
    ['*'],
  )
})

test('of many files 300 are listed and all are counted; of many lines the first 10,000 are shown', async t => {
  const names = Array.from({ length: 350 }, (_, n) => `f${String(n).padStart(3, '0')}`)
  const diff = await diffFor(t, { x: '1' }, Object.fromEntries(names.map(name => [name, 'same\n'])))
  assert.equal(diff.files.length, 300)
  assert.deepEqual([diff.others.length, diff.others[0]?.path], [51, 'f300'], 'those after it by name')
  assert.deepEqual([diff.totals.files, diff.totals.exact], [351, false])
  const body = Array.from({ length: 399 }, (_, n) => `${n}\n`).join('')
  const long = await diffFor(t, { x: '1' }, { x: '1', ...Object.fromEntries(names.slice(0, 60).map(name => [name, body])) })
  assert.equal(long.files.filter(file => file.hunks !== undefined).length, 25)
  assert.deepEqual(long.files.at(-1)?.folded, 'many')
  assert.deepEqual(long.totals, { files: 60, additions: 60 * 399, deletions: 0, exact: true })
})

test('of lines that are long without end half a mebibyte of all files together is shown', async t => {
  const after: Files = {}
  for (let n = 0; n < 40; n++) after[`long-${n}`] = `${n}`.padEnd(1_900, '&').concat('\n').repeat(60)
  const { files, totals } = await diffFor(t, { a: '1' }, { a: '1', ...after })
  const size = files
    .flatMap(file => file.hunks ?? [])
    .reduce((sum, hunk) => sum + hunk.lines.reduce((all, line) => all + line.text.length, 0), 0)
  assert.ok(size > 2 ** 18 && size <= 2 ** 19, `${size} characters`)
  assert.deepEqual([files.at(0)?.folded, files.at(-1)?.folded], [undefined, 'many'])
  assert.deepEqual([totals.files, totals.additions, totals.exact], [40, 40 * 60, true])
})

test('a diff of a fork, of commits that are not there, of unrelated histories', async t => {
  const work = newRepo(t)
  const tip = commit(work, 'main', { a: '1\n' })
  const target = await mirrorOf(t, work)
  const fork = newRepo(t)
  git(fork, ['fetch', '-q', work, 'refs/heads/main:refs/heads/main'])
  const head = commit(fork, 'main', { a: '2\n' })
  const island = commit(fork, 'island', { a: '3\n' })
  const source = await mirrorOf(t, fork)
  const diff = there(await diffOf({ target, tip, source, head }))
  assert.deepEqual(shown(diff.files[0]), ['@@ -1 +1 @@', '-1: 1', '+:1 2'])
  const absent = await diffOf({ target, tip, source: target, head })
  assert.equal(!absent.ok && absent.code, 'missing-commit')
  const unrelated = await diffOf({ target, tip, source, head: island })
  assert.equal(!unrelated.ok && unrelated.code, 'unrelated')
})

test('STO-11 a head that stands for more files than there is memory has no diff, and says so', async t => {
  const work = newRepo(t)
  const tip = commit(work, 'main', { f: 'x' })
  let tree = git(work, ['rev-parse', `${tip}^{tree}`])
  for (let level = 0; level < 10; level++) {
    tree = git(work, ['mktree'], Array.from({ length: 10 }, (_, n) => `040000 tree ${tree}\td${n}\n`).join(''))
  }
  const head = git(work, ['commit-tree', tree, '-p', tip, '-m', 'x'])
  const blobs: Blobs = new Map()
  const mirror = await newMirror(t)
  await syncMirror(mirror, recordOf({ 'refs/heads/x': head }, [packRow(blobs, makePack(work, [head]))]), blobsFrom(blobs))
  const diff = await diffOf({ target: mirror, tip, source: mirror, head })
  assert.equal(!diff.ok && diff.code, 'too-large')
})
