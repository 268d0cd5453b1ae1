import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from './serve.ts'
import { tokenOn, Visitor } from './visitor.ts'

test('too many requests are refused by name, with when to come again', async () => {
  const server = await serve(undefined, { env: { KNOTLESS_RATE_LIMIT: '10' } })
  const visitor = new Visitor()
  try {
    for (let n = 0; n < 10; n++) assert.equal((await visitor.get(`${server.url}/nowhere`)).status, 404)
    const page = await visitor.get(`${server.url}/nowhere`)
    assert.equal(page.status, 429)
    assert.match(page.text, /Too many requests from you just now/)
    const wait = Number(page.headers['retry-after'])
    assert(wait > 0 && wait <= 60, `wait ${wait}`)
    const xrpc = await visitor.get(`${server.url}/xrpc/dev.knotless.listQueues`)
    assert.equal(xrpc.status, 429)
    assert.equal(JSON.parse(xrpc.text).error, 'RateLimited')
    assert.equal(xrpc.headers['access-control-allow-origin'], '*')
    assert.equal((await visitor.get(`${server.url}/healthz`)).status, 503, 'who watches the process is not limited')
  } finally {
    await server.end()
  }
})

test('logging in has a tighter bound of its own, over all its steps', async () => {
  const server = await serve(undefined, { env: { KNOTLESS_RATE_LIMIT: '100' } })
  const visitor = new Visitor()
  try {
    const token = tokenOn((await visitor.get(`${server.url}/login`)).text)
    for (let n = 0; n < 4; n++) {
      assert.equal((await visitor.post(`${server.url}/login`, { handle: '???', _csrf: token })).status, 400)
    }
    assert.equal((await visitor.get(`${server.url}/login/start?handle=x`)).status, 400)
    assert.equal((await visitor.post(`${server.url}/login`, { handle: '???', _csrf: token })).status, 429)
    assert.equal((await visitor.get(`${server.url}/login`)).status, 200, 'the form itself is a page like others')
  } finally {
    await server.end()
  }
})

test('behind a proxy each address has its own bound, and on loopback nobody can claim another', async () => {
  const behind = await serve(undefined, { env: { KNOTLESS_RATE_LIMIT: '10', KNOTLESS_TRUST_PROXY: 'loopback' } })
  const direct = await serve(undefined, { env: { KNOTLESS_RATE_LIMIT: '10' } })
  const visitor = new Visitor()
  const statuses = async (url: string) => {
    const seen = new Set<number>()
    for (let n = 0; n < 15; n++) seen.add((await visitor.get(`${url}/nowhere`, { headers: { 'x-forwarded-for': `192.0.2.${n}` } })).status)
    return [...seen]
  }
  try {
    assert.deepEqual(await statuses(behind.url), [404])
    assert.deepEqual(await statuses(direct.url), [404, 429])
  } finally {
    await behind.end()
    await direct.end()
  }
})
