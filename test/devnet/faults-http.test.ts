import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { type Network, startNetwork } from '../../src/devnet/network.ts'

let network: Network
before(async () => {
  network = await startNetwork()
})
after(() => network.stop())

const list = z.object({ faults: z.array(z.looseObject({ id: z.int(), fault: z.string(), hits: z.int() })) })

function ask(method: string, body?: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }, query = '') {
  return fetch(`${network.relayUrl}/devnet/faults${query}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

const standing = async () => list.parse(await (await ask('GET')).json()).faults.map(fault => fault.fault)

test('faults are switched on, listed and cleared over HTTP', async () => {
  const drop = z.object({ id: z.int() }).parse(await (await ask('POST', { fault: 'drop', collection: 'dev.example.thing' })).json())
  await ask('POST', { fault: 'hold' })
  assert.deepEqual(await standing(), ['drop', 'hold'])
  assert.equal(network.faults.held(), true)
  await ask('POST', { fault: 'release' })
  assert.equal(network.faults.held(), false)
  await ask('POST', { fault: 'refuse', method: 'com.atproto.repo.putRecord' })
  await ask('DELETE', undefined, {}, `?id=${drop.id}`)
  assert.deepEqual(await standing(), ['refuse'])
  await ask('DELETE')
  assert.deepEqual(await standing(), [])
})

test('what is no fault gets 400 with what is wrong, and switches nothing', async () => {
  for (const body of [
    '{',
    '[]',
    { fault: 'burn' },
    { fault: 'drop', colection: 'x' },
    { fault: 'refuse', status: 200 },
    { fault: 'delay', ms: -1 },
  ]) {
    const answer = await ask('POST', body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(await answer.text(), /InvalidFault/)
  }
  assert.deepEqual(await standing(), [])
})

test('only JSON is taken, so that a web page cannot send it; other verbs are refused', async () => {
  assert.equal((await ask('POST', '{"fault":"hold"}', { 'content-type': 'text/plain' })).status, 415)
  assert.equal((await ask('PUT', '{}')).status, 405)
  assert.equal((await ask('POST', ' '.repeat(2_100_000))).status, 413)
  assert.deepEqual(await standing(), [])
})
