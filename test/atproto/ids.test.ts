import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAtUri, parseAtUri, parseDid, parseHandle, parseNsid, parseRecordKey, parseTid, repoUri } from '../../src/atproto/ids.ts'

const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'

test('a DID is one of an account: plc or web', () => {
  for (const good of [did, 'did:web:example.com', 'did:web:localhost%3A2590']) assert.equal(parseDid(good), good)
  const bad = [
    '',
    'did:plc:short',
    `${did}a`,
    'did:key:zQ3sh',
    'did:web:example.com:path',
    'did:web:',
    'did:web:a/b',
    'alice.test',
    7,
    null,
    undefined,
  ]
  for (const one of bad) assert.equal(parseDid(one), undefined, String(one))
})

test('a handle is read in lower case and without its @, and one that can be nobody’s is none', () => {
  assert.equal(parseHandle('@Alice.Test'), 'alice.test')
  for (const bad of ['alice', 'handle.invalid', 'a.local', 'a..test', 'a.test/x', '', 7, undefined])
    assert.equal(parseHandle(bad), undefined, String(bad))
})

test('REC-12 an AT-URI counts with a DID only, and names collection and key', () => {
  assert.deepEqual(parseAtUri(`at://${did}/dev.knotless.repo/orchard`), { did, collection: 'dev.knotless.repo', rkey: 'orchard' })
  const bad = [
    'at://alice.test/dev.knotless.repo/orchard',
    `at://${did}`,
    `at://${did}/dev.knotless.repo`,
    `at://${did}/dev.knotless.repo/orchard/more`,
    `at://${did}/dev.knotless.repo/orchard#/title`,
    `at://${did}/dev.knotless.repo/orchard?x=1`,
    `at://${did}/dev.knotless.repo/..`,
    `at://${did}/dev.knotless.repo/a b`,
    `at://${did}/repo/orchard`,
    `https://example.com/${did}`,
    '',
    undefined,
    {},
  ]
  for (const one of bad) assert.equal(parseAtUri(one), undefined, String(one))
})

test('an address made is read back as its parts', () => {
  const owner = parseDid(did)
  const collection = parseNsid('dev.knotless.pull')
  const key = parseRecordKey('3jzfcijpj2z2a')
  assert.ok(owner && collection && key)
  assert.deepEqual(parseAtUri(makeAtUri(owner, collection, key)), { did, collection, rkey: key })
  assert.equal(repoUri(owner, 'orchard'), `at://${did}/dev.knotless.repo/orchard`)
})

test('keys and collection names that are none are undefined', () => {
  assert.equal(parseTid('3jzfcijpj2z2a'), '3jzfcijpj2z2a')
  for (const bad of ['3jzfcijpj2z2', 'zzzzzzzzzzzzz', '3JZFCIJPJ2Z2A', undefined]) assert.equal(parseTid(bad), undefined)
  for (const bad of ['dev', 'dev.knotless', 'dev.knotless.1x', 9]) assert.equal(parseNsid(bad), undefined)
  for (const bad of ['', '.', '..', 'a/b', 'a%20b', 'x'.repeat(513)]) assert.equal(parseRecordKey(bad), undefined)
})
