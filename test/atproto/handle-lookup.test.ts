import assert from 'node:assert/strict'
import type { LookupFunction } from 'node:net'
import { test } from 'node:test'
import { createGuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createNetworkLookup } from '../../src/atproto/handle-lookup.ts'

const alice = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'
const nameless: LookupFunction = (_hostname, _options, callback) =>
  callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])
const inside: LookupFunction = (_hostname, _options, callback) => callback(null, [{ address: '10.0.0.1', family: 4 }])

function lookUp(records: string[][] | Error, lookup = nameless) {
  const fetch = createGuardedFetch({ allowLoopback: false, lookup })
  const asked: string[] = []
  const txt = async (name: string): Promise<string[][]> => {
    asked.push(name)
    if (records instanceof Error) throw records
    return records
  }
  return { resolve: createNetworkLookup({ fetch, timeoutMs: 200, txt }), asked }
}

test('a handle points where its DNS record says, in pieces or whole', async () => {
  const { resolve, asked } = lookUp([['unrelated'], ['did=', alice]])
  assert.equal(await resolve('alice.example.com'), alice)
  assert.deepEqual(asked, ['_atproto.alice.example.com'])
})

test('two DNS records, one that is no DID, or none at all: the handle points nowhere', async () => {
  const other = 'did=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa'
  for (const records of [[[`did=${alice}`], [other]], [['did=nonsense']], [], new Error('no such name')]) {
    assert.equal(await lookUp(records).resolve('alice.example.com'), undefined)
  }
})

test('STO-9 a handle whose host is a private address is not asked', async () => {
  assert.equal(await lookUp([], inside).resolve('alice.example.com'), undefined)
})
