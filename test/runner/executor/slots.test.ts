import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlots } from '../../../src/runner/executor/slots.ts'
import type { JobClass, Slots } from '../../../src/runner/types.ts'

function world(jobs: number) {
  const failed: unknown[] = []
  const slots = createSlots({ jobs, failed: error => void failed.push(error) })
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  function ask(name: string, of: JobClass, signal = new AbortController().signal) {
    return slots.ask({
      class: of,
      signal,
      work: () => {
        begun.push(name)
        return new Promise<void>((done, fail) => ends.set(name, error => (error === undefined ? done() : fail(error))))
      },
    })
  }
  return { slots, begun, ask, failed, end: (name: string, error?: Error) => ends.get(name)?.(error) }
}

const settle = () => new Promise<void>(done => setImmediate(done))
const state = (slots: Slots) => ({ free: slots.free, waiting: slots.waiting })

test('AHD-5 of all that is asked in one breath the highest class begins, then the order of asking decides', async () => {
  const { begun, ask, end, slots } = world(2)
  for (const kind of ['pull', 'preflight', 'push', 'ahead', 'next'] as const) ask(kind, kind)
  ask('next-2', 'next')
  await settle()
  assert.deepEqual(begun, ['next', 'next-2'])
  assert.deepEqual(state(slots), { free: 0, waiting: 4 })
  for (const name of ['next', 'next-2', 'ahead', 'push', 'preflight', 'pull']) {
    end(name)
    await settle()
  }
  assert.deepEqual(begun, ['next', 'next-2', 'ahead', 'push', 'preflight', 'pull'])
  assert.deepEqual(state(slots), { free: 2, waiting: 0 })
})

test('AHD-5 what has begun is never pushed out by a higher class', async () => {
  const { begun, ask } = world(1)
  ask('low', 'pull')
  await settle()
  ask('high', 'next')
  await settle()
  assert.deepEqual(begun, ['low'])
})

test('AHD-5 a batch ahead that becomes the next moves up and keeps its turn among its like', async () => {
  const { begun, ask, end } = world(1)
  ask('running', 'next')
  await settle()
  const early = ask('early', 'ahead')
  ask('late', 'next')
  early.move('next')
  end('running')
  await settle()
  assert.deepEqual(begun, ['running', 'early'])
})

test('MOV-4 what waits is withdrawn by its signal, and what has begun is not', async () => {
  const { begun, ask, end, slots } = world(1)
  const running = new AbortController()
  const first = ask('first', 'next', running.signal)
  await settle()
  const gone = new AbortController()
  const second = ask('second', 'next', gone.signal)
  gone.abort()
  await second.ended
  running.abort()
  assert.deepEqual(state(slots), { free: 0, waiting: 0 })
  end('first')
  await first.ended
  await settle()
  assert.deepEqual(begun, ['first'])
  const never = ask('never', 'next', AbortSignal.abort())
  await never.ended
  assert.deepEqual(begun, ['first'])
})

test('a work that fails frees its slot, and the failure is not lost', async () => {
  const { begun, ask, end, failed } = world(1)
  const first = ask('first', 'next')
  ask('second', 'next')
  await settle()
  end('first', new Error('broke'))
  await first.ended
  await settle()
  assert.deepEqual(begun, ['first', 'second'])
  assert.match(String(failed[0]), /broke/)
})
