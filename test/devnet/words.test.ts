import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkFile } from '../../src/devnet/demo/network-file.ts'
import { words } from '../../src/devnet/demo/words.ts'

const server = 'http://127.0.0.1:2590'
const file: NetworkFile = {
  plc: server,
  pds: server,
  jetstream: server,
  relay: server,
  faults: server,
  server,
  serverDid: 'did:web:localhost%3A2590',
  accounts: {},
  repos: [{ uri: 'at://did:plc:alice/dev.knotless.repo/orchard', name: 'orchard', owner: 'alice', forks: [], issue: 'at://x', pulls: {} }],
}
const told = (wait?: string) => words.welcome(file, '/tmp/demo', { delegating: false, wait })

test('what the demo offers to try is what its runner does', () => {
  assert.match(told('10s'), /watch its page \(a batch waits 10 s for more to join it\):\n.* land;/)
  assert.match(told('2m'), /a batch waits 2 m for more/)
  assert.match(told('0s'), /watch its page:\n.* land;/)
})

test('without a runner the demo offers nothing that only one does', () => {
  assert.doesNotMatch(told(), /land;|ejected|halving|a batch waits/)
  assert.match(told(), /add pulls to the merge queue: their boxes and its page say what they wait for/)
})
