import { createServer, type Server } from 'node:http'
import type { Registry } from 'prom-client'

/** Serves `/metrics` and `/healthz`. `health` says what is wrong, or nothing. Resolves when it listens; rejects when it cannot. */
export async function listen(at: { host: string; port: number }, registry: Registry, health: () => readonly string[]): Promise<Server> {
  const server = createServer((request, response) => {
    const text = (status: number, body: string) => response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body)
    if (request.method !== 'GET') text(405, 'only GET\n')
    else if (request.url === '/healthz') {
      const wrong = health()
      text(wrong.length === 0 ? 200 : 503, wrong.length === 0 ? 'ready\n' : `${wrong.join('\n')}\n`)
    } else if (request.url === '/metrics') {
      registry.metrics().then(
        body => response.writeHead(200, { 'content-type': registry.contentType }).end(body),
        () => text(500, 'no metrics\n'),
      )
    } else text(404, 'not here\n')
  })
  server.requestTimeout = 10_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at.port, at.host, resolve)
  })
  return server
}
