import { createServer, type RequestListener } from 'node:http'

/** A small real HTTP server on loopback, for answers that no honest server gives. */
export interface HttpServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** `127.0.0.1:<port>` */
  readonly host: string
  readonly port: number
  /** Stops it, whatever is still under way. */
  close(): Promise<void>
}

export async function serveHttp(listener: RequestListener): Promise<HttpServer> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const host = `127.0.0.1:${address.port}`
  return {
    url: `http://${host}`,
    host,
    port: address.port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
