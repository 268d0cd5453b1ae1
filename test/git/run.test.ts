import assert from 'node:assert/strict'
import { chmodSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createMirrors, openMirror } from '../../src/git/mirror.ts'
import { runGit } from '../../src/git/run.ts'
import { nulFields, splitLines } from '../../src/git/split-stream.ts'
import { gitVersion } from '../../src/git/version.ts'
import { commit, newRepo, snapshot, tempDir } from './support.ts'

/** Puts a stand-in for git first on the path. */
function standIn(t: TestContext, script: string): void {
  const dir = tempDir(t)
  writeFileSync(join(dir, 'git'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(dir, 'git'), 0o755)
  const path = process.env.PATH
  process.env.PATH = `${dir}:${path}`
  t.after(() => {
    process.env.PATH = path
  })
}

test('a run that exits says its code; words are never read by a shell', async t => {
  const dir = newRepo(t)
  const evil = '$(touch /tmp/knotless-evil); `id` "x" && true'
  const run = await runGit(['rev-parse', '--verify', evil], { dir })
  assert.deepEqual([run.ended, run.code], ['exit', 128])
  const limited = await runGit(['rev-parse', '--sq-quote', evil], { dir, ulimit: { memoryKiB: 1_000_000, cpuSeconds: 5 } })
  assert.equal(limited.stdout.toString().trim(), `'${evil}'`)
})

test('a run that says too much, takes too long, is called off or dies of a signal is no exit', async t => {
  const dir = newRepo(t)
  commit(dir, 'main', { a: 'x'.repeat(100_000) })
  const blob = (await runGit(['rev-parse', 'main:a'], { dir })).stdout.toString().trim()
  const much = await runGit(['cat-file', 'blob', blob], { dir, maxOutput: 10 })
  assert.deepEqual([much.ended, much.code, much.stdout.length], ['output', -1, 0])
  const stopped = await runGit(['cat-file', 'blob', blob], { dir, onOutput: () => false })
  assert.equal(stopped.ended, 'stopped')

  const endless = async function* () {
    for (;;) {
      yield Buffer.from(`${blob}\n`)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  const slow = await runGit(['cat-file', '--batch-check'], { dir, input: endless(), timeoutMs: 50, onOutput: () => true })
  assert.equal(slow.ended, 'timeout')
  const controller = new AbortController()
  const aborted = runGit(['cat-file', '--batch-check'], { dir, input: endless(), signal: controller.signal, onOutput: () => true })
  controller.abort()
  assert.equal((await aborted).ended, 'aborted')
  const never = async function* () {
    yield Buffer.from('x\n')
    throw new Error('broken')
  }
  const broken = await runGit(['cat-file', '--batch-check'], { dir, input: never() })
  assert.equal(broken.ended, 'input')

  standIn(t, 'kill -SEGV $$')
  assert.deepEqual([(await runGit(['status'])).ended, (await runGit(['status'])).code], ['signal', -1])
})

test('a run whose reader leaves early ends well', async t => {
  const dir = newRepo(t)
  const forever = async function* () {
    for (;;) yield Buffer.alloc(65_536)
  }
  const run = await runGit(['rev-parse', '--git-dir'], { dir, input: forever() })
  assert.equal(run.code, 0)
})

test('limits of memory and CPU hold', async t => {
  standIn(t, 'ulimit -v; ulimit -t')
  const run = await runGit(['x'], { ulimit: { memoryKiB: 123_456, cpuSeconds: 7 } })
  assert.equal(run.stdout.toString(), '123456\n7\n')
})

test('GWY-14 git is named by its version, and too old a one refused', async t => {
  const own = await gitVersion()
  assert.match(own.ok ? own.version : '', /^\d+\.\d+/)
  standIn(t, 'echo git version 2.37.9')
  const old = await gitVersion()
  assert.match(old.ok ? '' : old.message, /2\.37\.9 is too old/)
})

test('no git at all is said so', async t => {
  const path = process.env.PATH
  process.env.PATH = tempDir(t)
  t.after(() => {
    process.env.PATH = path
  })
  const none = await gitVersion()
  assert.equal(!none.ok && none.code, 'failed')
})

test('a mirror is opened once per repository and made whole in one step', async t => {
  const root = tempDir(t)
  const mirrors = createMirrors(join(root, 'deep', 'er'))
  const [a, b, c] = await Promise.all([mirrors.of('at://x/1'), mirrors.of('at://x/1'), mirrors.of('at://x/../../etc')])
  assert.equal(a, b)
  assert.notEqual(a.dir, c.dir)
  assert.match(c.dir, /\/deep\/er\/[0-9a-f]{32}\.git$/)
  const before = snapshot(a.dir)
  const again = await openMirror(a.dir)
  assert.deepEqual(snapshot(again.dir), before)
  writeFileSync(join(a.dir, 'info', 'attributes'), '* merge=union\n')
  await openMirror(a.dir)
  assert.deepEqual(snapshot(a.dir), before)
  const both = await Promise.all([openMirror(join(root, 'x.git')), openMirror(join(root, 'x.git'))])
  assert.deepEqual(
    Object.keys(snapshot(root)).filter(path => path.includes('.new')),
    [],
  )
  assert.equal(both[0].dir, both[1].dir)
})

test('a data folder named from where the program was started holds whole mirrors too', async t => {
  const root = realpathSync(tempDir(t))
  const before = process.cwd()
  t.after(() => process.chdir(before))
  process.chdir(root)
  const mirror = await createMirrors('data').of('at://x/1')
  assert.equal(mirror.dir.startsWith(`${root}/`), true)
  const run = await runGit(['rev-parse', '--is-bare-repository'], { dir: mirror.dir })
  assert.equal(run.stdout.toString(), 'true\n')
})

test('fields and lines come whole however the stream is cut, and long ones are cut', () => {
  const text = Buffer.from('one\0two\n2\0\0three and more\0rest')
  for (let size = 1; size < text.length; size++) {
    const seen: [string, number][] = []
    const push = nulFields(5, (field, length) => {
      seen.push([field.toString(), length])
      return true
    })
    for (let start = 0; start < text.length; start += size) push(text.subarray(start, start + size))
    assert.deepEqual(seen, [
      ['one', 3],
      ['two\n2', 5],
      ['', 0],
      ['three', 14],
    ])
  }
  const first: string[] = []
  const stop = splitLines(10, line => {
    first.push(line.toString())
    return false
  })
  assert.equal(stop(Buffer.from('a\nb\n')), false)
  assert.deepEqual(first, ['a'])
})
