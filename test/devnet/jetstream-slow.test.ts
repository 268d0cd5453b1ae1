import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFaults } from '../../src/devnet/faults/faults.ts'
import { openLog } from '../../src/devnet/jetstream/log.ts'
import { serveJetstream } from '../../src/devnet/jetstream/server.ts'
import { connect } from './consumer.ts'

test('a consumer that does not read is waited for: nothing piles up in memory, and nothing is lost when it reads again', async () => {
  let time = 1e15
  const log = openLog(':memory:', () => ++time)
  const text = 'x'.repeat(20_000)
  const total = 3000
  for (let n = 1; n <= total; n++) {
    const body = { rev: 'r', operation: 'create', collection: 'dev.example.thing', rkey: `k${n}`, record: { text } }
    log.append({ upstream: n, did: 'did:plc:a', kind: 'commit', collection: 'dev.example.thing', rkey: `k${n}`, operation: 'create', body })
  }
  const server = await serveJetstream({ log, faults: createFaults(), port: 0, nowUs: () => time, trouble: () => undefined })
  const consumer = await connect(`ws://127.0.0.1:${server.port}/subscribe`, '?cursor=1')
  consumer.socket.pause()
  const before = process.memoryUsage().arrayBuffers
  // Each turn of the loop lets the server send as much as it would.
  for (let turn = 0; turn < 200; turn++) await new Promise(resolve => setImmediate(resolve))
  assert.ok(process.memoryUsage().arrayBuffers - before < 20e6, 'the 60 MB of events stay in the log')
  consumer.socket.resume()
  const events = await consumer.has(total)
  assert.equal(events.at(-1)?.cursor, total)
  assert.equal(new Set(events.map(event => event.cursor)).size, total)
  await consumer.end()
  await server.stop()
  log.close()
})
