import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Jetstream } from '@skyware/jetstream'
import { startNetwork } from '../../src/devnet/network.ts'
import { until } from '../support/until.ts'

test('@skyware/jetstream follows the stream: commits, identities, accounts, a cursor and a new filter', async () => {
  const network = await startNetwork()
  const seen: string[] = []
  const follow = (cursor: number) => {
    const jetstream = new Jetstream({ endpoint: network.jetstreamUrl, wantedCollections: ['dev.example.*'], cursor })
    jetstream.on('commit', event => seen.push(`${event.commit.operation} ${event.commit.collection}/${event.commit.rkey}`))
    jetstream.on('identity', event => seen.push(`identity ${event.identity.handle}`))
    jetstream.on('account', event => seen.push(`account ${event.account.active}`))
    jetstream.start()
    return jetstream
  }
  const first = follow(1)
  try {
    const alice = await network.createAccount('alice.test')
    await alice.put('dev.example.thing', 'a', { n: 1 })
    await alice.put('dev.example.thing', 'a', { n: 2 })
    await alice.put('org.other.thing', 'a', {})
    await alice.remove('dev.example.thing', 'a')
    await until(() => seen.includes('delete dev.example.thing/a'))
    assert.deepEqual(seen, [
      'identity alice.test',
      'account true',
      'create dev.example.thing/a',
      'update dev.example.thing/a',
      'delete dev.example.thing/a',
    ])
    first.updateOptions({ wantedCollections: ['org.other.*'] })
    let n = 0
    await until(async () => {
      await alice.put('org.other.thing', `k${n++}`, {})
      return seen.some(line => line.includes('org.other'))
    })
    const cursor = first.cursor ?? 0
    first.close()
    seen.length = 0
    await alice.put('dev.example.thing', 'later', {})
    const second = follow(cursor)
    await until(() => seen.includes('create dev.example.thing/later'))
    second.close()
  } finally {
    first.close()
    await network.stop()
  }
})
