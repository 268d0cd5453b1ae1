import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

/** The server as it runs behind a proxy: a public https address, asked over plain http on loopback. */
const env = { KNOTLESS_PUBLIC_URL: 'https://queue.knotless.dev', KNOTLESS_ALLOW_LOOPBACK: '0' }
const publicUrl = env.KNOTLESS_PUBLIC_URL
const host = new URL(publicUrl).host
const visitor = new Visitor()
let server: Served

before(async () => {
  server = await serve(undefined, { env })
})
after(() => server?.end())

function get(path: string, headers: Record<string, string> = {}) {
  return visitor.get(`${server.url}${path}`, { headers: { host, ...headers } })
}

test('off loopback browsers are told to stay with https, and cookies go over nothing else', async () => {
  const page = await get('/login')
  assert.match(String(page.headers['strict-transport-security']), /max-age=31536000/)
  const [cookie = ''] = page.headers['set-cookie'] ?? []
  assert.match(cookie, /^__Host-knotless-form=/)
  assert.match(cookie, /; Secure/)
})

test('off loopback the OAuth client is a confidential one with metadata and public keys', async () => {
  const metadata = JSON.parse((await get('/oauth-client-metadata.json')).text)
  assert.equal(metadata.client_id, `${publicUrl}/oauth-client-metadata.json`)
  assert.deepEqual(metadata.redirect_uris, [`${publicUrl}/oauth/callback`])
  assert.match(metadata.scope, /^atproto repo:dev\.knotless\.queue\?action=create/)
  assert.equal(metadata.token_endpoint_auth_method, 'private_key_jwt')
  assert.equal(metadata.jwks_uri, `${publicUrl}/oauth/jwks.json`)
  assert.equal(metadata.dpop_bound_access_tokens, true)
  const delegation = JSON.parse((await get('/oauth-delegation-metadata.json')).text)
  assert.equal(delegation.client_id, `${publicUrl}/oauth-delegation-metadata.json`)
  assert.deepEqual(delegation.redirect_uris, [`${publicUrl}/oauth/delegation/callback`])
  assert.equal(delegation.scope, server.context.delegations.scope)
  assert.deepEqual([delegation.token_endpoint_auth_method, delegation.jwks_uri], ['private_key_jwt', metadata.jwks_uri])
  const { keys } = JSON.parse((await get('/oauth/jwks.json')).text)
  assert.equal(keys.length, 1)
  assert.equal(keys[0].kty, 'EC')
  assert.equal(keys[0].d, undefined, 'the private part stays here')
})

test('the client’s key is kept over restarts, readable by its owner only and not in the clear', async () => {
  const kid = JSON.parse((await get('/oauth/jwks.json')).text).keys[0].kid
  const path = join(server.dir, 'oauth-client-key')
  assert(readdirSync(server.dir).includes('oauth-client-key'))
  assert.equal(statSync(path).mode & 0o077, 0)
  assert(!readFileSync(path).includes('"d"'))
  const again = await serve(undefined, { env: { ...env, KNOTLESS_DATA: server.dir } })
  try {
    const answer = await visitor.get(`${again.url}/oauth/jwks.json`, { headers: { host } })
    assert.equal(JSON.parse(answer.text).keys[0].kid, kid)
  } finally {
    await again.end()
  }
  const other = serve(undefined, { env: { ...env, KNOTLESS_DATA: server.dir, KNOTLESS_SECRET: 'another secret of 32 letters and more' } })
  await assert.rejects(other, /made with another KNOTLESS_SECRET/)
})

test('off loopback a page is served at whatever name the proxy asks for', async () => {
  assert.equal((await get('/login', { host: 'localhost:1' })).status, 200)
})

test('the loopback client has no documents to serve', async () => {
  const local = await serve()
  try {
    for (const path of ['/oauth-client-metadata.json', '/oauth/jwks.json'])
      assert.equal((await visitor.get(`${local.url}${path}`)).status, 404)
  } finally {
    await local.end()
  }
})
