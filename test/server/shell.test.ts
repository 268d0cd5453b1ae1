import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRenderer } from '../../src/views/render.ts'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

/** What must not be in any answer: where the program lies, and how it failed. */
const leak = /node_modules|\/src\/|at \w+ \(|\.ts:\d|secret in the message/

let server: Served
const visitor = new Visitor()

before(async () => {
  const renderer = createRenderer()
  server = await serve(undefined, {
    overrides: {
      renderer: {
        ...renderer,
        renderPage(name, model) {
          if (name === 'login') throw new Error('secret in the message, at /srv/somewhere.ts:7')
          return renderer.renderPage(name, model)
        },
      },
    },
  })
})
after(() => server?.end())

test('every kind of answer carries the security headers', async () => {
  for (const path of ['/nowhere', '/healthz', '/xrpc/dev.knotless.nothing', '/static/css/knotless.css', '/.well-known/did.json']) {
    const { headers } = await visitor.get(`${server.url}${path}`)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'/, path)
    assert(!policy.includes('unsafe'), path)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'same-origin')
    assert.equal(headers['strict-transport-security'], undefined, 'none on loopback')
    assert.equal(headers['x-powered-by'], undefined)
  }
})

test('an address that leads nowhere is a 404 page that says so and leaks nothing', async () => {
  const page = await visitor.get(`${server.url}/no/such/page?q=<script>`)
  assert.equal(page.status, 404)
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assert.match(String(page.headers.vary), /^HX-Request(,|$)/)
  assert.equal(page.headers['cache-control'], 'no-store')
  assert.match(page.text, /There is no page at this address/)
  assert(!page.text.includes('<script>'))
  assert.doesNotMatch(page.text, leak)
})

test('what should not happen is a 500 page with a number, and no more', async () => {
  const page = await visitor.get(`${server.url}/login`)
  assert.equal(page.status, 500)
  assert.match(page.text, /e-[0-9a-f]{4}-[0-9a-f]{4}/)
  assert.doesNotMatch(page.text, leak)
})

test('when the 500 page breaks too, plain text with the number is left', async () => {
  const broken = await serve(undefined, {
    overrides: {
      renderer: {
        renderPage: () => {
          throw new Error('secret in the message')
        },
        renderPart: () => '',
        renderChanges: () => '',
        assets: new Map(),
      },
    },
  })
  try {
    const page = await visitor.get(`${broken.url}/login`)
    assert.equal(page.status, 500)
    assert.match(page.text, /^Something broke on our side: e-[0-9a-f]{4}-[0-9a-f]{4}$/)
  } finally {
    await broken.end()
  }
})

test('programs get refusals as JSON', async () => {
  const answer = await visitor.get(`${server.url}/no/such`, { headers: { accept: 'application/json' } })
  assert.equal(answer.status, 404)
  assert.deepEqual(Object.keys(JSON.parse(answer.text)), ['error', 'message'])
})

test('health says why it is not ready before the first connection', async () => {
  const answer = await visitor.get(`${server.url}/healthz`)
  assert.equal(answer.status, 503)
  assert.match(JSON.parse(answer.text).why.join(), /^not yet connected to Jetstream/)
  const health = await visitor.get(`${server.url}/xrpc/_health`)
  assert.deepEqual(JSON.parse(health.text), { version: server.context.version })
})

test('WHO-6 the DID document is served whatever host was asked for', async () => {
  for (const host of ['elsewhere.example', `localhost:${new URL(server.url).port}`, new URL(server.url).host]) {
    const answer = await visitor.get(`${server.url}/.well-known/did.json`, { headers: { host } })
    assert.equal(answer.status, 200)
    const document = JSON.parse(answer.text)
    assert.equal(document.id, server.context.config.did)
    assert.deepEqual(document.service, [{ id: '#knotless_appview', type: 'KnotlessAppView', serviceEndpoint: server.url }])
  }
})

test('a page asked for at localhost is found at the public address', async () => {
  const { port } = new URL(server.url)
  const answer = await visitor.get(`${server.url}/settings?x=1`, { headers: { host: `localhost:${port}` } })
  assert.equal(answer.status, 307)
  assert.equal(answer.headers.location, `${server.url}/settings?x=1`)
})

test('static files may be kept for good under their hash, and only there', async () => {
  const page = await visitor.get(`${server.url}/nowhere`)
  const links = [...page.text.matchAll(/(?:src|href)="(\/static\/[^"#]+)/g)].map(match => match[1] ?? '')
  assert(links.length > 2, 'the page has files')
  for (const link of links) {
    const file = await visitor.get(`${server.url}${link}`)
    assert.equal(file.status, 200, link)
    assert.equal(file.headers['cache-control'], 'public, max-age=31536000, immutable', link)
    const plain = await visitor.get(`${server.url}${link.split('?')[0]}?v=other`)
    assert.equal(plain.headers['cache-control'], 'public, no-cache')
    const again = await visitor.get(`${server.url}${link.split('?')[0]}`, { headers: { 'if-none-match': String(plain.headers.etag) } })
    assert.equal(again.status, 304)
  }
})

test('no path leads out of the static files', async () => {
  for (const path of [
    '/static/../package.json',
    '/static/..%2fpackage.json',
    '/static/%2e%2e/package.json',
    '/static/',
    '/static/css',
    '/static/__proto__',
  ]) {
    assert.equal((await visitor.get(`${server.url}${path}`)).status, 404, path)
  }
})

test('what is over a bound is refused by name', async () => {
  const long = await visitor.get(`${server.url}/${'a'.repeat(5_000)}`)
  assert.equal(long.status, 414)
  const headers = { 'sec-fetch-site': 'same-origin', origin: server.url, accept: 'application/json' }
  const large = await visitor.post(`${server.url}/logout`, { x: 'y'.repeat(70_000) }, headers)
  assert.equal(large.status, 413)
  assert.equal(JSON.parse(large.text).error, 'too-large')
  const kind = await visitor.send('POST', `${server.url}/logout`, { body: '<a/>', headers: { ...headers, 'content-type': 'text/xml' } })
  assert.equal(kind.status, 415)
  const next = await visitor.get(`${server.url}/login?next=${'a'.repeat(1_100)}`, { headers: { accept: 'application/json' } })
  assert.equal(next.status, 400)
})

test('addresses that cannot be decoded are refused, not broken', async () => {
  for (const path of ['/%', '/a/%zz', '/settings/sessions/%00/end', '/%c0%af']) {
    const answer = await visitor.get(`${server.url}${path}`)
    assert(answer.status >= 400 && answer.status < 500, `${path}: ${answer.status}`)
    assert.doesNotMatch(answer.text, leak)
  }
})
