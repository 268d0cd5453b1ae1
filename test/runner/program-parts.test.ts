import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLiveLogs } from '../../src/runner/live-logs.ts'
import { createLog } from '../../src/runner/log.ts'
import { readSecrets } from '../../src/runner/secrets.ts'
import { createTurns } from '../../src/runner/turns.ts'

test('a line of the log is one line, whatever is in it, and holds no token or secret', () => {
  for (const form of ['text', 'json'] as const) {
    const lines: string[] = []
    const log = createLog({ form, now: () => 0, write: line => lines.push(line) })
    log.info('landed', { branch: 'main', pull: 'a\nb "c"', pushToken: 'abc', password: 'abc', missing: undefined, pulls: ['x', 'y'] })
    assert.equal(lines.length, 1)
    assert.ok(!lines[0]?.includes('\n') && !lines[0]?.includes('abc'), lines[0])
    assert.match(lines[0] ?? '', /landed.*main/)
  }
})

test('a line of JSON can be read back', () => {
  const lines: string[] = []
  createLog({ form: 'json', now: () => 0, write: line => lines.push(line) }).warn('not landed', { why: new Error('it rains') })
  assert.deepEqual(JSON.parse(lines[0] ?? ''), { time: '1970-01-01T00:00:00.000Z', level: 'warn', event: 'not landed', why: 'it rains' })
})

test('only so many pieces of work go on at once, in the order asked, and one that fails makes room', async () => {
  const turn = createTurns(2)
  const going = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const begun: number[] = []
  const all = going.map((gate, at) =>
    turn(async () => {
      begun.push(at)
      await gate.promise
    }),
  )
  await Promise.resolve()
  assert.deepEqual(begun, [0, 1])
  going[1]?.reject(new Error('it broke'))
  await assert.rejects(all[1] ?? Promise.resolve())
  await new Promise(resolve => setImmediate(resolve))
  assert.deepEqual(begun, [0, 1, 2])
  for (const gate of going) gate.resolve()
  await Promise.allSettled(all)
  assert.deepEqual(begun, [0, 1, 2, 3])
})

test('CHK-13 pieces of live logs that follow one another go as one, and what nobody takes is bounded', () => {
  const live = createLiveLogs()
  live.add('r', { check: 'c', offset: 0, text: 'äb' })
  live.add('r', { check: 'c', offset: 3, text: 'c' })
  live.add('r', { check: 'd', offset: 0, text: 'd' })
  assert.deepEqual(live.repos, ['r'])
  assert.deepEqual(live.take('r', 10), [
    { check: 'c', offset: 0, text: 'äbc' },
    { check: 'd', offset: 0, text: 'd' },
  ])
  assert.deepEqual(live.repos, [])
  for (let n = 0; n < 1000; n++) live.add('r', { check: `${n}`, offset: 0, text: 'x' })
  assert.equal(live.take('r', 10_000).length, 200)
})

test('a file of secrets that others can read is refused, and so is one that is none', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'knotless-secrets-'))
  try {
    const path = join(dir, 'secrets.json')
    await writeFile(path, JSON.stringify({ 'alice.test/orchard': { NPM_TOKEN: 'hush' } }), { mode: 0o644 })
    await chmod(path, 0o644)
    const open = await readSecrets(path)
    assert.ok(!open.ok)
    assert.match(open.fault, /others can read that file/)
    await chmod(path, 0o600)
    const read = await readSecrets(path)
    assert.ok(read.ok)
    assert.deepEqual(read.secrets.get('alice.test/orchard'), { NPM_TOKEN: 'hush' })
    await writeFile(path, '{"alice.test/orchard": {"bad name": "hush"}}')
    const bad = await readSecrets(path)
    assert.ok(!bad.ok && !bad.fault.includes('hush'))
    assert.equal((await readSecrets(join(dir, 'nowhere'))).ok, false)
  } finally {
    await rm(dir, { recursive: true })
  }
})
