import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { parseDid, parseNsid, parseRecordKey } from '../../src/atproto/ids.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { seedPeople } from '../../src/devnet/seed.ts'
import type { People } from '../../src/devnet/seed-repo.ts'
import { logInScope, repositoryScope } from '../../src/server/auth/client-metadata.ts'
import { until } from '../support/until.ts'
import { goToServer } from './log-in.ts'
import { alertOn, type Editor, editorAs, formOn, plain, writerAs } from './repo-settings-support.ts'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

const path = '/alice.test/bench/settings'
const createdAt = '2026-11-01T00:00:00.000Z'
const bare = { defaultBranch: 'main', collaborators: [], runners: [], createdAt }
let network: Network
let people: People
/** Two servers, and alice at both: nothing but the account's server keeps the two apart. */
let servers: [Served, Served]
let one: Editor
let two: Editor

before(async () => {
  network = await startNetwork()
  people = await seedPeople(network)
  servers = [await serve(network), await serve(network)]
  await put(bare)
  for (const { url } of servers) await until(async () => (await fetch(`${url}/alice.test/bench`)).status === 200)
  one = await writerAs(servers[0], people.alice, path)
  two = await writerAs(servers[1], people.alice, path)
})
after(async () => {
  for (const server of servers ?? []) await server.end()
  await network?.stop()
})
beforeEach(() => put(bare))

const put = async (value: Record<string, unknown>) => void (await people.alice.put('dev.knotless.repo', 'bench', value))
const value = async () => (await people.alice.get('dev.knotless.repo', 'bench'))?.value ?? {}

/** Forms as one would fill them in, each about another thing. */
const fills = {
  general: { description: 'described' },
  'add-runner': { handle: 'runner.test' },
  'add-collaborator': { handle: 'carol.test' },
  protection: { 'queue-0': '1' },
  gateway: { gateway: 'other', did: 'did:web:queue.example' },
} as const

async function expectBoth(names: readonly (keyof typeof fills)[]): Promise<void> {
  const now = await value()
  const expected = {
    general: ['description', 'described'],
    'add-runner': ['runners', [{ did: people.runner.did }]],
    'add-collaborator': ['collaborators', [{ did: people.carol.did }]],
    protection: ['protections', [{ branch: 'main', queue: true }]],
    gateway: ['gateway', 'did:web:queue.example'],
  } as const
  for (const name of names) assert.deepEqual(now[expected[name][0]], expected[name][1], name)
}

test('two editors from one state, about different things: both hold in all orders, at two servers', async () => {
  const names = Object.keys(fills).filter((name): name is keyof typeof fills => name in fills)
  for (const first of names) {
    for (const second of names) {
      if (first === second) continue
      await put(bare)
      const [a, b] = [await one.page(path), await two.page(path)]
      assert.equal((await one.send(a, first, fills[first])).status, 303, first)
      assert.equal((await two.send(b, second, fills[second])).status, 303, `${first}, ${second}`)
      await expectBoth([first, second])
    }
  }
})

test('two editors at the same instant, about different things: neither is lost', async () => {
  const [a, b] = [await one.page(path), await two.page(path)]
  const done = await Promise.all([
    one.send(a, 'general', fills.general),
    two.send(b, 'add-runner', fills['add-runner']),
    one.send(a, 'add-collaborator', fills['add-collaborator']),
    two.send(b, 'protection', fills.protection),
    two.send(b, 'gateway', fills.gateway),
  ])
  assert.deepEqual(
    done.map(({ status }) => status),
    [303, 303, 303, 303, 303],
  )
  await expectBoth(['general', 'add-runner', 'add-collaborator', 'protection', 'gateway'])
})

test('two editors of the same thing: the second writes nothing, is told what it is now, and keeps what they typed', async () => {
  const cases = [
    ['general', { description: 'mine' }, { description: 'theirs' }, /Not saved: the description was changed meanwhile, to “mine”/],
    [
      'gateway',
      { gateway: 'other', did: 'did:web:mine.example' },
      { gateway: 'this' },
      /the gateway was changed meanwhile, to did:web:mine\.example/,
    ],
    [
      'protection',
      { 'queue-0': '1' },
      { 'pinned-0': '1' },
      /the rule of main was changed meanwhile\. It now takes pulls only through the queue/,
    ],
    ['offer', { handle: 'bob.test' }, { handle: 'carol.test' }, /the repository was offered to .*\/bench meanwhile/],
  ] as const
  for (const [form, mine, theirs, says] of cases) {
    await put(bare)
    const [a, b] = [await one.page(path), await two.page(path)]
    assert.equal((await one.send(a, form, mine)).status, 303)
    const before = await value()
    const answer = await two.send(b, form, theirs)
    assert.equal(answer.status, 422, form)
    assert.match(alertOn(answer.text), says)
    assert.match(alertOn(answer.text), /The page shows how it is now\./)
    assert.deepEqual(await value(), before, form)
    if (form === 'general') {
      assert.equal(formOn(answer.text, form).fields.description, 'theirs')
      assert.equal((await two.send(answer, form)).status, 303, 'once they have seen it, it is theirs to change')
      assert.equal((await value()).description, 'theirs')
    }
    if (form === 'protection') assert.equal(formOn(answer.text, form).fields['queue-0'], '1')
  }
})

test('at the same instant one of two about the same thing is written, and the other is told', async () => {
  const [a, b] = [await one.page(path), await two.page(path)]
  const done = await Promise.all([one.send(a, 'general', { description: 'mine' }), two.send(b, 'general', { description: 'theirs' })])
  assert.deepEqual(done.map(({ status }) => status).sort(), [303, 422])
  const lost = done.findIndex(({ status }) => status === 422)
  assert.match(alertOn(done[lost]?.text ?? ''), lost === 0 ? /to “theirs”/ : /to “mine”/)
})

test('an old form does not name again who was taken out, nor take out who was named, nor undo another order', async () => {
  await put({ ...bare, collaborators: [{ did: people.bob.did }], runners: [{ did: people.runner.did }, { did: people.carol.did }] })
  const old = await two.page(path)
  await one.edit(path, 'remove-collaborator', {}, { did: people.bob.did })
  const added = await two.send(old, 'add-collaborator', { handle: 'bob.test' })
  assert.equal(added.status, 422)
  assert.match(alertOn(added.text), /Not added: bob\.test was taken out as collaborator meanwhile/)
  const removed = await two.send(old, 'remove-collaborator', {}, { did: people.bob.did })
  assert.equal(removed.headers.location, `${path}?done=already&at=collaborators#collaborators`)
  await one.edit(path, 'move-runner', {}, { did: people.carol.did, up: '1' })
  await one.edit(path, 'add-runner', { handle: 'mallory.test' })
  await one.edit(path, 'remove-runner', {}, { did: people.runner.did })
  const moved = await two.send(old, 'move-runner', {}, { did: people.runner.did, up: '0' })
  assert.equal(moved.status, 422)
  assert.match(alertOn(moved.text), /the runners were put in another order meanwhile/)
})

test('a swap that is lost between reading and writing is judged again on what the other wrote', async () => {
  const page = await one.page(path)
  const fault = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.putRecord', account: people.alice.did })
  const sent = one.send(page, 'general', { description: 'described' })
  await until(() => fault.hits() > 0)
  const [collection, rkey] = [parseNsid('dev.knotless.repo'), parseRecordKey('bench')]
  assert(collection !== undefined && rkey !== undefined)
  const record = { $type: 'dev.knotless.repo', ...bare, runners: [{ did: people.runner.did }] }
  const other = await people.alice.writer.applyWrites({ writes: [{ action: 'update', collection, rkey, record }] })
  assert(other.ok)
  fault.clear()
  assert.equal((await sent).status, 303)
  await expectBoth(['general', 'add-runner'])
})

test('a stale, made-up or missing CID overwrites nothing', async () => {
  await put({ ...bare, description: 'present' })
  const { fields, action } = formOn((await one.page(path)).text, 'general')
  for (const cid of ['', 'x', 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy', 'y'.repeat(30_000)]) {
    const { wasDescription: _, wasBranch: __, ...without } = fields
    const answer = await one.visitor.post(`${servers[0].url}${action}`, { ...without, cid, description: 'over it' })
    assert.equal(answer.status, 422, cid.slice(0, 80))
    assert.match(alertOn(answer.text), /the description was changed meanwhile, to “present”/)
  }
  assert.equal((await value()).description, 'present')
})

test('a log-in that was begun before the right was granted does not take it away', async () => {
  const visitor = new Visitor()
  const { bob } = people
  const did = parseDid(bob.did)
  assert(did !== undefined)
  await bob.put('dev.knotless.repo', 'own', bare)
  await until(async () => (await fetch(`${servers[0].url}/bob.test/own`)).status === 200)
  const started = await goToServer(visitor, servers[0].url, bob)
  await writerAs(servers[0], bob, '/bob.test/own/settings')
  const answer = await visitor.get(await started.authorize(), { headers: { 'sec-fetch-site': 'cross-site' } })
  assert.equal(answer.status, 400)
  assert.match(plain(answer.text), /Begin again here/)
  assert.equal(await servers[0].context.oauth.granted(did), `${logInScope} ${repositoryScope}`)
  await editorAs(servers[0], bob)
  assert.equal(await servers[0].context.oauth.granted(did), `${logInScope} ${repositoryScope}`)
})
