import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { type Samples, seedPeople, seedSamples } from '../../src/devnet/seed.ts'
import type { People } from '../../src/devnet/seed-repo.ts'
import { createRepositoryCache, mirrorStateOf } from '../../src/indexer/read.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { type Indexed, startIndexed } from '../support/indexed.ts'
import { until } from '../support/until.ts'

let network: Network
let people: People
let samples: Samples
let indexed: Indexed
const now = () => new Date().toISOString()

before(async () => {
  network = await startNetwork()
  people = await seedPeople(network)
  samples = await seedSamples(network, people)
  indexed = await startIndexed(network)
  await indexed.caughtUp()
})
after(async () => {
  network?.faults.clear()
  await indexed?.close()
  await network?.stop()
})

/** A fork with a branch and one pack, of bytes that are there to be asked for. */
async function forkOf(account: DevAccount, name: string): Promise<string> {
  const repo = `at://${account.did}/dev.knotless.repo/${name}`
  const blob = await account.upload(new TextEncoder().encode(`PACK of ${name}, or so it says`), 'application/octet-stream')
  const size = Number(blob.size)
  await account.put('dev.knotless.refs', name, {
    repo,
    refs: [{ name: 'refs/heads/main', commit: '1'.repeat(40), generation: 1 }],
    packs: [{ id: '2'.repeat(40), parts: [blob], objects: 1, bytes: size }],
    updatedAt: now(),
  })
  return repo
}

test('a fork whose server gives no bytes keeps no other pull waiting, neither of its repository nor of another', async () => {
  network.faults.add({ fault: 'stall', method: 'com.atproto.sync.getBlob', account: people.mallory.did })
  const forks = await Promise.all(['a', 'b', 'c', 'd'].map(name => forkOf(people.mallory, name)))
  for (const [n, repo] of forks.entries()) {
    const fields = { repo: samples.orchard.uri, branch: 'main', head: { repo, branch: 'main' }, title: `Slow ${n}`, createdAt: now() }
    await people.mallory.create('dev.knotless.pull', fields, tidAt(Date.now() + n))
  }
  const stalled = () => network.faults.list().some(fault => fault.hits() > 0)
  await until(stalled, { what: 'a download that gets no bytes' })

  const moved = samples.orchard.pulls['frost-two-degrees']?.head ?? ''
  const record = await people.alice.get('dev.knotless.refs', 'orchard')
  assert.ok(record !== undefined && Array.isArray(record.value.refs))
  const refs = record.value.refs.map(ref => (ref.name === 'refs/heads/main' ? { ...ref, commit: moved } : ref))
  await people.alice.put('dev.knotless.refs', 'orchard', { ...record.value, refs, updatedAt: now() })

  const cache = createRepositoryCache({ index: indexed.index, now: Date.now, fold: foldRepository })
  const merged = (branch: string) => {
    const uri = samples.orchard.pulls[branch]?.uri ?? ''
    return cache.viewOf(samples.orchard.uri)?.view.pulls.get(uri)?.merge?.tip === moved
  }
  await until(() => merged('label-variety') && merged('csv-semicolons'), { what: 'merges at the new tip, of members and of others' })
  assert.ok(
    forks.some(repo => mirrorStateOf(indexed.index, repo) === undefined),
    'while the slow ones are still waited for',
  )
  assert.deepEqual(indexed.failures, [])
})
