import { createServer, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** What the server counts. One registry for the program; the index adds its own to it. */
export interface Metrics {
  registry: Registry
  /** Answers by route, method and status class, in seconds. */
  requests: Histogram<'route' | 'method' | 'status'>
  unexpected: Counter
  xrpcCache: Counter<'result'>
  /** Clones and fetches by how they went; pushes likewise; tokens turned away before anybody was known (GWY-6). */
  gitFetches: Counter<'outcome'>
  gitPushes: Counter<'outcome'>
  gitTokensRefused: Counter<'code'>
  /** The same of methods that write. */
  methodTokensRefused: Counter<'code'>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  const counter = <L extends string>(name: string, help: string, label: L) =>
    new Counter({ name: `knotless_${name}`, help, labelNames: [label], registers: [registry] })
  collectDefaultMetrics({ register: registry, prefix: 'knotless_' })
  return {
    registry,
    requests: new Histogram({
      name: 'knotless_http_request_seconds',
      help: 'Time to answer, by route',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5],
      registers: [registry],
    }),
    unexpected: new Counter({ name: 'knotless_unexpected_errors_total', help: 'Errors that should not happen', registers: [registry] }),
    xrpcCache: counter('xrpc_cache_total', 'Answers by where they came from', 'result'),
    gitFetches: counter('git_fetches_total', 'Requests of clones and fetches, by how they went', 'outcome'),
    gitPushes: counter('git_pushes_total', 'Pushes that carried commands, by how they went', 'outcome'),
    methodTokensRefused: counter(
      'method_tokens_refused_total',
      'Tokens of methods that write, turned away before anybody was known',
      'code',
    ),
    gitTokensRefused: counter('git_tokens_refused_total', 'Tokens of pushes turned away before anybody was known, by reason', 'code'),
  }
}

/** Times every answer. Routes are counted by their pattern, so that nobody can make up labels. */
export function measure(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    const status = `${Math.floor(reply.raw.statusCode / 100)}xx`
    metrics.requests.observe({ route, method: request.method, status }, reply.elapsedTime / 1000)
    done()
  })
}

/** Serves the registry as Prometheus text on an address of its own. Resolves when it listens; rejects when it cannot. */
export async function serveMetrics(registry: Registry, at: { host: string; port: number }): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not here\n')
      return
    }
    registry.metrics().then(
      text => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  server.requestTimeout = 10_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at.port, at.host, resolve)
  })
  return server
}
