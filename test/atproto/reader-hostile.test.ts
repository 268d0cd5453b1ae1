import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { type TestContext, test } from 'node:test'
import { cidForRawBytes } from '@atproto/lex-data'
import { createGuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../src/atproto/identity.ts'
import type { Did } from '../../src/atproto/ids.ts'
import { createReader, type Reader } from '../../src/atproto/reader.ts'
import { serveHttp } from '../support/http-server.ts'
import { because } from './because.ts'

const did: Did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'
const other: Did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa'
const things = 'dev.example.thing'
const cid = 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454'

/** A reader of an account whose server answers as the test wants. */
async function readerOf(
  t: TestContext,
  listener: RequestListener,
  options: { pds?: (url: string) => unknown; now?: () => number } = {},
): Promise<Reader> {
  const server = await serveHttp((request, response) => {
    if (request.url?.startsWith('/xrpc/')) return listener(request, response)
    const serviceEndpoint = options.pds === undefined ? server.url : options.pds(server.url)
    response.end(JSON.stringify({ id: did, service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint }] }))
  })
  const fetch = createGuardedFetch({ allowLoopback: true })
  t.after(async () => {
    fetch.close()
    await server.close()
  })
  const now = options.now ?? Date.now
  return createReader({ identity: createIdentity({ plcUrl: server.url, fetch, now }), fetch, now })
}

/** Answers every question with this. */
function saying(body: unknown, status = 200): RequestListener {
  return (_request, response) => response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
}

function record(rkey: string, owner = did, collection = things) {
  return { uri: `at://${owner}/${collection}/${rkey}`, cid, value: { $type: collection } }
}

test('a record that is another than the one asked for is a bad answer', async t => {
  const lies = [
    record('other'),
    record('one', other),
    record('one', did, 'dev.example.other'),
    { ...record('one'), cid: 'none' },
    { ...record('one'), cid: undefined },
    [],
    null,
    'garbage',
    '',
    `${'['.repeat(1_000_000)}`,
  ]
  for (const lie of lies) {
    const reader = await readerOf(t, saying(lie))
    await assert.rejects(reader.getRecord(did, things, 'one'), because('bad-answer'), JSON.stringify(lie)?.slice(0, 80))
  }
})

test('what a record says beyond atproto’s data model is left for its lexicon to refuse', async t => {
  const value = { $type: things, number: 1.5, link: { $link: 'none' }, bytes: { $bytes: 7 }, constructor: { toString: 1 } }
  for (const one of [value, 'text', [1], null, 1e300]) {
    const reader = await readerOf(t, saying({ ...record('one'), value: one }))
    assert.deepEqual((await reader.getRecord(did, things, 'one'))?.value, one)
    assert.equal(
      (await (await readerOf(t, saying({ records: [{ ...record('one'), value: one }] }))).listRecords(did, things)).records.length,
      1,
    )
  }
})

test('of a list only what is the account’s own of that collection is taken', async t => {
  const records = [
    record('a'),
    record('b', other),
    record('c', did, 'dev.example.other'),
    { uri: 'nonsense' },
    7,
    null,
    { ...record('d'), cid: 1 },
    record('e'),
  ]
  const reader = await readerOf(t, saying({ records, cursor: 'more' }))
  const page = await reader.listRecords(did, things)
  assert.deepEqual(
    page.records.map(one => one.rkey),
    ['a', 'e'],
  )
  assert.equal(page.cursor, 'more')
})

test('a list that never ends ends', async t => {
  let asked = 0
  const reader = await readerOf(t, (_request, response) => {
    asked += 1
    response.end(JSON.stringify({ records: [record('a')], cursor: 'same' }))
  })
  assert.equal((await Array.fromAsync(reader.listAllRecords(did, things, { max: 1_000 }))).length, 2)
  assert.equal(asked, 2)
  const moving = await readerOf(t, (_request, response) => {
    asked += 1
    response.end(JSON.stringify({ records: [7], cursor: `c${asked}` }))
  })
  asked = 0
  assert.deepEqual(await Array.fromAsync(moving.listAllRecords(did, things, { max: 50 })), [])
  assert.equal(asked, 1)
})

test('STO-9 a blob whose bytes are not those of its CID ends in an error', async t => {
  const bytes = randomBytes(10_000)
  const wanted = (await cidForRawBytes(bytes)).toString()
  const lies = [randomBytes(10_000), bytes.subarray(0, 9_999), Buffer.concat([bytes, Buffer.from('x')]), Buffer.alloc(0)]
  for (const lie of lies) {
    const reader = await readerOf(t, (_request, response) => response.end(lie))
    const chunks = await reader.getBlob(did, wanted, { maxBytes: 20_000 })
    assert.ok(chunks)
    await assert.rejects(Array.fromAsync(chunks), because('bad-answer'))
  }
  const honest = await readerOf(t, (_request, response) => response.end(bytes))
  assert.equal(Buffer.concat(await Array.fromAsync((await honest.getBlob(did, wanted, { maxBytes: 20_000 })) ?? [])).length, 10_000)
})

test('STO-4 "blob not found" is told apart from every other refusal', async t => {
  const wanted = (await cidForRawBytes(randomBytes(10))).toString()
  const absent = [
    saying({ error: 'InvalidRequest', message: 'Blob not found' }, 400),
    saying({ error: 'BlobNotFound', message: 'none' }, 400),
    saying({ error: 'RepoNotFound', message: 'none' }, 400),
    saying('gone', 404),
  ]
  for (const answer of absent) assert.equal(await (await readerOf(t, answer)).getBlob(did, wanted, { maxBytes: 100 }), undefined)
  const failing = [
    saying({ error: 'InvalidRequest', message: 'Invalid cid' }, 400),
    saying('nonsense', 400),
    saying({}, 403),
    saying({}, 500),
    saying({}, 429),
  ]
  for (const answer of failing) await assert.rejects((await readerOf(t, answer)).getBlob(did, wanted, { maxBytes: 100 }), because('status'))
})

test('a server that asks to wait says for how long', async t => {
  const reader = await readerOf(t, (_request, response) => response.writeHead(429, { 'retry-after': '17' }).end())
  await assert.rejects(reader.getRecord(did, things, 'one'), (error: Error & { retryAfter?: number }) => error.retryAfter === 17)
})

test('an account whose document names no server, or none that can be asked, has none', async t => {
  for (const pds of [undefined, 'ftp://example.com', 'nonsense', 7, { a: 'https://example.com' }]) {
    const reader = await readerOf(t, saying(record('one')), { pds: () => pds })
    const read = await reader.getRecord(did, things, 'one').catch((error: Error & { reason?: string }) => error.reason)
    assert.ok(read === undefined || read === 'bad-answer', String(read))
  }
})

test('STO-9 an account’s document cannot point reads at a private address', async t => {
  for (const pds of ['https://10.0.0.1', 'http://169.254.169.254', 'https://[fd00::1]:8443']) {
    const reader = await readerOf(t, saying(record('one')), { pds: () => pds })
    await assert.rejects(reader.getRecord(did, things, 'one'), because('private-address'), pds)
    await assert.rejects(
      reader.getBlob(did, (await cidForRawBytes(randomBytes(9))).toString(), { maxBytes: 9 }),
      because('private-address'),
      pds,
    )
  }
})

test('the states of an account, and a description of it', async t => {
  const states: [unknown, string][] = [
    [{ did, active: true }, 'active'],
    [{ did, active: false, status: 'takendown' }, 'takendown'],
    [{ did, active: false, status: 'suspended' }, 'suspended'],
    [{ did, active: false, status: 'deleted' }, 'gone'],
    [{ did, active: false, status: 'something new' }, 'unknown'],
    [{ did, active: false }, 'unknown'],
  ]
  for (const [body, state] of states) assert.equal(await (await readerOf(t, saying(body))).getRepoStatus(did), state)
  await assert.rejects((await readerOf(t, saying({ did }))).getRepoStatus(did), because('bad-answer'))
  const described = await readerOf(t, saying({ did, collections: [things, 'nonsense', 'dev.knotless.pull'] }))
  assert.deepEqual(await described.describeRepo(did), { collections: [things, 'dev.knotless.pull'] })
})

test('a relay’s list leaves out what is no account', async t => {
  const server = await serveHttp(saying({ repos: [{ did }, { did: 'nobody' }, { did: other }], cursor: '' }))
  t.after(() => server.close())
  const reader = await readerOf(t, saying({}))
  assert.deepEqual(await reader.listReposByCollection(server.url, things), { dids: [did, other] })
})

test('REC-8 a server’s clock that is ahead shows in what is read', async t => {
  const now = (): number => Date.UTC(2026, 10, 30, 12)
  const reader = await readerOf(
    t,
    (_request, response) => response.writeHead(200, { date: 'Mon, 30 Nov 2026 12:02:00 GMT' }).end(JSON.stringify(record('one'))),
    { now },
  )
  await reader.getRecord(did, things, 'one')
  assert.equal(await reader.clockSkew(did), 120_000)
})

test('an account that has moved since it was looked up is read at its new server', async t => {
  const emptied = await serveHttp(saying({ error: 'RepoDeactivated', message: 'moved' }, 400))
  t.after(() => emptied.close())
  for (const old of ['http://127.0.0.1:9', emptied.url]) {
    let time = Date.now()
    let pds: string | undefined = old
    const reader = await readerOf(t, saying(record('one')), { pds: url => pds ?? url, now: () => time })
    await reader.clockSkew(did)
    pds = undefined
    time += 6_000
    assert.equal((await reader.getRecord(did, things, 'one'))?.rkey, 'one', old)
  }
})

test('an account that has not moved is asked for once', async t => {
  let asked = 0
  const reader = await readerOf(t, (_request, response) => {
    asked += 1
    response.writeHead(503).end()
  })
  await assert.rejects(reader.getRecord(did, things, 'one'), because('status'))
  assert.equal(asked, 1)
})
