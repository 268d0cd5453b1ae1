import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { startNetwork } from '../../src/devnet/network.ts'
import { freePort, PortTaken } from '../../src/devnet/ports.ts'
import { XrpcFailure, xrpc } from '../../src/devnet/xrpc.ts'
import { until } from '../support/until.ts'
import { commits, connect } from './consumer.ts'

const didDocument = z.object({ service: z.array(z.object({ serviceEndpoint: z.string() })) })

test('a temporary network leaves nothing behind, and stopping it twice is no fault', async () => {
  const network = await startNetwork()
  const { dataDir, relayUrl } = network
  assert.ok(existsSync(dataDir))
  await network.stop()
  await network.stop()
  assert.ok(!existsSync(dataDir))
  await assert.rejects(fetch(`${relayUrl}/healthz`))
})

test('a second start on the same folder keeps accounts, passwords, records, the log and its numbers', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'knotless-test-'))
  try {
    const first = await startNetwork({ dataDir })
    const alice = await first.createAccount('alice.test', 'a good password')
    const written = await alice.put('dev.example.thing', 'a', { n: 1 })
    await first.settled()
    const tip = first.tip()
    const addresses = [first.plcUrl, first.pdsUrl, first.jetstreamUrl]
    await first.stop()

    const second = await startNetwork({ dataDir })
    try {
      assert.deepEqual([second.plcUrl, second.pdsUrl, second.jetstreamUrl], addresses, 'on the same ports')
      const again = second.account('alice.test')
      assert.equal(again?.did, alice.did)
      assert.equal((await again?.get('dev.example.thing', 'a'))?.cid, written.cid)
      await again?.put('dev.example.thing', 'b', {})
      await second.settled()
      assert.equal(second.tip(), tip + 1, 'nothing is logged twice, and the numbers go on')
      const consumer = await connect(second.jetstreamUrl, '?cursor=1')
      await until(() => consumer.events.length === tip + 1)
      assert.deepEqual(commits(consumer.events), ['dev.example.thing/a create', 'dev.example.thing/b create'])
      await consumer.end()
      await xrpc(second.pdsUrl, 'com.atproto.server.createSession', { input: { identifier: 'alice.test', password: 'a good password' } })
    } finally {
      await second.stop()
    }
    assert.equal(statSync(join(dataDir, 'accounts.json')).mode & 0o077, 0, 'passwords are for their owner only')
    assert.equal(statSync(join(dataDir, 'keys.json')).mode & 0o077, 0)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('what is written while the Jetstream connection is gone arrives when the network comes back, on other ports too', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'knotless-test-'))
  try {
    const first = await startNetwork({ dataDir })
    const alice = await first.createAccount('alice.test')
    await alice.put('dev.example.thing', 'unseen', {})
    await first.stop()
    const second = await startNetwork({ dataDir, ports: { plc: await freePort(), pds: await freePort(), jetstream: await freePort() } })
    try {
      await second.account('alice.test')?.put('dev.example.thing', 'moved', {})
      const consumer = await connect(second.jetstreamUrl, '?cursor=1&wantedCollections=dev.example.thing')
      await until(() => commits(consumer.events).length === 2)
      assert.deepEqual(commits(consumer.events), ['dev.example.thing/unseen create', 'dev.example.thing/moved create'])
      await consumer.end()
      const document = didDocument.parse(await (await fetch(`${second.plcUrl}/${alice.did}`)).json())
      assert.equal(document.service[0]?.serviceEndpoint, second.pdsUrl, 'the account is where the PDS is now')
    } finally {
      await second.stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('a port in use is named, and what had started is stopped', async () => {
  const taken = createServer()
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
  const address = taken.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  for (const [part, name] of [
    ['plc', 'PLC directory'],
    ['pds', 'PDS'],
    ['jetstream', 'Jetstream'],
  ] as const) {
    await assert.rejects(
      startNetwork({ ports: { [part]: port } }),
      (error: unknown) => error instanceof PortTaken && error.message.includes(`port ${port} (${name})`),
    )
  }
  await new Promise(resolve => taken.close(resolve))
})

test('the PDS takes the blob limit and the rate limits it is given', async () => {
  const network = await startNetwork({ pds: { blobUploadLimit: 1000, rateLimits: true } })
  try {
    const alice = await network.createAccount('alice.test')
    await alice.upload(new Uint8Array(900), 'application/octet-stream')
    await assert.rejects(
      alice.upload(new Uint8Array(1100), 'application/octet-stream'),
      (error: unknown) => error instanceof XrpcFailure && error.status === 413,
    )
    const answer = await fetch(`${network.pdsUrl}/xrpc/com.atproto.server.describeServer`)
    assert.ok(answer.headers.get('ratelimit-limit'))
  } finally {
    await network.stop()
  }
})
