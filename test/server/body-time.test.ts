import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { type FastifyInstance, fastify } from 'fastify'
import { boundBodyTime } from '../../src/server/http/body-time.ts'

let app: FastifyInstance
let port: number
before(async () => {
  app = fastify({ forceCloseConnections: true })
  boundBodyTime(app, 150)
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.post('/form', request => `took ${String(request.body)}`)
  app.post('/long', { config: { longBody: true } }, request => `took ${String(request.body)}`)
  app.get('/slow', () => new Promise(resolve => setTimeout(resolve, 400, 'answered')))
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
})
after(() => app?.close())

/** Sends pieces with a pause before each, and gives what was heard until the connection ended. */
function send(head: string, pieces: readonly string[], pauseMs: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let heard = ''
  const socket: Socket = connect(port, '127.0.0.1')
  socket.on('data', chunk => (heard += chunk)).on('error', () => undefined)
  socket.on('close', () => resolve(heard))
  socket.write(
    `${head} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${pieces.join('').length}\r\n\r\n`,
  )
  for (const [n, piece] of pieces.entries()) setTimeout(() => socket.writable && socket.write(piece), pauseMs * (n + 1)).unref()
  return promise
}

test('a body that trickles in is cut off after its time, in the middle of it', async () => {
  assert.match(
    await send(
      'POST /form',
      Array.from({ length: 20 }, () => 'x'),
      50,
    ),
    /^HTTP\/1\.1 408 /,
  )
  assert.match(
    await send(
      'POST /nowhere',
      Array.from({ length: 20 }, () => 'x'),
      50,
    ),
    /^HTTP\/1\.1 (404|408) /,
  )
})

test('a body that comes in time is taken, and so is a long one where the route allows it', async () => {
  assert.match(await send('POST /form', ['a', 'b'], 10), /took ab$/)
  assert.match(await send('POST /long', ['a', 'b', 'c', 'd', 'e', 'f'], 50), /took abcdef$/)
})

test('a request without a body may take as long as its answer does', async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/slow`)
  assert.equal(await answer.text(), 'answered')
})
