import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { fastify } from 'fastify'
import { createLongAnswers } from '../../src/server/http/long-answers.ts'
import { until } from '../support/until.ts'

/** Texts that were begun and not ended yet. */
let making = 0
const app = fastify()
let site: URL

async function* endless(): AsyncGenerator<string> {
  making += 1
  try {
    for (;;) yield randomBytes(100_000).toString('latin1')
  } finally {
    making -= 1
  }
}

before(async () => {
  const long = createLongAnswers({ most: 2, idleMs: 200 })
  app.get<{ Querystring: { short?: string } }>('/', (request, reply) => {
    const text =
      request.query.short === undefined
        ? endless()
        : (async function* () {
            yield 'one\n'
            yield 'two\n'
          })()
    return long.send(reply.type('text/plain'), text) ? reply : reply.code(503).send('full')
  })
  site = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
})
after(() => app.close())

const get = (path: string, encoding = 'identity') => fetch(new URL(path, site), { headers: { 'accept-encoding': encoding } })

/** Asks and never reads. */
function stall(encoding: string) {
  const socket = connect(Number(site.port), '127.0.0.1').on('error', () => undefined)
  socket.write(`GET / HTTP/1.1\r\nhost: x\r\naccept-encoding: ${encoding}\r\n\r\n`)
  return socket.pause()
}

test('a text is sent whole, and compressed to who takes that', async () => {
  for (const encoding of ['identity', 'br', 'gzip']) {
    const answer = await get('/?short=1', encoding)
    assert.equal(answer.headers.get('content-encoding'), encoding === 'identity' ? null : encoding)
    assert.equal(await answer.text(), 'one\ntwo\n')
  }
})

test('who asks for a long text and does not read it is left, and makes room', async () => {
  const stalled = [stall('br'), stall('identity')]
  await until(() => making === 2)
  assert.equal((await get('/?short=1')).status, 503)
  await until(() => making === 0, { what: 'both to be left' })
  assert.equal(await (await get('/?short=1')).text(), 'one\ntwo\n')
  for (const socket of stalled) socket.destroy()
})

test('who leaves makes room', async () => {
  const stalled = [stall('gzip'), stall('gzip')]
  await until(() => making === 2)
  for (const socket of stalled) socket.destroy()
  await until(() => making === 0)
  assert.equal((await get('/?short=1')).status, 200)
})
