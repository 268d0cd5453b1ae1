import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBudget } from '../../src/indexer/backfill/budget.ts'

const never = new AbortController().signal

/** How long the calls were told to wait, with a clock that stands still. */
async function waits(budget: ReturnType<typeof createBudget>, host: string, calls: number): Promise<boolean[]> {
  const waited: boolean[] = []
  for (let n = 0; n < calls; n++) {
    const soon = AbortSignal.timeout(5)
    waited.push(
      await budget.take(host, soon).then(
        () => false,
        () => true,
      ),
    )
  }
  return waited
}

test('a server is asked in a burst and then so many times a second, each server by itself', async () => {
  let clock = 0
  const budget = createBudget({ burst: 3, perSecond: 2 }, () => clock)
  assert.deepEqual(await waits(budget, 'one.example', 4), [false, false, false, true])
  assert.deepEqual(await waits(budget, 'two.example', 1), [false])
  clock = 2_000
  assert.deepEqual(await waits(budget, 'one.example', 4), [false, false, false, true])
})

test('a server that asks for a pause gets it', async () => {
  let clock = 0
  const budget = createBudget({ burst: 3, perSecond: 2 }, () => clock)
  budget.rest('one.example', 60_000)
  assert.deepEqual(await waits(budget, 'one.example', 1), [true])
  clock = 61_000
  assert.deepEqual(await waits(budget, 'one.example', 1), [false])
})

test('a server on this machine is asked as often as needed', async () => {
  const budget = createBudget({ burst: 1, perSecond: 1 }, () => 0)
  for (const host of ['localhost:2583', '127.0.0.1:2583', '[::1]:2583'])
    assert.deepEqual(await waits(budget, host, 5), Array(5).fill(false))
  assert.deepEqual(await waits(budget, '127.0.0.1.example:80', 2), [false, true])
})

test('whoever is stopped waits no longer', async () => {
  const budget = createBudget({ burst: 0, perSecond: 0.001 }, () => 0)
  const stopping = new AbortController()
  const waiting = budget.take('one.example', stopping.signal)
  stopping.abort(new Error('stopped'))
  await assert.rejects(waiting, /stopped/)
  await assert.rejects(budget.take('one.example', stopping.signal), /stopped/)
  await budget.take('localhost', never)
})
