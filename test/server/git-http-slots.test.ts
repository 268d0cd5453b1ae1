import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFailures } from '../../src/server/git-http/failures.ts'
import { createSlots } from '../../src/server/git-http/slots.ts'

const still = () => new AbortController().signal

test('room is given in order, and an address that has all it may have holds up nobody else', async () => {
  const slots = createSlots({ total: 3, perAddress: 2, waitMs: 60_000 })
  const first = await slots.take('a', still())
  await slots.take('a', still())
  const seen: string[] = []
  async function noted(address: string): Promise<(() => void) | undefined> {
    const release = await slots.take(address, still())
    seen.push(address)
    return release
  }
  const third = noted('a')
  const other = noted('b')
  const releaseB = await other
  assert.deepEqual(seen, ['b'])
  const fourth = noted('c')
  first?.()
  first?.()
  await third
  assert.deepEqual(seen, ['b', 'a'], 'giving back twice gives back once')
  releaseB?.()
  await fourth
  assert.deepEqual(seen, ['b', 'a', 'c'])
})

test('who waits in vain, or goes, gets nothing and leaves nothing', async () => {
  const slots = createSlots({ total: 1, perAddress: 1, waitMs: 20 })
  const release = await slots.take('a', still())
  assert.equal(await slots.take('b', still()), undefined)
  const gone = new AbortController()
  const waits = slots.take('b', gone.signal)
  gone.abort()
  assert.equal(await waits, undefined)
  assert.equal(await slots.take('b', gone.signal), undefined)
  release?.()
  assert.equal(typeof (await slots.take('b', still())), 'function')
})

test('only so many may wait', async () => {
  const slots = createSlots({ total: 2, perAddress: 1, waitMs: 60_000 })
  await slots.take('a', still())
  const gone = new AbortController()
  for (let n = 0; n < 4; n++) {
    assert.equal(slots.full('a'), false)
    void slots.take('a', gone.signal)
  }
  assert.equal(slots.full('a'), true)
  assert.equal(await slots.take('a', still()), undefined)
  assert.equal(slots.full('b'), false)
  assert.equal(typeof (await slots.take('b', still())), 'function')
  gone.abort()
})

test('who was turned away too often waits until the minute is over', () => {
  let now = 1_000
  const failures = createFailures({ now: () => now, most: 2 })
  failures.note('a')
  assert.equal(failures.wait('a'), 0)
  now += 10_000
  failures.note('a')
  assert.equal(failures.wait('a'), 50_000)
  assert.equal(failures.wait('b'), 0)
  now += 50_000
  assert.equal(failures.wait('a'), 0)
})
