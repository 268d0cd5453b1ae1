import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { buffer, text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { startProcessesBy } from '../../src/git/processes.ts'
import { runGit } from '../../src/git/run.ts'
import { openStarter, type Starter } from '../../src/git/starter.ts'
import { until } from '../support/until.ts'

let starter: Starter

before(async () => {
  starter = await openStarter()
})
after(() => starter?.close())

const options = { env: { PATH: process.env.PATH ?? '' }, cwd: '/' }
const sh = (script: string, by: Starter = starter) => by.start('/bin/sh', ['-c', script], options)

/** Programs of this machine whose command line holds a mark. */
function running(mark: string): number[] {
  return readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

test('a process gets its input, says what it says on both streams, and ends with its code', async () => {
  const child = sh('cat; echo done >&2; exit 7')
  child.stdin.end('a pear\n')
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.deepEqual([out, err, await child.closed], ['a pear\n', 'done\n', { code: 7 }])
})

test('everything that is said is read, also by many at once, and more than any buffer holds', async () => {
  const size = 20 * 2 ** 20
  const many = Array.from({ length: 8 }, async (_, n) => {
    const child = sh(`head -c ${size} /dev/zero | tr '\\0' '${n}'`)
    child.stdin.end()
    child.stderr.resume()
    const out = await buffer(child.stdout)
    assert.deepEqual([out.length, out[0], out.at(-1), await child.closed], [size, 48 + n, 48 + n, { code: 0 }])
  })
  await Promise.all(many)
})

test('input goes no faster than it is taken, and one that ends early is no fault', async () => {
  const child = sh('head -c 10 >/dev/null')
  child.stdin.on('error', () => undefined)
  child.stdout.resume()
  child.stderr.resume()
  child.stdin.end(Buffer.alloc(5 * 2 ** 20))
  assert.deepEqual(await child.closed, { code: 0 })
})

test('one that is killed ends without a code, and one that does not exist says why', async () => {
  const child = sh('exec sleep 1000')
  for (const stream of [child.stdout, child.stderr]) stream.resume()
  await child.pid
  child.kill()
  assert.deepEqual(await child.closed, { code: null })
  const early = sh('exec sleep 1001')
  for (const stream of [early.stdout, early.stderr]) stream.resume()
  early.kill()
  assert.equal((await early.closed).code, null)
  const none = starter.start('/no/such/program', [], options)
  assert.match((await none.closed).error?.message ?? '', /ENOENT/)
  assert.equal(await none.pid, undefined)
})

test('one that is killed takes its group with it, and one whose output nobody reads any more ends', async () => {
  const mark = `sleep 97${process.pid}`
  const child = starter.start('/bin/sh', ['-c', `${mark} & wait`], { ...options, group: true })
  for (const stream of [child.stdout, child.stderr]) stream.resume()
  await until(() => running(mark.replace(' ', '\0')).length > 0)
  child.kill()
  assert.equal((await child.closed).code, null)
  await until(() => running(mark.replace(' ', '\0')).length === 0)
  const loud = sh('exec cat /dev/zero')
  loud.stderr.resume()
  await once(loud.stdout, 'readable')
  loud.stdout.destroy()
  loud.kill()
  assert.equal((await loud.closed).code, null)
})

test('git runs by it as it does straight', async () => {
  startProcessesBy(starter.start)
  try {
    const run = await runGit(['hash-object', '--stdin'], { input: 'a pear\n', ulimit: { memoryKiB: 1_000_000, cpuSeconds: 5 } })
    const stopped = await runGit(['hash-object', '--stdin'], { input: endless(), timeoutMs: 300 })
    startProcessesBy(undefined)
    const straight = await runGit(['hash-object', '--stdin'], { input: 'a pear\n' })
    assert.deepEqual([run.ended, run.code, run.stdout.toString()], ['exit', 0, straight.stdout.toString()])
    assert.equal(stopped.ended, 'timeout')
  } finally {
    startProcessesBy(undefined)
  }
})

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield Buffer.alloc(64 * 1024)
    await new Promise(resolve => setImmediate(resolve))
  }
}

test('what it started ends with it, and processes are started straight from then on', async () => {
  const other = await openStarter()
  const mark = `sleep 98${process.pid}`
  const child = sh(`exec ${mark}`, other)
  for (const stream of [child.stdout, child.stderr]) stream.resume()
  await child.pid
  await until(() => running(mark.replace(' ', '\0')).length > 0)
  await other.close()
  assert.equal((await child.closed).code, null)
  await until(() => running(mark.replace(' ', '\0')).length === 0)
  const straight = sh('echo here', other)
  straight.stderr.resume()
  const [out] = await Promise.all([text(straight.stdout), straight.closed, once(straight.stdout, 'end')])
  assert.equal(out, 'here\n')
})
