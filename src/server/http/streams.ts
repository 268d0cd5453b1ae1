import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Ends the event streams when the app closes: they would go on for ever, and closing waits for what is under way. Browsers open them again
 * elsewhere or later.
 */
export function endStreamsOnClose(app: FastifyInstance): void {
  const open = new Set<ServerResponse>()
  app.server.on('request', (_request, response: ServerResponse) => {
    open.add(response)
    response.once('close', () => open.delete(response))
  })
  app.addHook('preClose', async () => {
    for (const response of open) {
      if (!String(response.getHeader('content-type')).startsWith('text/event-stream')) continue
      response.end(() => response.socket?.destroySoon())
    }
  })
}
