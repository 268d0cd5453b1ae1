import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { recordAt } from '../../src/indexer/read.ts'
import { rerunScope } from '../../src/server/auth/client-metadata.ts'
import { makePeople } from './gateway-world.ts'
import { logIn, openSignIn } from './log-in.ts'
import { type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

let network: Network
let server: Served
let orchard: Orchard
let people: Awaited<ReturnType<typeof makePeople>>

before(async () => {
  network = await startNetwork()
  people = await makePeople(network)
  server = await serve(network)
  const { alice, bob, carol, rigby } = people
  const roles = { owner: alice.did, collaborator: bob.did, author: carol.did, runner: rigby.did }
  orchard = await plantOrchard(server.context, { people: roles, count: 4 })
})
after(async () => {
  await orchard?.stop()
  await server?.end()
  await network?.stop()
})

const pathOf = (n: number) => {
  const pull = orchard.pulls[n] ?? ''
  return `${server.url}/${people.alice.did}/orchard/pulls/${people.carol.did}/${pull.split('/').at(-1)}`
}

async function visitorOf(account: DevAccount) {
  const visitor = new Visitor()
  await logIn(visitor, server.url, account)
  return visitor
}

async function pressed(visitor: Visitor, n: number, headers: Record<string, string> = {}) {
  const page = await visitor.get(pathOf(n))
  const token = /name="_csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  return visitor.post(`${pathOf(n)}/rerun`, { _csrf: token }, headers)
}

test('RUN-6 owner and collaborators have the button; nobody else, and nobody once the pull is closed', async () => {
  const form = /<form method="post" action="[^"]+\/rerun"/
  assert.match((await (await visitorOf(people.bob)).get(pathOf(0))).text, form)
  assert.doesNotMatch((await (await visitorOf(people.mallory)).get(pathOf(0))).text, form)
  assert.doesNotMatch((await new Visitor().get(pathOf(0))).text, form)
  const { repo, pulls } = orchard
  await orchard.write(people.alice.did, 'dev.knotless.state', orchard.key(), { repo, subject: pulls[3] ?? '', state: 'closed' })
  assert.doesNotMatch((await (await visitorOf(people.bob)).get(pathOf(3))).text, form)
})

test('RUN-6 the right is asked for when it is first needed; then one record in the asker’s own account', async () => {
  const { bob } = people
  const visitor = await visitorOf(bob)
  const first = await pressed(visitor, 0)
  assert.equal(first.status, 422)
  assert.match(first.text, /let this server write <code>dev\.knotless\.rerun<\/code> records for you/)
  assert.deepEqual(await bob.list('dev.knotless.rerun'), [])
  const href = /href="(\/login\/start\?[^"]+asks=rerun[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const begun = await visitor.get(`${server.url}${href}`)
  const address = await (await openSignIn(visitor, String(begun.headers.location), bob)).authorize()
  const back = await visitor.get(address)
  assert.match(String(back.headers.location), new RegExp(`/pulls/[^/]+/${orchard.pulls[0]?.split('/').at(-1)}$`))
  assert.match((await server.context.oauth.granted(bob.did)) ?? '', new RegExp(rerunScope.replaceAll('?', '\\?')))

  const second = await pressed(visitor, 0)
  assert.equal(second.status, 303, second.text)
  const [record, ...more] = await bob.list('dev.knotless.rerun')
  assert.ok(record)
  assert.deepEqual(more, [])
  assert.equal(record.value.pull, orchard.pulls[0])
  assert.equal(record.value.repo, orchard.repo)
  assert.ok(recordAt(server.context.database, record.uri), 'it is indexed at once')
  const page = await visitor.get(`${server.url}${second.headers.location}`)
  assert.match(page.text, /role="status"[\s\S]*Asked for\./)
  await pressed(visitor, 0)
  assert.equal((await bob.list('dev.knotless.rerun')).length, 1, 'a second click asks for the same')
})

test('RUN-6 what may not be asked for is refused in words', async () => {
  const visitor = await visitorOf(people.mallory)
  const refused = await pressed(visitor, 0)
  assert.equal(refused.status, 422)
  assert.match(refused.text, /role="alert"[\s\S]*Not run again: only/)
  const bob = await visitorOf(people.bob)
  const closed = await pressed(bob, 3, { 'hx-request': 'true' })
  assert.equal(closed.status, 422)
  assert.match(closed.text, /^\s*<section id="checks"/)
  assert.match(closed.text, /Not run again: this pull is closed/)
  assert.deepEqual(await people.mallory.list('dev.knotless.rerun'), [])
})

test('a server that stalls: it is said, and the next press writes the same once', async () => {
  const { bob } = people
  const visitor = await visitorOf(bob)
  const before = (await bob.list('dev.knotless.rerun')).length
  const fault = network.faults.add({ fault: 'lose', method: 'com.atproto.repo.createRecord', times: 1 })
  const lost = await pressed(visitor, 1)
  fault.clear()
  assert.equal(fault.hits(), 1)
  assert.ok([303, 422].includes(lost.status), String(lost.status))
  if (lost.status === 422) assert.match(lost.text, /Not known yet/)
  const again = await pressed(visitor, 1)
  assert.equal(again.status, 303)
  assert.equal((await bob.list('dev.knotless.rerun')).length, before + 1)
})
