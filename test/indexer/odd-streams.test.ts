/** Streams as no honest server sends them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { followJetstream, type StreamTiming } from '../../src/indexer/jetstream.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { alice } from '../queue/made-up.ts'
import { until } from '../support/until.ts'
import { type Bench, openBench, put, repoRecord } from './support.ts'

interface Host {
  url: string
  /** Queries of the connections made, oldest first. */
  asked: URLSearchParams[]
  close(): Promise<void>
}

async function host(greet: (socket: WebSocket, nth: number) => void): Promise<Host> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  const asked: URLSearchParams[] = []
  server.on('connection', (socket, request) => {
    asked.push(new URL(request.url ?? '', 'http://host').searchParams)
    greet(socket, asked.length)
  })
  await new Promise(resolve => server.once('listening', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `ws://127.0.0.1:${port}/subscribe`,
    asked,
    async close() {
      for (const socket of server.clients) socket.terminate()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function follow(endpoint: string, bench: Bench, timing: Partial<StreamTiming> = {}, onGap = () => {}) {
  const stream = followJetstream({
    endpoint,
    ingest: bench.ingest,
    now: Date.now,
    onGap,
    timing: { firstRetryMs: 10, lastRetryMs: 60, ...timing },
  })
  return {
    stream,
    async end(server: Host) {
      await stream.stop()
      await server.close()
      await bench.close()
    },
  }
}

/** A frame of the stream that says it is of `timeUs`. */
function frame(timeUs: number, rkey = 'orchard'): string {
  const { did, collection, rev, cid, record } = put(alice, 'repo', rkey, repoRecord(), 1)
  return JSON.stringify({ did, time_us: timeUs, kind: 'commit', commit: { rev, operation: 'create', collection, rkey, record, cid } })
}

test('a connection on which nothing is heard is given up and made anew', async t => {
  const server = await host(() => {})
  const bench = await openBench()
  const { stream, end } = await follow(server.url, bench, { silentMs: 120 })
  t.after(() => end(server))
  await until(() => server.asked.length >= 3, { what: 'a third connection' })
  assert.equal(stream.status().connectedBefore, true)
})

test('pings alone keep a quiet connection', async t => {
  const server = await host(socket => {
    const timer = setInterval(() => socket.ping(), 20)
    socket.on('close', () => clearInterval(timer))
  })
  const bench = await openBench()
  const { stream, end } = await follow(server.url, bench, { silentMs: 1_000 })
  t.after(() => end(server))
  await until(() => stream.status().connected)
  const since = performance.now()
  await until(() => performance.now() - since > 2_500)
  assert.equal(server.asked.length, 1)
  assert.equal(stream.status().behindMs, 0)
})

test('it starts a little before the cursor, and never at nothing', async t => {
  const server = await host(socket => socket.close())
  const bench = await openBench()
  const cursor = (Date.now() - 60_000) * 1_000
  bench.ingest.startAt(cursor)
  const { end } = await follow(server.url, bench)
  t.after(() => end(server))
  await until(() => server.asked.length >= 2)
  assert.deepEqual(
    server.asked.slice(0, 2).map(query => query.get('cursor')),
    [String(cursor - 5_000_000), String(cursor - 5_000_000)],
  )
  assert.deepEqual(server.asked[0]?.getAll('wantedCollections'), ['dev.knotless.*'])
})

test('without a cursor it starts a little before now, since others were asked before it, and goes on from there', async t => {
  const server = await host((socket, nth) => {
    if (nth > 1) socket.close()
    else setTimeout(() => socket.close(), 20)
  })
  const bench = await openBench()
  const start = Date.now()
  const { end } = await follow(server.url, bench)
  t.after(() => end(server))
  await until(() => server.asked.length >= 2)
  const first = Number(server.asked[0]?.get('cursor'))
  assert.ok(first > (start - 20_000) * 1_000 && first <= (Date.now() - 4_000) * 1_000, String(first))
  const resumed = Number(server.asked[1]?.get('cursor'))
  assert.ok(resumed > (start - 20_000) * 1_000 && resumed <= Date.now() * 1_000, String(resumed))
})

test('REC-9 what the stream tells of a time when nobody listened says nothing about lateness', async t => {
  const server = await host(socket => {
    socket.send(frame((Date.now() - 3_600_000) * 1_000, 'before'))
    socket.send(frame((Date.now() + 50) * 1_000, 'since'))
  })
  const bench = await openBench()
  const { end } = await follow(server.url, bench)
  t.after(() => end(server))
  const rows = () => bench.index.sync.all(bench.index.db.selectFrom('record').select(['rkey', 'backfilled']).orderBy('rkey'))
  await until(() => rows().length === 2)
  assert.deepEqual(rows(), [
    { rkey: 'before', backfilled: 1 },
    { rkey: 'since', backfilled: 0 },
  ])
})

test('REC-9 what the stream itself heard long after its key’s time is late, also where this server listens later still', async t => {
  const heard = Date.now() - 60_000
  const [inTime, late] = [tidAt(heard - 5_000), tidAt(heard - 3_600_000)]
  const server = await host(socket => {
    socket.send(frame(heard * 1_000, inTime))
    socket.send(frame(heard * 1_000, late))
  })
  const bench = await openBench()
  const { end } = await follow(server.url, bench)
  t.after(() => end(server))
  const rows = () => bench.index.sync.all(bench.index.db.selectFrom('record').select(['rkey', 'backfilled']).orderBy('backfilled'))
  await until(() => rows().length === 2)
  assert.deepEqual(rows(), [
    { rkey: late, backfilled: 0 },
    { rkey: inTime, backfilled: 1 },
  ])
})

test('a time far ahead does not become a cursor that skips everything', async t => {
  const ahead = (Date.now() + 365 * 24 * 3_600_000) * 1_000
  const server = await host((socket, nth) => {
    if (nth === 1) socket.send(frame(ahead), () => socket.close())
  })
  const bench = await openBench()
  const { end } = await follow(server.url, bench)
  t.after(() => end(server))
  await until(() => server.asked.length >= 2)
  assert.ok(Number(server.asked[1]?.get('cursor')) <= Date.now() * 1_000)
  assert.equal(bench.index.sync.all(bench.index.db.selectFrom('repo').selectAll()).length, 1, 'the event itself counts')
})

test('a cursor older than the server keeps is a gap, which is told', async t => {
  const server = await host(() => {})
  const bench = await openBench()
  bench.ingest.startAt((Date.now() - 40 * 3_600_000) * 1_000)
  let gaps = 0
  const { end } = await follow(server.url, bench, {}, () => {
    gaps += 1
  })
  t.after(() => end(server))
  await until(() => gaps > 0)
  const skipped = Number(bench.ingest.cursor()) / 1_000
  assert.ok(Math.abs(Date.now() - skipped - 30 * 3_600_000) < 60_000, 'it is told once')
  assert.equal(gaps, 1)
  const age = Date.now() - Number(server.asked[0]?.get('cursor')) / 1_000
  assert.ok(Math.abs(age - 30 * 3_600_000) < 60_000)
})

test('a host that refuses is asked less and less often, and why is said', async t => {
  const server = await host(() => {})
  const bench = await openBench()
  const { stream, end } = await follow(server.url.replace('/subscribe', '/subscribe?'), bench)
  t.after(() => end(server))
  await until(() => stream.status().connected)
  await server.close()
  await until(() => (stream.status().trouble ?? '').includes('ECONNREFUSED'))
  const status = stream.status()
  assert.equal(status.connected, false)
  assert.ok(status.behindMs >= 0 && status.connectedBefore)
})

test('binary frames, huge frames and a flood of small ones neither end nor stop it', async t => {
  const server = await host((socket, nth) => {
    if (nth > 1) return
    socket.send(Buffer.from([0, 1, 2, 3]))
    socket.send('x'.repeat(5_000_000))
    for (let n = 0; n < 5_000; n++) socket.send(`{"did":"did:plc:x","time_us":${n},"kind":"identity","identity":{"did":"did:plc:x"}}`)
    socket.send(frame(Date.now() * 1_000))
  })
  const bench = await openBench({ bounds: { events: 1_000, bytes: 1e9 } })
  const { stream, end } = await follow(server.url, bench)
  t.after(() => end(server))
  await until(() => bench.index.sync.all(bench.index.db.selectFrom('repo').selectAll()).length === 1 || stream.status().connections > 1, {
    timeout: 10_000,
  })
  assert.ok(stream.status().garbage >= 1)
  assert.deepEqual(bench.failures, [])
})
