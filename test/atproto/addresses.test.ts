import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressKind } from '../../src/atproto/addresses.ts'

const kinds = {
  public: ['8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.1', '100.63.255.255', '100.128.0.0', '2606:4700::1111', '2a00:1450::1'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  private: [
    ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '100.127.255.255', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['192.0.0.8', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...['::', 'fe80::1', 'fe80::1%eth0', 'fd00::1', 'fc00::1', 'ff02::1', '64:ff9b::a00:1', '2002:a00:1::', '2001::1', '2001:db8::1'],
    ...['::ffff:10.0.0.1', '::ffff:8.8.8.8', 'fec0::1', '100::1'],
    ...['', 'localhost', '127.1', '0x7f000001', '2130706433', 'example.com'],
  ],
} as const

for (const [kind, addresses] of Object.entries(kinds)) {
  test(`STO-9 addresses that are ${kind}`, () => {
    for (const address of addresses) assert.equal(addressKind(address), kind, address)
  })
}
