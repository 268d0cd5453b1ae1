import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { afterEach, test } from 'node:test'
import { createStreams, paceOf, type StreamOptions, type Streams, type Topic } from '../../src/server/pages/streams.ts'
import { type HttpServer, serveHttp } from '../support/http-server.ts'
import { until } from '../support/until.ts'

const orchard = 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.repo/orchard'
const almanac = 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.repo/almanac'

let server: HttpServer | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server?.close()
})

/** Streams on a real server: the path is what is watched, the `address` header where it goes to. */
async function start(options: Partial<StreamOptions> = {}): Promise<Streams> {
  const streams = createStreams({ most: { all: 10, perAddress: 10 }, ...options })
  server = await serveHttp((request, response) => {
    const topics: Topic[] = (request.url ?? '')
      .slice(1)
      .split(',')
      .map(of => ({ of: decodeURIComponent(of), version: 1 }))
    if (!streams.open(response, String(request.headers.address ?? 'here'), topics)) response.writeHead(429).end()
  })
  return streams
}

interface Reader {
  socket: Socket
  text(): string
  /** The versions that it was told of. */
  told(): string[]
}

function watch(of: readonly string[], address = 'here'): Reader {
  const socket = connect(server?.port ?? 0, '127.0.0.1')
  sockets.push(socket)
  let text = ''
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  socket.on('error', () => undefined)
  socket.write(`GET /${of.map(encodeURIComponent).join(',')} HTTP/1.1\r\nhost: x\r\naddress: ${address}\r\n\r\n`)
  return { socket, text: () => text, told: () => [...text.matchAll(/^data: (\S+)$/gm)].map(([, data]) => data ?? '') }
}

const open = (reader: Reader) => until(() => reader.text().includes('event: beat'), { what: 'the stream to be open' })

test('each stream is told of what it watches and of nothing else', async () => {
  const streams = await start()
  const both = watch([orchard, almanac])
  const one = watch([almanac])
  await Promise.all([open(both), open(one)])
  streams.changed({ of: orchard, version: 2 })
  streams.changed({ of: almanac, version: 3 })
  streams.changed({ of: 'at://somebody/else', version: 4 })
  await until(() => both.told().length === 2 && one.told().length === 1)
  assert.deepEqual(both.told(), [`${orchard}@2`, `${almanac}@3`])
  assert.match(both.text(), /^id: 2\nevent: changed\ndata: /m)
  assert.deepEqual(one.told(), [`${almanac}@3`])
})

test('changes in quick succession are told as one, the first at once and the last in the end', async () => {
  const streams = await start()
  const reader = watch([orchard])
  await open(reader)
  for (let version = 2; version <= 9; version++) streams.changed({ of: orchard, version })
  await until(() => reader.told().includes(`${orchard}@9`))
  assert.deepEqual(reader.told(), [`${orchard}@2`, `${orchard}@9`])
})

test('what grows all the time is told of no oftener than it should be', async () => {
  let now = 0
  const streams = await start({ now: () => now })
  const reader = watch([orchard])
  await open(reader)
  streams.changed({ of: orchard, version: 2 }, 400)
  now += 300
  streams.changed({ of: orchard, version: 3 }, 400)
  await until(() => reader.told().length > 0)
  assert.deepEqual(reader.told(), [`${orchard}@2`])
  await until(() => reader.told().length === 2)
})

test('the more watch, the rarer all of them are told, and no rarer than once a second', () => {
  assert.equal(paceOf(1), 50)
  assert.equal(paceOf(2_000), 500)
  assert.equal(paceOf(1_000_000), 1_000)
})

test('streams are bounded in all and for one address, and what is left makes room', async () => {
  const streams = await start({ most: { all: 3, perAddress: 2 } })
  const first = watch([orchard], 'a')
  await open(first)
  await open(watch([orchard], 'a'))
  const third = watch([orchard], 'a')
  await until(() => third.text().startsWith('HTTP/1.1 429'))
  await open(watch([orchard], 'b'))
  const other = watch([orchard], 'c')
  await until(() => other.text().startsWith('HTTP/1.1 429'))
  assert.equal(streams.count(), 3)
  first.socket.destroy()
  await until(() => streams.count() === 2)
  await open(watch([orchard], 'a'))
})

test('who left before its stream was opened has none', async () => {
  const streams = createStreams({ most: { all: 10, perAddress: 10 } })
  const opened: boolean[] = []
  server = await serveHttp((_, response) => {
    response.destroy()
    response.once('close', () => opened.push(streams.open(response, 'here', [{ of: orchard, version: 1 }])))
  })
  watch([orchard])
  await until(() => opened.length === 1)
  assert.deepEqual([opened, streams.count()], [[false], 0])
})

test('a page is told each third beat, since time alone changes what it says', async () => {
  await start({ beatMs: 60 })
  const reader = watch([orchard])
  await until(() => reader.told().length >= 2)
  const events = [...reader.text().matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
  assert.deepEqual(events.slice(0, 7), ['beat', 'beat', 'beat', 'changed', 'beat', 'beat', 'changed'])
})

test('a watcher that never reads its stream is dropped, and the others go on', async () => {
  let now = 0
  const streams = await start({ now: () => now, beatMs: 100 })
  const reader = watch([orchard])
  await open(reader)
  const long = `${orchard}${'-'.repeat(10_000)}`
  // As big as no event is, so that it does not take hours until the buffers between are full.
  const filler = watch([long])
  const glutton = watch([long])
  await Promise.all([open(filler), open(glutton)])
  glutton.socket.pause()
  await until(
    () => {
      for (let n = 0; n < 50; n++) {
        now += 2_000
        streams.changed({ of: long, version: now })
      }
      return streams.count() === 2
    },
    { what: 'the one that reads nothing to be dropped' },
  )
  streams.changed({ of: orchard, version: 7 })
  await until(() => reader.told().includes(`${orchard}@7`))
})

test('a stream ends after a while, so that none is held for ever for nobody', async () => {
  const streams = await start({ beatMs: 20 })
  const reader = watch([orchard])
  let ended = false
  reader.socket.on('end', () => {
    ended = true
  })
  await open(reader)
  await until(() => reader.text().endsWith('0\r\n\r\n') || ended)
  reader.socket.end()
  await until(() => streams.count() === 0)
})
