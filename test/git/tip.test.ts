import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { gitEnv } from '../../src/git/env.ts'
import { maintainMirror } from '../../src/git/maintain.ts'
import type { Mirror } from '../../src/git/mirror.ts'
import { syncMirror } from '../../src/git/sync.ts'
import { fileAt, isAncestor, lastChangeOf, workflowsAt } from '../../src/git/tip.ts'
import { type Blobs, blobsFrom, commit, git, newMirror, newRepo, recordOfRepo, snapshot, tempDir } from './support.ts'

async function mirrorOf(t: TestContext, work: string): Promise<Mirror> {
  const blobs: Blobs = new Map()
  const mirror = await newMirror(t)
  assert.equal((await syncMirror(mirror, recordOfRepo(work, blobs), blobsFrom(blobs))).ok, true)
  return mirror
}

const nowhere = 'f'.repeat(40)

test('ADM-11 the workflows at a tip are its files, not folders, links or other names', async t => {
  const work = newRepo(t)
  const tip = commit(work, 'main', {
    '.knotless/queue.yml': '',
    '.knotless/workflows/check.yml': 'a',
    '.knotless/workflows/lint.yaml': 'b',
    '.knotless/workflows/README.md': 'c',
    '.knotless/workflows/deep/er.yml': 'd',
    '.knotless/workflows/folder.yml/x': 'e',
    '.knotless/workflows/link.yml': { mode: '120000', content: '../queue.yml' },
    '.knotless/workflows/new\nline.yml': 'f',
    'workflows/other.yml': 'g',
  })
  const none = commit(work, 'none', { a: '1' }, { parents: [tip] })
  const mirror = await mirrorOf(t, work)
  const workflows = ['.knotless/workflows/check.yml', '.knotless/workflows/lint.yaml', '.knotless/workflows/new\nline.yml']
  assert.deepEqual(await workflowsAt(mirror, tip), { ok: true, workflows })
  assert.deepEqual(await workflowsAt(mirror, none), { ok: true, workflows: [] })
  const absent = await workflowsAt(mirror, nowhere)
  assert.equal(!absent.ok && absent.code, 'missing-commit')
})

test('the last change of a path is the newest commit that touched it', async t => {
  const work = newRepo(t)
  const one = commit(work, 'main', { a: '1', 'b*': '1' }, { message: 'First' })
  const two = commit(work, 'main', { a: '1', 'b*': '2', bc: '1' }, { message: 'Second' })
  const mirror = await mirrorOf(t, work)
  const change = async (path: string) => {
    const found = await lastChangeOf(mirror, two, path)
    assert.ok(found.ok)
    return found.change?.commit
  }
  assert.deepEqual([await change('a'), await change('b*'), await change('never')], [one, two, undefined])
})

test('STA-5 HON-8 a commit is on a branch, or is not, or the branch is not there', async t => {
  const work = newRepo(t)
  const one = commit(work, 'main', { a: '1' })
  const two = commit(work, 'main', { a: '2' })
  const side = commit(work, 'side', { a: '3' }, { parents: [one] })
  const mirror = await mirrorOf(t, work)
  const ask = async (id: string) => {
    const answer = await isAncestor(mirror, id, two)
    assert.ok(answer.ok, JSON.stringify(answer))
    return answer.ancestor
  }
  assert.deepEqual(await Promise.all([one, two, side, nowhere, 'HEAD', '--all'].map(ask)), [true, true, false, false, false, false])
  const absent = await isAncestor(mirror, one, nowhere)
  assert.equal(!absent.ok && absent.code, 'missing-commit')
})

test('a file is read at a commit, within a bound', async t => {
  const work = newRepo(t)
  const tip = commit(work, 'main', { 'a b/c': 'text\n', big: 'x'.repeat(5000) })
  const mirror = await mirrorOf(t, work)
  const read = await fileAt(mirror, tip, 'a b/c', 100)
  assert.equal(read.ok && Buffer.from(read.bytes ?? []).toString(), 'text\n')
  assert.deepEqual(await fileAt(mirror, tip, 'a b', 100), { ok: true })
  assert.deepEqual(await fileAt(mirror, tip, 'none', 100), { ok: true })
  const big = await fileAt(mirror, tip, 'big', 100)
  assert.equal(!big.ok && big.code, 'too-large')
})

test('STO-12 what leaves a mirror as an archive is the tree, whatever its attributes say', async t => {
  const work = newRepo(t)
  const attributes = 'tests export-ignore\nversion export-subst\n* text eol=crlf ident\n'
  const tip = commit(work, 'main', { '.gitattributes': attributes, 'tests/x': 'a\n', version: '$Format:%H$ $Id$\n' })
  const mirror = await mirrorOf(t, work)
  const archive = execFileSync('git', [`--git-dir=${mirror.dir}`, 'archive', tip], { env: gitEnv() })
  const list = execFileSync('tar', ['-tf', '-'], { input: archive }).toString().split('\n').filter(Boolean)
  assert.deepEqual(list, ['.gitattributes', 'tests/', 'tests/x', 'version'])
  const version = execFileSync('tar', ['-xOf', '-', 'version'], { input: archive }).toString()
  assert.equal(version, '$Format:%H$ $Id$\n')
})

test('GWY-14 attributes that a tree sets are switched off in a mirror, for every version of git', async t => {
  const work = newRepo(t)
  const set = ['merge=union', 'diff=x', 'text', 'eol=crlf', 'ident', 'filter=x', 'working-tree-encoding=UTF-16', 'conflict-marker-size=3']
  const tip = commit(work, 'main', { '.gitattributes': `f ${set.join(' ')}\n`, f: 'x' })
  const mirror = await mirrorOf(t, work)
  const env = gitEnv({ GIT_INDEX_FILE: `${tempDir(t)}/index` })
  execFileSync('git', [`--git-dir=${mirror.dir}`, 'read-tree', tip], { env })
  const names = set.map(text => text.split('=')[0] ?? '')
  const said = execFileSync('git', [`--git-dir=${mirror.dir}`, 'check-attr', '--cached', ...names, '--', 'f'], { env }).toString()
  assert.deepEqual(
    said.trim().split('\n'),
    names.map(name => `f: ${name}: unspecified`),
  )
})

test('upkeep of a mirror changes no answer and leaves nothing half-done', async t => {
  const work = newRepo(t)
  const blobs: Blobs = new Map()
  const mirror = await newMirror(t)
  for (let n = 0; n < 6; n++) {
    commit(work, 'main', { a: `${n}` })
    assert.equal((await syncMirror(mirror, recordOfRepo(work, blobs), blobsFrom(blobs))).ok, true)
  }
  const log = git(mirror.dir, ['log', '--format=%H', 'main'])
  assert.deepEqual(await maintainMirror(mirror, Date.now()), { ok: true })
  const files = Object.keys(snapshot(mirror.dir))
  assert.ok(files.includes('/objects/info/commit-graph'))
  assert.ok(files.includes('/objects/pack/multi-pack-index'))
  assert.equal(git(mirror.dir, ['log', '--format=%H', 'main']), log)
  git(mirror.dir, ['fsck', '--full'])
  commit(work, 'main', { a: 'after' })
  assert.equal((await syncMirror(mirror, recordOfRepo(work, blobs), blobsFrom(blobs))).ok, true)
  assert.deepEqual(await maintainMirror(mirror, Date.now()), { ok: true })
})
