import type { FastifyInstance } from 'fastify'

/** How long the body of a request may take to come, in milliseconds. */
const BODY_MS = 30_000
/** The bound for those that may take long: an upload by git over a slow line. */
export const LONG_BODY_MS = 60 * 60_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route bounds the time of its body itself. */
    longBody?: boolean
  }
}

/** Cuts off who sends a body too slowly: a form is there at once, and whoever trickles one holds a connection for nothing. */
export function boundBodyTime(app: FastifyInstance, ms = BODY_MS): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    const hasBody = raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0
    if (hasBody && request.routeOptions.config.longBody !== true) {
      const timer = setTimeout(() => {
        if (raw.complete) return
        if (!reply.raw.headersSent) raw.socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
        raw.socket.destroySoon()
      }, ms)
      raw.once('close', () => clearTimeout(timer))
    }
    done()
  })
}
