import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { type Archive, type ArchiveOptions, archiveTree } from '../../src/git/archive.ts'
import { openMirror } from '../../src/git/mirror.ts'
import { until } from '../support/until.ts'
import { commit, git, newRepo } from './support.ts'

async function mirrorOf(t: TestContext): Promise<string> {
  return (await openMirror(newRepo(t))).dir
}

async function archived(gitDir: string, id: string, options?: ArchiveOptions): Promise<Archive> {
  const archive = await archiveTree({ gitDir, commit: id }, options)
  assert.ok(archive.ok, JSON.stringify(archive))
  return archive
}

/** Names in a tar, and what a file of it holds, as tar itself reads them. */
function readTar(tar: Buffer) {
  const names = execFileSync('tar', ['-tf', '-', '--quoting-style=literal'], { input: tar }).toString('latin1').split('\n').slice(0, -1)
  return { names, file: (name: string) => execFileSync('tar', ['-xOf', '-', name], { input: tar }).toString() }
}

/** Settles when the stream has closed; the error that it closed with. */
function closed(stream: Readable): Promise<Error | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | undefined>()
  let error: Error | undefined
  stream.on('error', cause => {
    error = cause
  })
  stream.once('close', () => resolve(error))
  stream.resume()
  return promise
}

test('STO-12 nothing is left out of an archive and nothing in it is rewritten, whatever the tree says', async t => {
  const dir = await mirrorOf(t)
  const files = {
    '.gitattributes': 'test/** export-ignore\n*.txt export-subst\n*.md text eol=crlf ident\n*.bin filter=lfs\nsecret export-ignore\n',
    'version.txt': '$Format:%H$\n',
    'test/all.txt': 'tested\n',
    'README.md': '$Id$\none\n',
    'deep/.gitattributes': '* export-ignore\n',
    'deep/file': 'kept\n',
    'x.bin': 'x',
    secret: 's',
  }
  const id = commit(dir, 'main', files)
  for (const name of [id, git(dir, ['rev-parse', `${id}^{tree}`])]) {
    const archive = await archived(dir, name)
    const tar = await buffer(archive.tar)
    assert.deepEqual(await archive.ended, { ok: true, bytes: tar.length })
    const { names, file } = readTar(tar)
    const listed = names.filter(one => !one.endsWith('/')).sort()
    assert.deepEqual(listed, Object.keys(files).sort())
    for (const [path, content] of Object.entries(files)) assert.equal(file(path), content, path)
  }
})

test('STO-12 a directory whose archives could leave files out is refused', async t => {
  const dir = await mirrorOf(t)
  const id = commit(dir, 'main', { '.gitattributes': 'f export-ignore\n', f: 'x' })
  rmSync(join(dir, 'info', 'attributes'))
  const archive = await archiveTree({ gitDir: dir, commit: id })
  assert.ok(!archive.ok)
  assert.equal(archive.code, 'failed')
  assert.ok(!archive.message.includes(dir))
})

test('STO-11 a submodule, a symlink out of the tree and odd names are in an archive as they are', async t => {
  const dir = await mirrorOf(t)
  const blob = git(dir, ['hash-object', '-w', '--stdin'], 'x')
  const link = git(dir, ['hash-object', '-w', '--stdin'], '../../../etc/passwd')
  const entries: [string, Uint8Array, string][] = [
    ['100644', Buffer.from('a\nname'), blob],
    ['120000', Buffer.from('link'), link],
    ['160000', Buffer.from('sub'), 'a'.repeat(40)],
    ['100644', Buffer.from([0xff, 0xfe]), blob],
  ]
  const bytes = entries.flatMap(([mode, name, id]) => [Buffer.from(`${mode} `), name, Buffer.from([0]), Buffer.from(id, 'hex')])
  const tree = git(dir, ['hash-object', '-t', 'tree', '-w', '--stdin'], Buffer.concat(bytes))
  const archive = await archived(dir, tree)
  const tar = await buffer(archive.tar)
  const { names } = readTar(tar)
  assert.deepEqual(names, ['a', 'name', 'link', 'sub/', '\xff\xfe'])
  assert.match(execFileSync('tar', ['-tvf', '-', 'link'], { input: tar }).toString(), /link -> ..\/..\/..\/etc\/passwd/)
})

test('an archive that is cut short is never taken for a whole one', async t => {
  const dir = await mirrorOf(t)
  const id = commit(dir, 'main', { big: Buffer.alloc(5_000_000, 'x'), small: 'y' })
  const over = await archived(dir, id, { maxBytes: 1_000_000 })
  assert.match(String(await closed(over.tar)), /more than 0 MiB/)
  const end = await over.ended
  assert.equal(end.ok || end.code, 'too-large')

  const none = await archived(dir, 'b'.repeat(40))
  assert.match(String(await closed(none.tar)), /is not there/)
  const gone = await none.ended
  assert.equal(gone.ok || gone.code, 'missing-commit')

  const stop = new AbortController()
  const aborted = await archived(dir, id, { signal: stop.signal })
  stop.abort()
  assert.ok((await closed(aborted.tar)) !== undefined)
  assert.equal((await aborted.ended).ok, false)

  const slow = await archived(dir, id, { timeoutMs: 50 })
  const late = await slow.ended
  assert.equal(late.ok || late.code, 'too-large')
})

test('whoever stops reading an archive stops git', async t => {
  const dir = await mirrorOf(t)
  const archive = await archived(dir, commit(dir, 'main', { more: Buffer.alloc(8_000_000, 'x') }))
  await until(() => archive.tar.readableLength > 0, { what: 'the first bytes' })
  archive.tar.destroy()
  const end = await archive.ended
  assert.equal(end.ok, false)
})
