import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/server/config.ts'

const whole = {
  KNOTLESS_PUBLIC_URL: 'https://queue.example.org/',
  KNOTLESS_DB: '/var/lib/knotless/knotless.sqlite',
  KNOTLESS_DATA: '/var/lib/knotless',
  KNOTLESS_JETSTREAM: 'wss://jetstream.example.org/subscribe',
  KNOTLESS_SECRET: '0123456789abcdef0123456789abcdef',
}

function fault(changes: Record<string, string | undefined>): string {
  const read = readConfig({ ...whole, ...changes })
  assert.equal(read.ok, false, 'the configuration was taken')
  return read.ok ? '' : read.fault
}

test('a whole configuration is taken, with defaults for the rest', () => {
  const read = readConfig(whole)
  assert(read.ok)
  assert.equal(read.config.publicUrl, 'https://queue.example.org')
  assert.equal(read.config.did, 'did:web:queue.example.org')
  assert.equal(read.config.port, 2590)
  assert.equal(read.config.host, '127.0.0.1')
  assert.equal(read.config.plcUrl, 'https://plc.directory')
  assert.equal(read.config.allowLoopback, false)
  assert.equal(read.config.metrics, undefined)
  assert.equal(read.config.stallAfterMs, 3_600_000)
  assert.deepEqual(read.config.trustProxy, ['loopback'])
})

test('a loopback server has a DID with its port, and trusts no proxy', () => {
  const read = readConfig({
    ...whole,
    KNOTLESS_PUBLIC_URL: 'http://127.0.0.1:2590',
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_METRICS: '9464',
  })
  assert(read.ok)
  assert.equal(read.config.did, 'did:web:localhost%3A2590')
  assert.equal(read.config.loopback, true)
  assert.deepEqual(read.config.trustProxy, [])
  assert.deepEqual(read.config.metrics, { host: '127.0.0.1', port: 9464 })
})

test('a missing variable is named with what it wants, in one line', () => {
  for (const name of Object.keys(whole)) {
    const line = fault({ [name]: undefined })
    assert.match(line, new RegExp(`^${name} is missing: it wants \\S`))
    assert(!line.includes('\n'))
    assert.equal(line, fault({ [name]: '' }), 'empty is missing')
  }
  assert.match(fault({ KNOTLESS_DB: undefined, KNOTLESS_DATA: undefined }), /^KNOTLESS_DB is missing.*also at fault: KNOTLESS_DATA\)$/)
})

test('a wrong variable is named with what it wants, and its value is not repeated', () => {
  const wrong = {
    KNOTLESS_PUBLIC_URL: 'queue.example.org',
    KNOTLESS_DID: 'queue.example.org',
    PORT: '70000',
    KNOTLESS_JETSTREAM: 'https://jetstream.example.org',
    KNOTLESS_RELAY: 'ftp://relay.example.org',
    KNOTLESS_PLC: 'plc',
    KNOTLESS_HANDLE_RESOLVER: '??',
    KNOTLESS_ALLOW_LOOPBACK: 'yes',
    KNOTLESS_SECRET: 'too short',
    KNOTLESS_METRICS: 'somewhere',
    KNOTLESS_STALL_AFTER: '0',
    KNOTLESS_TRUST_PROXY: 'the proxy',
    KNOTLESS_RATE_LIMIT: '-1',
    KNOTLESS_LOG: 'loud',
  }
  for (const [name, value] of Object.entries(wrong)) {
    const line = fault({ [name]: value })
    assert.match(line, new RegExp(`^${name} is not right: it wants \\S`))
    if (name === 'KNOTLESS_SECRET') assert(!line.includes(value))
  }
})

test('the public address is an origin, https off loopback, and no localhost', () => {
  for (const url of [
    'http://queue.example.org',
    'https://queue.example.org/path',
    'https://user@queue.example.org',
    'http://localhost:2590',
  ]) {
    assert.match(fault({ KNOTLESS_PUBLIC_URL: url }), /^KNOTLESS_PUBLIC_URL/)
  }
})

test('loopback account servers are refused to a public server', () => {
  assert.match(fault({ KNOTLESS_ALLOW_LOOPBACK: '1' }), /^KNOTLESS_ALLOW_LOOPBACK/)
})

test('PostgreSQL is said not to be there yet', () => {
  assert.match(fault({ KNOTLESS_DB: 'postgres://localhost/knotless' }), /^KNOTLESS_DB: PostgreSQL is not there yet/)
})
