import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { type Samples, seedPeople, seedSamples } from '../../src/devnet/seed.ts'
import type { People } from '../../src/devnet/seed-repo.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { until } from '../support/until.ts'
import { type Editor, plain, writerAs } from './repo-settings-support.ts'
import { type Served, serve } from './serve.ts'

const path = '/alice.test/orchard/settings'
let network: Network
let people: People
let samples: Samples
let server: Served
let alice: Editor

before(async () => {
  network = await startNetwork()
  people = await seedPeople(network)
  samples = await seedSamples(network, people)
  server = await serve(network, { env: { KNOTLESS_RELAY: network.relayUrl } })
  await until(() => viewOf()?.pulls.size === Object.keys(samples.orchard.pulls).length, { timeout: 30_000 })
  alice = await writerAs(server, people.alice, path)
})
after(async () => {
  await server?.end()
  await network?.stop()
})

const viewOf = () => server.context.repositories.viewOf(samples.orchard.uri)?.view
const pullOf = (uri: string) => server.context.repositories.viewOfPull(uri)?.view.pulls.get(uri)

let last = Date.now() - 60_000
async function say(by: 'alice' | 'bob', collection: 'queue' | 'state', subject: string, state: string): Promise<void> {
  last += 1_000
  const record = { repo: samples.orchard.uri, subject, state, createdAt: new Date(last).toISOString() }
  await people[by].create(`dev.knotless.${collection}`, record, tidAt(last))
}

test('HON-5 removing a collaborator keeps what they took out; making them void lists first what comes back by it', async () => {
  const { 'label-variety': left, 'rename-spacing': closed, 'water-young-trees': queued } = samples.orchard.pulls
  assert(left !== undefined && closed !== undefined && queued !== undefined)
  await say('alice', 'queue', left.uri, 'queued')
  await say('bob', 'queue', left.uri, 'left')
  await say('bob', 'state', closed.uri, 'closed')
  await say('bob', 'queue', queued.uri, 'queued')
  await until(() => pullOf(queued.uri)?.entry !== undefined && pullOf(closed.uri)?.state === 'closed', { timeout: 30_000 })

  const removed = await alice.edit(path, 'remove-collaborator', {}, { did: people.bob.did })
  assert.equal(removed.status, 303)
  assert.equal(pullOf(left.uri)?.entry, undefined, 'what they took out stays out')
  assert.equal(pullOf(closed.uri)?.state, 'closed')
  assert.equal(pullOf(queued.uri)?.entry, undefined, 'what they queued drops out')

  const page = await alice.page(path)
  assert.match(plain(page.text), /bob\.test was collaborator, until/)
  const href = /href="([^"]*settings\/void[^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const question = await alice.page(href)
  assert.equal(question.status, 200)
  const says = plain(question.text)
  assert.match(says, /so 2 pulls come back/)
  assert(says.includes(left.title) && says.includes(closed.title))
  assert.equal(pullOf(closed.uri)?.state, 'closed', 'asking writes nothing')

  const done = await alice.send(question, 'void')
  assert.equal(done.headers.location, `${path}?done=void&at=former#former`)
  assert.notEqual(pullOf(left.uri)?.entry, undefined)
  assert.equal(pullOf(closed.uri)?.state, 'open')
  const record = await people.alice.get('dev.knotless.repo', 'orchard')
  assert.match(JSON.stringify(record?.value.former), /"void":true/)
  assert.match(plain((await alice.page(path)).text), /bob\.test Void/)
})

test('HON-5 the question about somebody who is not remembered leads back, and is the owner’s alone', async () => {
  const answer = await alice.page(`${path}/void?did=did:web:nobody.example`)
  assert.equal(answer.headers.location, `${path}#former`)
  const bob = await writerAs(server, people.bob, path)
  assert.equal((await bob.page(`${path}/void?did=${people.bob.did}`)).status, 403)
})
