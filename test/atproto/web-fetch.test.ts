import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createGuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { asWebFetch } from '../../src/atproto/web-fetch.ts'
import { serveHttp } from '../support/http-server.ts'
import { because } from './because.ts'

async function setUp(t: TestContext) {
  const server = await serveHttp((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/' }).end()
    else if (request.url === '/none') response.writeHead(204).end()
    else {
      response.writeHead(200, { 'x-method': request.method ?? '', 'x-type': request.headers['content-type'] ?? '' })
      request.pipe(response)
    }
  })
  const guarded = createGuardedFetch({ allowLoopback: true })
  t.after(async () => {
    guarded.close()
    await server.close()
  })
  return { server, fetch: asWebFetch(guarded, { maxBytes: 1024 }) }
}

test('STO-9 libraries that want a fetch get the guarded one: method, headers and body go through', async t => {
  const { server, fetch } = await setUp(t)
  const form = await fetch(server.url, { method: 'POST', body: new URLSearchParams({ a: '1' }) })
  assert.equal(await form.text(), 'a=1')
  assert.match(form.headers.get('x-type') ?? '', /x-www-form-urlencoded/)
  const made = await fetch(new Request(server.url, { method: 'PUT', body: 'text' }))
  assert.deepEqual([made.headers.get('x-method'), await made.text()], ['PUT', 'text'])
  assert.equal((await fetch(`${server.url}/none`)).status, 204)
  assert.equal((await fetch(server.url, { method: 'HEAD' })).status, 200)
})

test('STO-9 its bounds hold, and a caller that wants no redirect gets none', async t => {
  const { server, fetch } = await setUp(t)
  await assert.rejects(fetch(server.url, { method: 'POST', body: 'x'.repeat(2_000) }), because('too-large'))
  await assert.rejects(fetch('https://10.0.0.1/'), because('private-address'))
  assert.equal((await fetch(`${server.url}/moved`)).status, 200)
  for (const redirect of ['error', 'manual'] as const) await assert.rejects(fetch(`${server.url}/moved`, { redirect }), because('redirect'))
  const reason = new Error('enough')
  await assert.rejects(fetch(server.url, { signal: AbortSignal.abort(reason) }), reason)
})
