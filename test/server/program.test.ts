import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { freePort } from '../../src/devnet/ports.ts'
import { until } from '../support/until.ts'
import { madeUp, plantOrchard } from './orchard.ts'
import { serve } from './serve.ts'

const main = resolve(import.meta.dirname, '../../src/server/main.ts')
const script = `import { runServe } from ${JSON.stringify(main)}; process.exitCode = await runServe(process.env)`

/** `knotless serve` as a process of its own. */
function start(env: Record<string, string>): { child: ChildProcess; said: () => string; ended: Promise<number | null> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout?.on('data', chunk => (said += chunk))
  child.stderr?.on('data', chunk => (said += chunk))
  const ended = new Promise<number | null>(resolve => child.on('close', code => resolve(code)))
  return { child, said: () => said, ended }
}

async function environment(dir: string): Promise<Record<string, string>> {
  const port = String(await freePort())
  return {
    KNOTLESS_PUBLIC_URL: `http://127.0.0.1:${port}`,
    PORT: port,
    KNOTLESS_DB: join(dir, 'made', 'at', 'start', 'index.sqlite'),
    KNOTLESS_DATA: join(dir, 'made', 'too'),
    KNOTLESS_JETSTREAM: 'ws://127.0.0.1:9/subscribe',
    KNOTLESS_SECRET: 'a secret of this test, of 32 letters and more',
    KNOTLESS_LOG: 'silent',
  }
}

test('wrong configuration stops the program with one line and code 2', async () => {
  const { said, ended } = start({ KNOTLESS_PUBLIC_URL: 'http://127.0.0.1:2590' })
  assert.equal(await ended, 2)
  assert.match(said(), /^KNOTLESS_DB is missing: it wants [^\n]+\n$/)
})

test('a port that is taken stops the program with one line and code 1', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-program-'))
  const taken = createServer()
  try {
    const env = await environment(dir)
    await new Promise<void>(done => taken.listen(Number(env.PORT), '127.0.0.1', done))
    const { said, ended } = start(env)
    assert.equal(await ended, 1)
    assert.match(said(), /^knotless could not start: .*EADDRINUSE[^\n]*\n$/)
  } finally {
    taken.close()
    rmSync(dir, { recursive: true, force: true })
  }
})

test('the program serves, shows metrics on their own port only, and stops in order on SIGTERM', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-program-'))
  try {
    const env = await environment(dir)
    const metricsPort = await freePort()
    const { child, said, ended } = start({ ...env, KNOTLESS_METRICS: String(metricsPort) })
    const ready = () =>
      fetch(`${env.KNOTLESS_PUBLIC_URL}/healthz`).then(
        answer => answer.status === 503,
        () => false,
      )
    await until(ready, { timeout: 30_000, what: 'the server to answer' })
    assert.match(said(), /knotless serves http:\/\/127\.0\.0\.1:/)
    assert.equal((await fetch(`${env.KNOTLESS_PUBLIC_URL}/metrics`)).status, 404)
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    assert.match(metrics, /knotless_http_request_seconds_count\{route="\/healthz"/)
    assert.match(metrics, /^knotless_jetstream_connected 0$/m)
    assert.equal((await fetch(`http://127.0.0.1:${metricsPort}/other`)).status, 404)
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    await assert.rejects(fetch(`${env.KNOTLESS_PUBLIC_URL}/healthz`))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

test('a page that follows its stream does not hold up the end', async () => {
  const server = await serve()
  const orchard = await plantOrchard(server.context, { handles: { [madeUp.owner]: 'alice.test' } })
  await orchard.stop()
  const page = await (await fetch(`${server.url}/alice.test/orchard/queue/main`)).text()
  const live = /data-stream="([^"]+)%40\d+"/.exec(page)?.[1] ?? ''
  const stream = await fetch(`${server.url}${live}%400`)
  assert.match(String(stream.headers.get('content-type')), /^text\/event-stream/)
  const read = stream.text()
  const started = performance.now()
  await server.end()
  assert(performance.now() - started < 4_000, 'it did not wait for the reader to go')
  assert.match(await read, /event: changed/)
})

test('connections on which nothing was asked yet do not hold up the end', async () => {
  const server = await serve()
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  const closed = new Promise(resolve => socket.on('close', resolve))
  await new Promise(resolve => server.app.server.once('connection', resolve))
  const started = performance.now()
  await server.end()
  assert(performance.now() - started < 4_000, 'it did not wait for a request that may never come')
  await closed
})

test('a connection on which a request was only begun after another does not hold up the end', async () => {
  const server = await serve()
  const { host, port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  const closed = new Promise(resolve => socket.on('close', resolve))
  socket.write(`GET /xrpc/_health HTTP/1.1\r\nhost: ${host}\r\n\r\nGET /xr`)
  await new Promise(resolve => socket.once('data', resolve))
  const started = performance.now()
  await server.end()
  assert(performance.now() - started < 4_000, 'it did not wait for the rest of a request')
  await closed
})

test('what was asked before the end is answered', async () => {
  const server = await serve()
  const { host, port } = new URL(server.url)
  let text = ''
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('data', piece => {
    text += piece
  })
  const closed = new Promise(resolve => socket.on('close', resolve))
  const taken = new Promise(resolve => server.app.server.once('connection', resolve))
  await Promise.all([taken, new Promise(resolve => socket.once('connect', resolve))])
  socket.write(`GET /xrpc/_health HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
  await new Promise(resolve => setImmediate(resolve))
  await server.end()
  await closed
  assert.match(text, /^HTTP\/1\.1 (200|503) /)
})
