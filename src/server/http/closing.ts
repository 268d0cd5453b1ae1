import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Ends what would hold up the closing of the app, which waits for all that is under way: event streams, which go on for ever, and connections on
 * which nothing was asked yet, as browsers make them ahead of need. Both are made again elsewhere or later.
 */
export function endIdleOnClose(app: FastifyInstance): void {
  const open = new Set<ServerResponse>()
  const unasked = new Set<Socket>()
  app.server.on('connection', socket => {
    unasked.add(socket)
    socket.once('close', () => unasked.delete(socket))
  })
  app.server.on('request', (request, response: ServerResponse) => {
    unasked.delete(request.socket)
    open.add(response)
    response.once('close', () => open.delete(response))
  })
  app.addHook('preClose', async () => {
    for (const socket of unasked) socket.destroy()
    for (const response of open) {
      if (!String(response.getHeader('content-type')).startsWith('text/event-stream')) continue
      response.end(() => response.socket?.destroySoon())
    }
  })
}
