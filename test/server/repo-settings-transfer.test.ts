import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { refsAccount } from '../../src/devnet/refs-account.ts'
import type { Person } from '../../src/devnet/samples/people.ts'
import { type Samples, seedPeople, seedSamples } from '../../src/devnet/seed.ts'
import type { People } from '../../src/devnet/seed-repo.ts'
import { pushRefs } from '../../src/git/push.ts'
import { commit, git, newRepo } from '../git/support.ts'
import { until } from '../support/until.ts'
import { alertOn, type Editor, formsOn, plain, writerAs } from './repo-settings-support.ts'
import { type Served, serve } from './serve.ts'

const path = '/alice.test/orchard/settings'
let network: Network
let people: People
let samples: Samples
let server: Served
let alice: Editor
let bob: Editor

before(async () => {
  network = await startNetwork()
  people = await seedPeople(network)
  samples = await seedSamples(network, people)
  server = await serve(network, { env: { KNOTLESS_RELAY: network.relayUrl } })
  await until(() => viewOf(samples.orchard.uri)?.pulls.size === Object.keys(samples.orchard.pulls).length, { timeout: 30_000 })
  await people.bob.put('dev.knotless.repo', 'taken', bare)
  await until(async () => (await fetch(`${server.url}/bob.test/taken`)).status === 200, { timeout: 30_000 })
  alice = await writerAs(server, people.alice, path)
  bob = await writerAs(server, people.bob, '/bob.test/taken/settings')
})
after(async () => {
  await server?.end()
  await network?.stop()
})

const bare = { defaultBranch: 'main', collaborators: [], runners: [], createdAt: '2026-11-01T00:00:00.000Z' }
const viewOf = (uri: string) => server.context.repositories.viewOf(uri)?.view
const recordOf = async (person: Person, name = 'orchard') => (await people[person].get('dev.knotless.repo', name))?.value
const uriOf = (person: Person, name = 'orchard') => `at://${people[person].did}/dev.knotless.repo/${name}`
const accept = (editor: Editor, at = path) => editor.edit(at, 'accept')

test('HON-4 an offer is pending until it is accepted, is shown to the new owner alone, and can be taken back', async () => {
  const refused = await alice.edit(path, 'offer', { handle: 'alice.test' })
  assert.match(alertOn(refused.text), /Not offered: that is your own account/)
  const nobody = await alice.edit(path, 'offer', { handle: 'nobody.test', name: 'grove' })
  assert.match(alertOn(nobody.text), /Not offered: Nobody found\. There is no account called nobody\.test/)
  const unnamed = await alice.edit(path, 'offer', { handle: 'bob.test', name: 'a b' })
  assert.match(alertOn(unnamed.text), /Not offered: a b is no name of a repository/)

  assert.equal((await bob.page(path)).status, 403)
  assert.equal((await alice.edit(path, 'offer', { handle: 'bob.test', name: 'grove' })).status, 303)
  const pending = await alice.page(path)
  assert.match(plain(pending.text), /Offered to bob\.test\/grove .*\. It goes on as yours until bob\.test accepts it on this page/)
  assert.equal(viewOf(samples.orchard.uri)?.movedTo, undefined)
  const shown = await bob.page(path)
  assert.equal(shown.status, 200)
  assert.match(plain(shown.text), /alice\.test offers you orchard\. If you accept, it goes on as bob\.test\/grove/)
  const front = '/alice.test/orchard'
  const told = await bob.page(front)
  assert.match(plain(told.text), /alice\.test offers you this repository\./)
  assert.match(told.text, new RegExp(`href="${path}"`))
  const carol = await writerAs(server, people.carol, path)
  assert.equal((await carol.page(path)).status, 403)
  assert.doesNotMatch(plain((await carol.page(front)).text), /offers you this repository/)

  assert.equal((await alice.send(pending, 'take-back')).status, 303)
  assert.equal((await recordOf('alice'))?.transferredTo, undefined)
  const [form] = formsOn(shown.text).filter(({ action }) => action.endsWith('/accept'))
  assert(form !== undefined)
  assert.equal((await bob.visitor.post(`${server.url}${form.action}`, form.fields)).status, 403, 'what was taken back is not accepted')
  assert.equal(await recordOf('bob', 'grove'), undefined)
})

test('HON-4 a name that the new owner has already is not written over', async () => {
  await alice.edit(path, 'offer', { handle: 'bob.test', name: 'taken' })
  const answer = await accept(bob)
  assert.equal(answer.status, 422)
  assert.match(alertOn(answer.text), /Not accepted: you have a repository called taken already/)
  assert.deepEqual(await recordOf('bob', 'taken'), { $type: 'dev.knotless.repo', ...bare })
  await alice.edit(path, 'take-back')
})

test('STO-8 without their delegation the branches cannot be copied: nothing is written, and where to give it is said', async () => {
  await alice.edit(path, 'protection', { 'queue-0': '1' })
  await alice.edit(path, 'offer', { handle: 'bob.test' })
  // Bob has a fork of that name; it makes way.
  await people.bob.remove('dev.knotless.repo', 'orchard')
  const answer = await accept(bob)
  assert.equal(answer.status, 422)
  assert.match(alertOn(answer.text), /Not accepted: this server may not yet write git states to your account/)
  assert.match(answer.text, /href="\/settings#delegation"/)
  assert.equal(await recordOf('bob'), undefined)
  assert.equal(viewOf(samples.orchard.uri)?.movedTo, undefined)
})

test('HON-4, STO-8 the new owner accepts: the same settings and the whole git state in their account, and both addresses are one repository', async () => {
  await giveDelegation(server.url, people.bob)
  const before = await recordOf('alice')
  const done = await accept(bob)
  assert.equal(done.headers.location, '/bob.test/orchard/settings?done=accept&at=transfer')
  const now = await recordOf('bob')
  assert.equal(now?.transferredFrom, samples.orchard.uri)
  for (const field of ['description', 'defaultBranch', 'runners', 'protections']) assert.deepEqual(now?.[field], before?.[field], field)
  assert.deepEqual(now?.collaborators, [], 'the owner is no collaborator of their own')
  const refsOf = async (person: Person) => {
    const refs = (await people[person].get('dev.knotless.refs', 'orchard'))?.value.refs
    assert(Array.isArray(refs))
    return refs.map(({ name, commit }: { name: string; commit: string }) => `${name} ${commit}`).sort()
  }
  assert.deepEqual(await refsOf('bob'), await refsOf('alice'))
  const noted = (await bob.page('/settings')).text
  assert.match(noted, new RegExp(`Copied from ${samples.orchard.uri}`), 'GWY-6: each ref is in the audit log')
  const view = viewOf(samples.orchard.uri)
  assert.equal(view?.movedTo, uriOf('bob'))
  assert.equal(view?.roles.owner, people.bob.did)
  assert.equal(viewOf(uriOf('bob'))?.branches.get('main')?.queueOnly, true)
  const page = await bob.visitor.follow(`${server.url}${path}`, done)
  assert.equal(page.status, 200)
  assert.equal((await acceptAgain()).status, 303)

  assert.equal((await bob.page(path)).headers.location, '/bob.test/orchard/settings', 'the old address leads to the new')
  const old = await alice.page(path)
  assert.equal(old.status, 403)
  assert.match(alertOn(old.text), /These settings are bob\.test’s/)
})

/** The same form once more, as after a lost answer: there is nothing left to accept, and the old address leads to the new. */
async function acceptAgain() {
  const token = formsOn((await bob.page('/bob.test/orchard/settings')).text)[0]?.fields._csrf ?? ''
  return bob.visitor.post(`${server.url}${path}/accept`, { _csrf: token })
}

test('HON-4 what was accepted cannot be taken back, whatever an old page offers', async t => {
  const at = '/alice.test/glade/settings'
  const dir = newRepo(t)
  commit(dir, 'main', { 'a.txt': 'one\n' })
  await people.alice.put('dev.knotless.repo', 'glade', bare)
  const account = refsAccount(people.alice, 'glade')
  const tip = git(dir, ['rev-parse', 'main']).trim()
  const updates = [{ name: 'refs/heads/main', commit: tip }]
  assert((await pushRefs({ gitDir: dir, updates, account, repo: account.repo, now: () => new Date() })).ok)
  await until(async () => (await fetch(`${server.url}/alice.test/glade`)).status === 200, { timeout: 30_000 })
  await alice.edit(at, 'offer', { handle: 'bob.test' })
  const old = await alice.page(at)
  // The stream is held, so that the index does not know what bob's record says.
  await people.bob.put('dev.knotless.repo', 'glade', { ...bare, transferredFrom: account.repo, createdAt: new Date().toISOString() })
  const answer = await alice.send(old, 'take-back')
  assert([403, 422].includes(answer.status))
  assert.match(alertOn(answer.text), /Not taken back: bob\.test accepted it|These settings are bob\.test’s/)
  assert.notEqual((await recordOf('alice', 'glade'))?.transferredTo, undefined)
})

test('HON-4 a commit that is pushed while the branches are copied is copied too; answers that are lost are found by reading', async t => {
  const at = '/alice.test/meadow/settings'
  const dir = newRepo(t)
  commit(dir, 'main', { 'a.txt': 'one\n' })
  await people.alice.put('dev.knotless.repo', 'meadow', bare)
  const account = refsAccount(people.alice, 'meadow')
  const push = async () => {
    const updates = [{ name: 'refs/heads/main', commit: git(dir, ['rev-parse', 'main']).trim() }]
    assert((await pushRefs({ gitDir: dir, updates, account, repo: account.repo, now: () => new Date() })).ok)
  }
  await push()
  await until(async () => (await fetch(`${server.url}/alice.test/meadow`)).status === 200, { timeout: 30_000 })
  await alice.edit(at, 'offer', { handle: 'bob.test' })
  const stall = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.putRecord', account: people.bob.did })
  const sent = accept(bob, at)
  await until(() => stall.hits() > 0, { timeout: 30_000 })
  commit(dir, 'main', { 'a.txt': 'two\n' })
  await push()
  const lost = network.faults.add({ fault: 'lose', method: 'com.atproto.repo.putRecord', account: people.bob.did, times: 2 })
  stall.clear()
  assert.equal((await sent).status, 303)
  assert.equal(lost.hits(), 2)
  const refs = JSON.stringify((await people.bob.get('dev.knotless.refs', 'meadow'))?.value.refs)
  assert(refs.includes(git(dir, ['rev-parse', 'main']).trim()))
  assert.equal(viewOf(account.repo)?.movedTo, uriOf('bob', 'meadow'))
})
