import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFaults } from '../../src/devnet/faults/faults.ts'
import { openLog } from '../../src/devnet/jetstream/log.ts'
import { serveJetstream } from '../../src/devnet/jetstream/server.ts'
import { until } from '../support/until.ts'
import { connect } from './consumer.ts'

test('a consumer that does not read is waited for: nothing piles up in memory, and nothing is lost when it reads again', async t => {
  let time = 1e15
  const log = openLog(':memory:', () => ++time)
  const text = 'x'.repeat(20_000)
  const total = 3000
  for (let n = 1; n <= total; n++) {
    const body = { rev: 'r', operation: 'create', collection: 'dev.example.thing', rkey: `k${n}`, record: { text } }
    log.append({ upstream: n, did: 'did:plc:a', kind: 'commit', collection: 'dev.example.thing', rkey: `k${n}`, operation: 'create', body })
  }
  let readTo = 0
  const watched = {
    ...log,
    read(from: number, limit: number) {
      readTo = Math.max(readTo, from)
      return log.read(from, limit)
    },
  }
  const server = await serveJetstream({ log: watched, faults: createFaults(), port: 0, nowUs: () => time, trouble: () => undefined })
  const consumer = await connect(`ws://127.0.0.1:${server.port}/subscribe`, '?cursor=1&requireHello=true')
  t.after(async () => {
    await consumer.end()
    await server.stop()
    log.close()
  })
  consumer.socket.pause()
  consumer.send({ type: 'options_update', payload: {} })
  await until(() => readTo > 0)
  // Each turn of the loop lets the server send as much as it would; the socket's own buffers take a few hundred of the events.
  for (let turn = 0; turn < 200; turn++) await new Promise(resolve => setImmediate(resolve))
  assert.ok(readTo < 1500, `most of the 60 MB of events stay in the log (read to ${readTo} of ${total})`)
  consumer.socket.resume()
  const events = await consumer.has(total)
  assert.equal(events.at(-1)?.cursor, total)
  assert.equal(new Set(events.map(event => event.cursor)).size, total)
})
