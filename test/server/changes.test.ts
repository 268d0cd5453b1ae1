import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMirrors } from '../../src/git/mirror.ts'
import { createChanges } from '../../src/server/pages/changes.ts'
import type { ChangesModel } from '../../src/views/models.ts'

const mirrors = createMirrors('/nonexistent')
const tooLarge: ChangesModel = { ok: false, says: 'The branch changes more than 500,000 files and folders.' }
const question = (n: number) => ({ target: 'at://a/b/c', tip: '1'.repeat(40), source: 'at://a/b/c', head: `${n}`.padStart(40, '0') })

/** Reads that end when they are told to. */
function slowReads() {
  const ends = new Map<string, (again?: boolean) => void>()
  const begun: string[] = []
  const read = ({ head }: { head: string }) => {
    begun.push(head)
    return new Promise<{ model: ChangesModel; again: boolean }>(resolve => {
      ends.set(head, (again = false) => resolve({ model: tooLarge, again }))
    })
  }
  return { read, begun, end: (n: number, again?: boolean) => ends.get(question(n).head)?.(again) }
}

test('however many ask for one pull, it is read once; and what is wrong with it for good is not read again', async () => {
  const reads = slowReads()
  const changes = createChanges(mirrors, reads)
  const asked = Array.from({ length: 20 }, () => changes.of(question(1)))
  await new Promise(setImmediate)
  reads.end(1)
  assert.deepEqual(await Promise.all(asked), Array(20).fill(tooLarge))
  assert.equal(await changes.of(question(1)), tooLarge)
  assert.equal(reads.begun.length, 1)

  const second = changes.of(question(2))
  await new Promise(setImmediate)
  reads.end(2, true)
  await second
  changes.of(question(2)).catch(() => undefined)
  await new Promise(setImmediate)
  assert.equal(reads.begun.length, 3, 'what may be otherwise next time is')
})

test('two are read at a time, and a page that would wait long is told so', async () => {
  const reads = slowReads()
  const changes = createChanges(mirrors, { ...reads, patienceMs: 20 })
  const said = await Promise.all([1, 2, 3].map(n => changes.of(question(n))))
  for (const model of said) assert.ok(!model.ok && /still being read/.test(String(model.says)))
  assert.deepEqual(reads.begun, [question(1).head, question(2).head])
  reads.end(1)
  await new Promise(setImmediate)
  assert.deepEqual(reads.begun.at(-1), question(3).head)
  assert.equal(await changes.of(question(1)), tooLarge, 'and has it the next time')
  const many = await Promise.all(Array.from({ length: 80 }, (_, n) => changes.of(question(100 + n))))
  assert.equal(
    many.every(model => !model.ok),
    true,
  )
  assert.equal(reads.begun.length, 3, 'those that wait are bounded, and wait')
})

test('a failure is everybody’s who asked, and is not kept', async () => {
  let calls = 0
  const read = async () => {
    calls += 1
    throw new Error('the disk is full')
  }
  const changes = createChanges(mirrors, { read })
  const asked = await Promise.allSettled([changes.of(question(1)), changes.of(question(1))])
  assert.deepEqual(
    asked.map(one => one.status),
    ['rejected', 'rejected'],
  )
  assert.equal(calls, 1)
  await assert.rejects(changes.of(question(1)))
  assert.equal(calls, 2)
})

test('a pull that changes nothing is kept as any other', async () => {
  let calls = 0
  const nothing: ChangesModel = {
    ok: true,
    commits: [],
    moreCommits: false,
    files: [],
    totals: { files: 0, additions: 0, deletions: 0, exact: true },
  }
  const read = async () => {
    calls += 1
    return { model: nothing, again: false }
  }
  const changes = createChanges(mirrors, { read })
  assert.deepEqual([await changes.of(question(1)), await changes.of(question(1))], [nothing, nothing])
  assert.equal(calls, 1)
})
