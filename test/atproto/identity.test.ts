import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { after, before, type TestContext, test } from 'node:test'
import { createGuardedFetch, type GuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity, type Identity } from '../../src/atproto/identity.ts'
import { type Did, parseDid } from '../../src/atproto/ids.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { type HttpServer, serveHttp } from '../support/http-server.ts'
import { because } from './because.ts'

let network: Network
let fetch: GuardedFetch
let time = Date.UTC(2026, 10, 30, 12)
const now = (): number => time

before(async () => {
  network = await startNetwork()
  fetch = createGuardedFetch({ allowLoopback: true })
})
after(async () => {
  fetch.close()
  await network.stop()
})

function local(): Identity {
  return createIdentity({ plcUrl: network.plcUrl, handleResolver: network.pdsUrl, fetch, now })
}

function did(text: string): Did {
  const parsed = parseDid(text)
  assert.ok(parsed, text)
  return parsed
}

/** A directory and handle service that says what the test wants, and counts. */
async function madeUp(t: TestContext, listener: RequestListener, timeoutMs = 5_000): Promise<{ identity: Identity; server: HttpServer }> {
  const server = await serveHttp(listener)
  t.after(() => server.close())
  const identity = createIdentity({ plcUrl: server.url, handleResolver: server.url, fetch, now, ttlMs: 60_000, timeoutMs })
  return { identity, server }
}

const made = did('did:plc:ewvi7nxzyoun6zhxrhs64oiz')

function document(handle: string, pds = 'https://pds.example.com'): string {
  return JSON.stringify({
    id: made,
    alsoKnownAs: [`at://${handle}`],
    service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: pds }],
  })
}

test('an account of a real directory: server, key, and a handle that holds both ways', async () => {
  const alice = await network.createAccount('alice.test')
  const identity = local()
  const account = await identity.resolveDid(did(alice.did))
  assert.equal(account?.handle, 'alice.test')
  assert.equal(account?.pds, network.pdsUrl)
  assert.match(account?.signingKey ?? '', /^did:key:z/)
  assert.equal(await identity.resolveHandle('alice.test'), alice.did)
})

test('a DID and a handle that nobody has are undefined, not an error', async () => {
  const identity = local()
  assert.equal(await identity.resolveDid(made), undefined)
  assert.equal(await identity.resolveHandle('nobody.test'), undefined)
  assert.equal(
    await identity.resolveDid(did('did:web:localhost%3A1')).catch(error => error.reason),
    'refused',
    'but a host that is down is one',
  )
})

test('a handle counts only when it points back: claimed by another, it is nobody’s', async t => {
  const { identity } = await madeUp(t, (request, response) => {
    if (request.url?.startsWith('/xrpc/')) response.end(JSON.stringify({ did: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa' }))
    else if (request.url?.includes('ewvi7')) response.end(document('alice.test'))
    else response.writeHead(404).end()
  })
  const account = await identity.resolveDid(made)
  assert.equal(account?.handle, undefined)
  assert.equal(account?.claimedHandle, 'alice.test')
  assert.equal(account?.pds, 'https://pds.example.com')
  assert.equal(await identity.resolveHandle('alice.test'), undefined)
})

test('a handle that points to an account which does not name it is nobody’s', async t => {
  const { identity } = await madeUp(t, (request, response) => {
    if (request.url?.startsWith('/xrpc/')) response.end(JSON.stringify({ did: made }))
    else response.end(document('other.test'))
  })
  assert.equal(await identity.resolveHandle('alice.test'), undefined)
  assert.equal(await identity.resolveHandle('other.test'), made)
})

test('a handle that cannot be looked up now leaves the account usable, without a handle', async t => {
  const { identity } = await madeUp(t, (request, response) => {
    if (request.url?.startsWith('/xrpc/')) response.writeHead(503).end()
    else response.end(document('alice.test'))
  })
  const account = await identity.resolveDid(made)
  assert.equal(account?.handle, undefined)
  assert.equal(account?.handleUnread, true)
  assert.equal((await identity.resolveDocument(made))?.claimedHandle, 'alice.test')
  await assert.rejects(identity.resolveHandle('alice.test'), because('status'))
})

test('a directory that fails, is slow or lies is an error of its own, never "no such account"', async t => {
  const answers: Record<string, RequestListener> = {
    down: (_request, response) => response.writeHead(502).end(),
    slow: () => undefined,
    garbage: (_request, response) => response.end('<html>'),
    another: (_request, response) => response.end(document('a.test').replaceAll(made, 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa')),
    huge: (_request, response) => response.end(Buffer.alloc(2 ** 20, ' ')),
  }
  const reasons = { down: 'status', slow: 'timeout', garbage: 'bad-answer', another: 'bad-answer', huge: 'too-large' } as const
  for (const [name, reason] of Object.entries(reasons)) {
    const { identity } = await madeUp(t, answers[name] ?? (() => undefined), name === 'slow' ? 100 : 5_000)
    await assert.rejects(identity.resolveDid(made), because(reason), name)
  }
})

test('a DID that was given up is no account', async t => {
  const { identity } = await madeUp(t, (_request, response) => response.writeHead(410).end('{"message":"DID not available"}'))
  assert.equal(await identity.resolveDid(made), undefined)
})

test('did:web is read from its host', async t => {
  const server: HttpServer = await serveHttp((request, response) => {
    const id = `did:web:localhost%3A${server.port}`
    if (request.url !== '/.well-known/did.json') response.writeHead(404).end()
    else
      response.end(
        JSON.stringify({ id, service: [{ id: '#knotless_appview', type: 'KnotlessAppView', serviceEndpoint: 'https://q.example.com' }] }),
      )
  })
  t.after(() => server.close())
  const id = did(`did:web:localhost%3A${server.port}`)
  const account = await local().resolveDid(id)
  assert.deepEqual(account, {
    did: id,
    services: [{ id: `${id}#knotless_appview`, type: 'KnotlessAppView', url: 'https://q.example.com' }],
  })
})

test('STO-9 a did:web cannot be pointed at a private address', async () => {
  const strict = createGuardedFetch({ allowLoopback: false })
  const identity = createIdentity({ plcUrl: 'https://plc.example.com', fetch: strict, now })
  await assert.rejects(identity.resolveDid(did('did:web:10.0.0.1')), because('private-address'))
  await assert.rejects(identity.resolveDid(did('did:web:localhost%3A2590')), because('private-address'))
})

test('an answer is remembered for its time, asked once by many, and forgotten when told so', async t => {
  let asked = 0
  const { identity } = await madeUp(t, (request, response) => {
    if (request.url?.startsWith('/xrpc/')) response.end(JSON.stringify({ did: made }))
    else {
      asked += 1
      response.end(document('alice.test', `https://pds${asked}.example.com`))
    }
  })
  const all = await Promise.all(Array.from({ length: 20 }, () => identity.resolveDid(made)))
  assert.equal(new Set(all.map(account => account?.pds)).size, 1)
  assert.equal(asked, 1)
  time += 59_000
  await identity.resolveDid(made)
  assert.equal(asked, 1)
  time += 2_000
  assert.equal((await identity.resolveDid(made))?.pds, 'https://pds2.example.com')
  await identity.resolveDid(made, { fresh: true })
  assert.equal(asked, 2, 'an answer of a moment ago is fresh')
  time += 6_000
  await identity.resolveDid(made, { fresh: true })
  assert.equal(asked, 3)
  identity.forget(made)
  await identity.resolveDid(made)
  assert.equal(asked, 4)
})

test('what was forgotten while it was being asked for is not remembered', async t => {
  let asked = 0
  const { identity } = await madeUp(t, (request, response) => {
    if (request.url?.startsWith('/xrpc/')) return void response.end(JSON.stringify({ did: made }))
    asked += 1
    if (asked > 1) return void response.end(document('alice.test', 'https://new.example.com'))
    identity.forget(made)
    response.end(document('alice.test', 'https://old.example.com'))
  })
  assert.equal((await identity.resolveDocument(made))?.pds, 'https://old.example.com')
  assert.equal((await identity.resolveDocument(made))?.pds, 'https://new.example.com')
})

test('"no such account" is remembered for a short while, a failure not at all', async t => {
  let asked = 0
  let status = 404
  const { identity } = await madeUp(t, (_request, response) => {
    asked += 1
    response.writeHead(status).end()
  })
  await identity.resolveDid(made)
  await identity.resolveDid(made)
  assert.equal(asked, 1)
  time += 3_100
  status = 500
  await assert.rejects(identity.resolveDid(made), because('status'))
  await assert.rejects(identity.resolveDid(made), because('status'))
  assert.equal(asked, 3)
})

test('only so many answers are remembered', async t => {
  let asked = 0
  const server = await serveHttp((_request, response) => {
    asked += 1
    response.writeHead(404).end()
  })
  t.after(() => server.close())
  const identity = createIdentity({ plcUrl: server.url, fetch, now, maxEntries: 2 })
  const three = ['a', 'b', 'c'].map(letter => did(`did:plc:${letter.repeat(24)}`))
  for (const one of [...three, ...three]) await identity.resolveDocument(one)
  assert.equal(asked, 6)
})
