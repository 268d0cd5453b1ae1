import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import type { LookupFunction } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createGuardedFetch, type GuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { UpstreamError } from '../../src/atproto/upstream-error.ts'
import { type HttpServer, serveHttp } from '../support/http-server.ts'
import { until } from '../support/until.ts'
import { because } from './because.ts'

async function setUp(
  t: TestContext,
  listener: RequestListener,
  options: { lookup?: LookupFunction } = {},
): Promise<{ fetch: GuardedFetch; server: HttpServer }> {
  const server = await serveHttp(listener)
  const fetch = createGuardedFetch({ allowLoopback: true, ...options })
  t.after(async () => {
    fetch.close()
    await server.close()
  })
  return { fetch, server }
}

/** A name service that says what a hostile one would. */
function names(...addresses: string[]): LookupFunction {
  return (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
}

const KB = { maxBytes: 1024 }

test('STO-9 an answer is given with status, headers and body', async t => {
  const { fetch, server } = await setUp(t, (request, response) => {
    response.writeHead(418, { 'x-method': request.method ?? '', 'content-type': 'application/json' })
    request.pipe(response)
  })
  const answer = await fetch(server.url, { ...KB, method: 'POST', body: '{"a":[1]}', headers: { 'content-type': 'application/json' } })
  assert.equal(answer.status, 418)
  assert.equal(answer.host, server.host)
  assert.equal(answer.headers.get('x-method'), 'POST')
  assert.deepEqual(await answer.json(), { a: [1] })
})

test('STO-9 private addresses are refused as they stand in an address, in every spelling', async () => {
  const fetch = createGuardedFetch({ allowLoopback: true })
  for (const host of [
    '10.0.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '[fd00::1]',
    '[fe80::1]',
    '0xa000001',
    '167772161',
    '[::ffff:10.0.0.1]',
    '0.0.0.0',
  ]) {
    await assert.rejects(fetch(`https://${host}/`, KB), because('private-address'), host)
  }
})

test('STO-9 loopback is refused unless it was allowed, by number, by name and by what a name resolves to', async t => {
  const { server } = await setUp(t, (_request, response) => response.end())
  const strict = createGuardedFetch({ allowLoopback: false })
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.1']) {
    await assert.rejects(strict(`http://${host}:${server.port}/`, KB), because('private-address'), host)
    await assert.rejects(strict(`https://${host}:${server.port}/`, KB), because('private-address'), host)
  }
  const fooled = createGuardedFetch({ allowLoopback: false, lookup: names('127.0.0.1') })
  await assert.rejects(fooled('https://public.example.com/', KB), because('private-address'))
})

test('STO-9 a name is refused when only one of its addresses is private', async () => {
  const fetch = createGuardedFetch({ allowLoopback: true, lookup: names('8.8.8.8', '10.0.0.1') })
  await assert.rejects(fetch('https://both.example.com/', KB), because('private-address'))
})

test('STO-9 the address connected to is the one that was checked', async t => {
  let asked = 0
  const rebinding: LookupFunction = (hostname, options, callback) => {
    asked += 1
    names(asked === 1 ? '127.0.0.1' : '10.0.0.1')(hostname, options, callback)
  }
  const { fetch, server } = await setUp(t, (_request, response) => response.end('here'), { lookup: rebinding })
  const answer = await fetch(`http://changing.example.com:${server.port}/`, KB)
  assert.equal(Buffer.from(await answer.bytes()).toString(), 'here')
  assert.equal(asked, 1)
})

test('STO-9 plain http is spoken on loopback only, and nothing but http at all', async () => {
  const fetch = createGuardedFetch({ allowLoopback: true, lookup: names('8.8.8.8') })
  for (const url of ['http://8.8.8.8/', 'http://example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'no address']) {
    await assert.rejects(fetch(url, KB), because('refused'), url)
  }
})

test('STO-9 nobody there, no such name: refused', async t => {
  const { fetch, server } = await setUp(t, (_request, response) => response.end())
  await server.close()
  await assert.rejects(fetch(server.url, KB), because('refused'))
  const nameless: LookupFunction = (_hostname, _options, callback) =>
    callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])
  await assert.rejects(createGuardedFetch({ allowLoopback: true, lookup: nameless })('https://nobody.example.com/', KB), because('refused'))
})

test('STO-9 a redirect is followed on the same host only, a few times only, and for reads only', async t => {
  let elsewhere = 0
  const other = await serveHttp((_request, response) => {
    elsewhere += 1
    response.end('elsewhere')
  })
  t.after(() => other.close())
  const { fetch, server } = await setUp(t, (request, response) => {
    const to = { '/near': '/there', '/far': other.url, '/loop': '/loop', '/inside': 'http://10.0.0.1/', '/nonsense': 'http://:::' }[
      request.url ?? ''
    ]
    if (to === undefined) response.end('there')
    else response.writeHead(302, { location: to }).end()
  })
  assert.equal(Buffer.from(await (await fetch(`${server.url}/near`, KB)).bytes()).toString(), 'there')
  for (const path of ['/far', '/loop', '/inside', '/nonsense'])
    await assert.rejects(fetch(server.url + path, KB), because('redirect'), path)
  await assert.rejects(fetch(`${server.url}/near`, { ...KB, method: 'POST' }), because('redirect'))
  assert.equal(elsewhere, 0)
})

test('STO-9 a body over the bound is refused: announced before it is read, unannounced when it gets there', async t => {
  let endless = 0
  const { fetch, server } = await setUp(t, (request, response) => {
    if (request.url === '/announced') response.writeHead(200, { 'content-length': '2048' }).end(Buffer.alloc(2048))
    else if (request.url === '/exact') response.end(Buffer.alloc(1024))
    else {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(512))) endless += 512
      }
      response.on('drain', more)
      more()
    }
  })
  await assert.rejects(fetch(`${server.url}/announced`, KB), because('too-large'))
  assert.equal((await (await fetch(`${server.url}/exact`, KB)).bytes()).length, 1024)
  const answer = await fetch(`${server.url}/endless`, KB)
  await assert.rejects(answer.bytes(), because('too-large'))
  assert.ok(endless < 2 ** 22, 'and the rest is not taken')
})

test('STO-9 no first byte in time is a timeout', async t => {
  const { fetch, server } = await setUp(t, () => undefined)
  await assert.rejects(fetch(server.url, { ...KB, firstByteMs: 50 }), because('timeout'))
})

test('STO-9 a body that drips for ever is a timeout in all', async t => {
  const { fetch, server } = await setUp(t, (_request, response) => {
    response.write('a')
    const drip = setInterval(() => response.write('a'), 5)
    response.on('close', () => clearInterval(drip))
  })
  await assert.rejects(async () => await (await fetch(server.url, { ...KB, totalMs: 80 })).bytes(), because('timeout'))
})

test('STO-9 redirects do not start the clock again', async t => {
  let hops = 0
  const { fetch, server } = await setUp(t, (_request, response) => {
    hops += 1
    setTimeout(() => response.writeHead(302, { location: '/on' }).end(), 60)
  })
  await assert.rejects(fetch(server.url, { ...KB, totalMs: 100 }), because('timeout'))
  assert.ok(hops <= 2)
})

test('a connection that breaks off in the middle is refused, not an end', async t => {
  const { fetch, server } = await setUp(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  })
  await assert.rejects(
    async () => await (await fetch(server.url, KB)).bytes(),
    error => error instanceof UpstreamError && error.reason === 'refused' && error.host === server.host,
  )
})

test('a body that is no JSON is a bad answer', async t => {
  const { fetch, server } = await setUp(t, (_request, response) => response.end('<html>'))
  await assert.rejects((await fetch(server.url, KB)).json(), because('bad-answer'))
})

test('the caller’s signal stops it before, during and after the first byte, with the caller’s reason', async t => {
  const { fetch, server } = await setUp(t, (request, response) => {
    if (request.url === '/body') response.write('a')
  })
  const reason = new Error('enough')
  await assert.rejects(fetch(server.url, { ...KB, signal: AbortSignal.abort(reason) }), reason)
  const during = new AbortController()
  const silent = fetch(server.url, { ...KB, signal: during.signal })
  during.abort(reason)
  await assert.rejects(silent, reason)
  const after = new AbortController()
  const answer = await fetch(`${server.url}/body`, { ...KB, signal: after.signal })
  after.abort(reason)
  await assert.rejects(answer.bytes(), reason)
})

test('leaving the body early closes the connection, and an unread body ends nothing', async t => {
  let open = 0
  const { fetch, server } = await setUp(t, (_request, response) => {
    open += 1
    response.on('close', () => {
      open -= 1
    })
    response.write(Buffer.alloc(1024))
  })
  for await (const chunk of (await fetch(server.url, { maxBytes: 2 ** 20 })).body) {
    assert.ok(chunk.length > 0)
    break
  }
  ;(await fetch(server.url, { maxBytes: 2 ** 20 })).cancel()
  await until(() => open === 0)
})

test('a kept-open connection that the server has closed is no failure', async t => {
  const ports = new Set<number | undefined>()
  const { fetch, server } = await setUp(t, (request, response) => {
    const known = ports.has(request.socket.remotePort)
    ports.add(request.socket.remotePort)
    if (known) request.socket.destroy()
    else response.end('fresh')
  })
  for (let i = 0; i < 3; i++) assert.equal(Buffer.from(await (await fetch(server.url, KB)).bytes()).toString(), 'fresh')
})

test('two kept-open connections that end, one after the other, are a failure of the server like any other', async t => {
  const ports = new Set<number | undefined>()
  const { fetch, server } = await setUp(t, (request, response) => {
    const known = ports.has(request.socket.remotePort)
    ports.add(request.socket.remotePort)
    if (known) request.socket.destroy()
    else setTimeout(() => response.end('fresh'), 30)
  })
  const both = await Promise.all([fetch(server.url, KB), fetch(server.url, KB)])
  await Promise.all(both.map(answer => answer.bytes()))
  await assert.rejects(fetch(server.url, KB), because('refused'))
})

test('a failure names the host and what was wrong, never path, query or token', async t => {
  const { fetch, server } = await setUp(t, (_request, response) =>
    response.writeHead(302, { location: 'https://elsewhere.example/?token=secret' }).end(),
  )
  await assert.rejects(fetch(`${server.url}/secret?token=secret`, { ...KB, headers: { authorization: 'secret' } }), error => {
    assert.ok(error instanceof UpstreamError)
    assert.equal(error.message, `${server.host}: points elsewhere`)
    return true
  })
})
