/** Lists follow what they do not show yet. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { createAnyChange } from '../../src/server/pages/any-change.ts'
import { type Served, serve } from './serve.ts'

let network: Network
let server: Served
before(async () => {
  network = await startNetwork()
  server = await serve(network)
})
after(async () => {
  await server.end()
  await network.stop()
})

const htmlAt = (path: string) => fetch(server.url + path).then(answer => answer.text())
/** The newest version that was heard; from time to time a stream says again the one that its reader has. */
const latest = (heard: string) => Math.max(0, ...[...heard.matchAll(/^data: any@(\d+)$/gm)].map(([, version]) => Number(version)))
const streamOf = (html: string) => / data-stream="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''

test('a list without anything on it hears of the first repository, and shows it when it asks', { timeout: 60_000 }, async t => {
  const html = await htmlAt('/')
  assert.match(html, /No repository yet/)
  const have = / data-live="repos" data-is="([\w-]+)"/.exec(html)?.[1]
  const ends = new AbortController()
  t.after(() => ends.abort())
  const stream = await fetch(server.url + streamOf(html), { signal: ends.signal })
  assert.match(String(stream.headers.get('content-type')), /^text\/event-stream/)
  const owner = await network.createAccount('grower.test')
  const createdAt = new Date().toISOString()
  await owner.create('dev.knotless.repo', { defaultBranch: 'main', collaborators: [], runners: [], createdAt }, 'quince')
  const version = Number(/%40(\d+)$/.exec(streamOf(html))?.[1])
  let heard = ''
  for await (const piece of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    heard += piece
    if (latest(heard) > version) break
  }
  assert.ok(latest(heard) > version, heard)
  assert.match(await htmlAt(`/?have=repos.${have}`), /quince/)
  // Those who look for what is not there, and those whose list it is on, follow it too.
  for (const path of ['/', '/?q=nothing-like-it']) assert.match(streamOf(await htmlAt(path)), /^\/events\?of=any%40\d+/, path)
})

test('however much changes, lists hear of it at once and then no more often than they should, the last of it too', t => {
  let now = 0
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const pass = (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
  }
  const told: number[] = []
  const any = createAnyChange(({ version }) => void told.push(version), { everyMs: 10_000, now: () => now })
  const first = any.topic().version
  any.noted()
  assert.deepEqual(told, [first + 1])
  for (let n = 0; n < 100; n++) {
    any.noted()
    pass(50)
  }
  assert.deepEqual(told, [first + 1])
  pass(5_000)
  assert.deepEqual([told, any.topic().version], [[first + 1, first + 2], first + 2])
  pass(60_000)
  assert.equal(told.length, 2, 'nothing more was noted')
  any.noted()
  assert.equal(told.length, 3)
})
