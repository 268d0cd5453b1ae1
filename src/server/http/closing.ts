import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/**
 * Ends what would hold up the closing of the app, which waits for all that is under way: event streams, which go on for ever, and connections on
 * which nothing whole was asked that is not answered. Browsers make those ahead of need, and whoever begins a request need never end it. All are made
 * again elsewhere or later.
 */
export function endIdleOnClose(app: FastifyInstance): void {
  const open = new Set<ServerResponse>()
  /** Connections, each with how many answers it waits for. */
  const waiting = new Map<Socket, number>()
  let isClosing = false
  app.server.on('connection', socket => {
    if (isClosing) return socket.destroy()
    waiting.set(socket, 0)
    socket.once('close', () => waiting.delete(socket))
  })
  app.server.on('request', ({ socket }, response: ServerResponse) => {
    open.add(response)
    waiting.set(socket, (waiting.get(socket) ?? 0) + 1)
    response.once('close', () => {
      open.delete(response)
      const left = (waiting.get(socket) ?? 1) - 1
      if (waiting.has(socket)) waiting.set(socket, left)
      if (isClosing && left === 0) socket.destroySoon()
    })
  })
  app.addHook('preClose', async () => {
    // What was sent by now is read first: it gets an answer.
    await turn()
    isClosing = true
    for (const [socket, answers] of waiting) if (answers === 0) socket.destroySoon()
    for (const response of open) {
      if (!String(response.getHeader('content-type')).startsWith('text/event-stream')) continue
      response.end(() => response.socket?.destroySoon())
    }
  })
}
