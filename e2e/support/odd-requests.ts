/** Requests that make no sense, or nearly. */
import { type Agent, request } from 'node:http'
import fc from 'fast-check'
import { hostile } from './hostile-texts.ts'
import type { World } from './world.ts'

/** A request as it goes over the line. */
export interface Raw {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

/** One request as it is, with nothing made right on the way, within 10 s. An endless answer is read no further than its start. */
export function rawAnswer(world: World, { method, path, headers, body }: Raw, agent?: Agent): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(world.server.url)
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(10_000)
    const outgoing = request({ hostname, port, method, path, headers, signal, ...(agent && { agent }) }, incoming => {
      let read = ''
      const done = () => resolve({ status: incoming.statusCode ?? 0, text: read })
      incoming.setEncoding('utf8')
      incoming.on('data', piece => {
        read += piece
        if (incoming.headers['content-type']?.startsWith('text/event-stream') === true) {
          incoming.destroy()
          done()
        }
      })
      incoming.on('end', done)
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Anything that may stand in a path or a query: what is meant, what is hostile, what is no text at all. */
function piece(world: World): fc.Arbitrary<string> {
  const { orchard } = world.samples
  const meant = [
    'alice.test',
    'bob.test',
    'orchard',
    'main',
    world.people.alice.did,
    orchard.uri,
    world.pull('label-variety').uri,
    '1',
    '50',
  ]
  const odd = [
    '',
    '0',
    '-1',
    '1e9',
    'NaN',
    'null',
    'true',
    '[]',
    '..',
    '.',
    '*',
    '%',
    '%ff',
    '%00',
    '%2e%2e%2f',
    '%u2028',
    'a'.repeat(1_100),
  ]
  const encoded = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(...Object.values(hostile)),
  )
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...meant).map(encodeURIComponent) },
    { weight: 2, arbitrary: fc.constantFrom(...odd) },
    { weight: 2, arbitrary: encoded.map(each => encodeURIComponent(each.toWellFormed()).slice(0, 3_000)) },
  )
}

/** Requests to every address there is and to many that are not, with whatever may stand in them. */
export function oddRequests(world: World): fc.Arbitrary<Raw> {
  const routes = [
    ...['/', '/$', '/$/$', '/$/$/$', '/$/$/queue', '/$/$/queue/$', '/events?of=$', '/$/$/pulls/$/$', '/$/$/pulls/$/$/$'],
    ...[
      '/alice.test/orchard/$',
      '/alice.test/orchard/queue/$',
      '/alice.test/orchard/pulls/$/$/queue',
      '/alice.test/orchard/pulls/$/$/leave',
    ],
    ...[
      '/$/$/batches/$',
      '/$/$/checks/$/$',
      '/$/$/checks/$/$/log',
      '/$/$/stats',
      '/$/$/stats.csv',
      '/$/$/stats.json',
      '/$/$/atom/$',
      '/$/$/badge/$',
    ],
    ...['/at/$/$/$', '/at/$', '/pulls', '/help', '/robots.txt', '/favicon.ico', '/alice.test/orchard/$/$', '/alice.test/orchard/stats'],
    ...['/login', '/login/continue', '/login/start', '/oauth/callback', '/settings', '/settings/sessions/$/end', '/logout', '/static/$'],
    ...[
      '/xrpc/$',
      '/xrpc/dev.knotless.$',
      '/.well-known/$',
      '/$//$',
      '//$',
      '/xrpc/dev.knotless.getQueue',
      '/xrpc/dev.knotless.getMergeStatus',
    ],
    ...[
      '/xrpc/dev.knotless.listQueues',
      '/xrpc/dev.knotless.listPulls',
      '/xrpc/dev.knotless.listChecks',
      '/xrpc/dev.knotless.mergePull',
      '/xrpc/dev.knotless.getQueueStats',
    ],
  ]
  const names = [
    'q',
    'mine',
    'cursor',
    'state',
    'page',
    'part',
    'every',
    'seen',
    'author',
    'repo',
    'branch',
    'pull',
    'limit',
    'commit',
    'handle',
    'next',
    'code',
    'iss',
    'have',
    'days',
    'from',
    'of',
    'ill',
  ]
  const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), piece(world)), piece(world)), { maxLength: 4 })
  const headers = fc.record(
    {
      cookie: fc.constantFrom('knotless=x', 'a=b; c', '=', `knotless_session=${'A'.repeat(43)}`, `knotless=${'%'.repeat(50)}`),
      accept: fc.constantFrom('application/json', 'text/html', '*/*', ';;;'),
      'content-type': fc.constantFrom('application/x-www-form-urlencoded', 'application/json', 'multipart/form-data', 'text/plain', 'x'),
      'hx-request': fc.constantFrom('true', 'false'),
      'hx-current-url': fc.constantFrom('http://elsewhere.example/', ':::', '/'),
      origin: fc.constantFrom('null', 'http://elsewhere.example', world.server.url),
      'sec-fetch-site': fc.constantFrom('cross-site', 'same-origin', 'none'),
      authorization: fc.constantFrom('Bearer', 'Bearer x.y.z', 'Basic eDp5', `Bearer ${'e30.'.repeat(3)}`),
      'if-none-match': fc.constantFrom('*', '"x"', 'W/"1"'),
      'x-csrf-token': fc.constantFrom('', 'x'),
    },
    { requiredKeys: [] },
  )
  return fc
    .record({
      method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'),
      route: fc.constantFrom(...routes),
      parts: fc.array(piece(world), { minLength: 5, maxLength: 5 }),
      query,
      headers,
      body: fc.option(fc.oneof(fc.constant('head=x&_csrf=y'), fc.constant('{"a":'), fc.string({ maxLength: 200 })), { nil: undefined }),
    })
    .map(({ method, route, parts, query: pairs, headers: named, body }) => {
      const left = [...parts]
      const path = route.replace(/\$/g, () => left.pop() ?? '')
      const search = pairs.map(([name, value]) => `${name}=${value}`).join('&')
      const sends = method === 'POST' || method === 'PUT' || method === 'PATCH'
      return { method, path: search === '' ? path : `${path}?${search}`, headers: named, ...(sends && body !== undefined ? { body } : {}) }
    })
}
