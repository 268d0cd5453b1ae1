import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { encodingFor } from '../../src/server/http/compression.ts'
import { createFormTokens } from '../../src/server/http/form-tokens.ts'
import { type Served, serve } from './serve.ts'

let server: Served
before(async () => {
  server = await serve()
})
after(() => server.end())

/** The bytes as they come over the wire. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }>((done, failed) => {
    request(server.url + path, { headers, method }, answer => {
      const pieces: Buffer[] = []
      answer.on('data', piece => pieces.push(piece))
      answer.on('end', () => done({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(pieces) }))
    })
      .on('error', failed)
      .end()
  })
}

test('pages and files are sent compressed to who takes that, and are the same', async () => {
  const css = [...server.context.renderer.assets.values()].find(asset => asset.name === 'css/knotless.css')?.url ?? ''
  for (const path of ['/', css, '/static/sprite.svg']) {
    const plain = await ask(path)
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.match(String(plain.headers.vary), /Accept-Encoding/)
    const zipped = await ask(path, { 'accept-encoding': 'gzip, deflate' })
    assert.equal(zipped.headers['content-encoding'], 'gzip')
    const packed = await ask(path, { 'accept-encoding': 'gzip, deflate, br, zstd' })
    assert.equal(packed.headers['content-encoding'], 'br')
    assert.equal(Number(packed.headers['content-length']), packed.bytes.length)
    const texts = [plain.bytes, gunzipSync(zipped.bytes), brotliDecompressSync(packed.bytes)].map(bytes =>
      bytes.toString().replace(/data-now="[^"]+"/, ''),
    )
    assert.equal(new Set(texts).size, 1, path)
    assert.ok(packed.bytes.length < plain.bytes.length / 2, path)
  }
})

test('a compressed file is known again by its tag', async () => {
  const packed = await ask('/static/sprite.svg', { 'accept-encoding': 'br' })
  assert.match(String(packed.headers.etag), /^W\/"/)
  const again = await ask('/static/sprite.svg', { 'accept-encoding': 'br', 'if-none-match': String(packed.headers.etag) })
  assert.deepEqual([again.status, again.bytes.length], [304, 0])
})

test('what is small, or not worth it, or only asked for by its headers is sent as it is', async () => {
  const headers = { 'accept-encoding': 'br, gzip' }
  assert.equal((await ask('/static/img/mark.svg', headers)).headers['content-encoding'], undefined)
  assert.equal((await ask('/favicon.ico', headers)).headers['content-encoding'], undefined)
  const head = await ask('/static/sprite.svg', headers, 'HEAD')
  assert.deepEqual([head.status, head.headers['content-encoding'], head.bytes.length], [200, undefined, 0])
})

test('the encoding is one that the reader takes', () => {
  const cases = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.000,gzip;q=0', undefined],
    ['*', 'br'],
    ['gzip, *;q=0', 'gzip'],
    ['x-gzip, brr', undefined],
    ['br;q=nonsense', undefined],
  ] as const
  for (const [accepted, encoding] of cases) assert.equal(encodingFor(accepted), encoding, accepted)
})

test('a form token is another each time, and belongs to one visit alone', () => {
  const tokens = createFormTokens(Buffer.alloc(32, 1))
  const mine = { kind: 'session', secret: 'a' } as const
  const [one, two] = [tokens.make(mine), tokens.make(mine)]
  assert.notEqual(one, two)
  for (const token of [one, two]) {
    assert.ok(tokens.matches(token, mine))
    assert.ok(!tokens.matches(token, { kind: 'form', secret: 'a' }))
    assert.ok(!tokens.matches(token, { kind: 'session', secret: 'b' }))
    assert.ok(!createFormTokens(Buffer.alloc(32, 2)).matches(token, mine))
  }
  for (const token of ['', one.slice(0, -2), `${one}AA`, one.slice(43) + one.slice(0, 43), 'x'.repeat(86), 7, undefined, null])
    assert.ok(!tokens.matches(token, mine))
})
