/** Queueing has no method: whatever writes a record into its own account queues. Here that is an ordinary atproto client, not ours. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AtpAgent } from '@atproto/api'
import { z } from 'zod'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { type People, type Samples, seedPeople, seedSamples } from '../../src/devnet/seed.ts'
import { type Served, serve } from './serve.ts'

let network: Network
let people: People
let samples: Samples
let server: Served

before(async () => {
  network = await startNetwork()
  people = await seedPeople(network)
  samples = await seedSamples(network, people)
  server = await serve(network, { env: { KNOTLESS_RELAY: network.relayUrl } })
  await giveDelegation(server.url, people.alice)
  await settled()
})

after(async () => {
  await server.end()
  await network.stop()
})

async function settled(): Promise<void> {
  await network.settled()
  await server.context.indexer.settled()
}

async function agentOf(name: keyof People): Promise<AtpAgent> {
  const agent = new AtpAgent({ service: network.pdsUrl })
  const { handle, password } = people[name]
  await agent.login({ identifier: handle, password })
  return agent
}

function firstPull(): string {
  const [pull] = Object.values(samples.orchard.pulls)
  assert.ok(pull)
  return pull.uri
}

const status = z.object({
  standing: z.object({ text: z.string() }),
  can: z.object({ queue: z.object({ allowed: z.boolean(), refusal: z.object({ code: z.string() }).optional() }) }),
})

const statusPath = (pull: string) => `/xrpc/dev.knotless.getMergeStatus?pull=${encodeURIComponent(pull)}`

async function standing(pull: string): Promise<{ text: string }> {
  const answer = await fetch(server.url + statusPath(pull))
  assert.equal(answer.status, 200)
  return status.parse(await answer.json()).standing
}

test('REC-1 HON-1 a record that any client writes queues a pull, and another takes it out', async () => {
  const agent = await agentOf('bob')
  const pull = firstPull()
  const record = { $type: 'dev.knotless.queue', repo: samples.orchard.uri, subject: pull, createdAt: new Date().toISOString() }
  const collection = 'dev.knotless.queue'
  const queued = await agent.com.atproto.repo.createRecord({ repo: people.bob.did, collection, record: { ...record, state: 'queued' } })
  await settled()
  assert.match((await standing(pull)).text, /^Queued, 1st of 1/)
  await agent.com.atproto.repo.createRecord({
    repo: people.bob.did,
    collection,
    record: { ...record, state: 'left', ends: queued.data.uri },
  })
  await settled()
  assert.equal((await standing(pull)).text, 'Open')
})

test('REC-4 a deleted record stops counting', async () => {
  const agent = await agentOf('bob')
  const pull = firstPull()
  const collection = 'dev.knotless.queue'
  const record = { $type: collection, repo: samples.orchard.uri, subject: pull, state: 'queued', createdAt: new Date().toISOString() }
  const { data } = await agent.com.atproto.repo.createRecord({ repo: people.bob.did, collection, record })
  await settled()
  assert.match((await standing(pull)).text, /^Queued/)
  await agent.com.atproto.repo.deleteRecord({ repo: people.bob.did, collection, rkey: data.uri.split('/').at(-1) ?? '' })
  await settled()
  assert.equal((await standing(pull)).text, 'Open')
})

test('ADM-1 whoever asks through their own account server is told what they may', async () => {
  const ask = async (name: keyof People) => {
    const agent = await agentOf(name)
    const headers = { 'atproto-proxy': `${server.context.config.did}#knotless_appview` }
    const answer = await agent.sessionManager.fetchHandler(statusPath(firstPull()), { headers })
    assert.equal(answer.status, 200)
    return status.parse(await answer.json()).can
  }
  assert.equal((await ask('bob')).queue.allowed, true)
  const refused = (await ask('mallory')).queue
  assert.equal(refused.allowed, false)
  assert.equal(refused.refusal?.code, 'not-allowed')
})
