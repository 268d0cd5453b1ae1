import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { refsAccount } from '../../src/devnet/refs-account.ts'
import { type Samples, seedPeople, seedSamples } from '../../src/devnet/seed.ts'
import type { People } from '../../src/devnet/seed-repo.ts'
import { pushRefs } from '../../src/git/push.ts'
import { planPass } from '../../src/indexer/mirrors/plan.ts'
import { createRepositoryCache, mirrorStateOf } from '../../src/indexer/read.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { commit, git, newRepo } from '../git/support.ts'
import { type Indexed, startIndexed } from '../support/indexed.ts'

let network: Network
let people: People
let samples: Samples
let indexed: Indexed
let lastKey = Date.now()
const now = () => new Date().toISOString()

before(async () => {
  network = await startNetwork()
  people = await seedPeople(network)
  samples = await seedSamples(network, people)
  indexed = await startIndexed(network)
  await indexed.caughtUp()
})
after(async () => {
  await indexed?.close()
  await network?.stop()
})

function view() {
  const cache = createRepositoryCache({ index: indexed.index, now: Date.now, fold: foldRepository })
  const found = cache.viewOf(samples.orchard.uri)
  assert.ok(found !== undefined)
  return found.view
}

async function openPull(by: DevAccount, head: { repo: string; branch: string }): Promise<string> {
  const fields = { repo: samples.orchard.uri, branch: 'main', head, title: 'From elsewhere', createdAt: now() }
  const { uri } = await by.create('dev.knotless.pull', fields, tidAt(++lastKey))
  await indexed.caughtUp()
  return uri
}

/** A repository of one commit that has nothing to do with any other. */
async function strangeFork(t: TestContext, account: DevAccount, name: string): Promise<string> {
  const dir = newRepo(t)
  const id = commit(dir, 'main', { 'strange.txt': `${name}\n` })
  const refs = refsAccount(account, name)
  const updates = [{ name: 'refs/heads/main', commit: git(dir, ['rev-parse', id]) }]
  const pushed = await pushRefs({ gitDir: dir, account: refs, repo: refs.repo, updates, now: () => new Date() })
  assert.ok(pushed.ok)
  return refs.repo
}

test('a pull without common history says so, and is not merged again and again', async t => {
  const repo = await strangeFork(t, people.mallory, 'strange')
  const uri = await openPull(people.mallory, { repo, branch: 'main' })
  const pull = view().pulls.get(uri)
  assert.deepEqual([pull?.fault?.of, pull?.fault?.code, pull?.fault?.passing, pull?.merge], ['merge', 'unrelated', false, undefined])
  assert.match(pull?.fault?.message ?? '', /no history in common/)
  assert.deepEqual(planPass(indexed.index, samples.orchard.uri)?.pulls, [], 'there is nothing left to look at')
})

test('a fork’s refs record that lies is said on its pull, and on no other', async t => {
  const repo = await strangeFork(t, people.mallory, 'lying')
  const uri = await openPull(people.mallory, { repo, branch: 'main' })
  const honest = await people.mallory.get('dev.knotless.refs', 'lying')
  assert.ok(honest !== undefined)
  for (const [lie, code] of [
    [{ refs: [{ name: 'refs/heads/main', commit: 'f'.repeat(40), generation: 1 }] }, 'missing-object'],
    [{ refs: [{ name: 'HEAD', commit: 'f'.repeat(40), generation: 1 }] }, 'bad-ref'],
    [{ repo: samples.orchard.uri }, 'bad-record'],
  ] as const) {
    await people.mallory.put('dev.knotless.refs', 'lying', { ...honest.value, ...lie, updatedAt: now() })
    await indexed.caughtUp()
    const { pulls } = view()
    assert.deepEqual([pulls.get(uri)?.fault?.of, pulls.get(uri)?.fault?.code], ['head', code])
    for (const pull of pulls.values()) if (pull.pull.did !== people.mallory.did) assert.equal(pull.fault, undefined)
  }
  await people.mallory.put('dev.knotless.refs', 'lying', { ...honest.value, updatedAt: now() })
  await indexed.caughtUp()
  assert.equal(view().pulls.get(uri)?.fault?.code, 'unrelated')
})

test('a head in a repository that is not there is gone, once its account was read', async () => {
  const uri = await openPull(people.mallory, { repo: `at://${people.mallory.did}/dev.knotless.repo/nothing`, branch: 'main' })
  assert.deepEqual([view().pulls.get(uri)?.headGone, view().pulls.get(uri)?.fault], [true, undefined])
})

test('STO-1 a refs record that its lexicon refuses is said with what is wrong, and mended by one that is right', async () => {
  const honest = await people.alice.get('dev.knotless.refs', 'orchard')
  assert.ok(honest !== undefined && Array.isArray(honest.value.refs))
  const main = honest.value.refs.find(ref => ref.name === 'refs/heads/main')
  const many = Array.from({ length: 2_001 }, (_, n) => ({ ...main, name: `refs/heads/many-${n}` }))
  await people.alice.put('dev.knotless.refs', 'orchard', { ...honest.value, refs: many, updatedAt: now() })
  await indexed.caughtUp()
  const state = mirrorStateOf(indexed.index, samples.orchard.uri)
  assert.deepEqual([state?.ok, state?.code], [false, 'too-large'])
  assert.match(state?.message ?? '', /2,001 refs/)
  const own = samples.orchard.pulls['label-variety']?.uri ?? ''
  assert.deepEqual([view().pulls.get(own)?.fault?.of, view().pulls.get(own)?.fault?.code], ['target', 'too-large'])
  assert.equal(view().present, undefined, 'what branches there are is not known')

  await people.alice.put('dev.knotless.refs', 'orchard', { ...honest.value, updatedAt: now() })
  await indexed.caughtUp()
  assert.equal(mirrorStateOf(indexed.index, samples.orchard.uri)?.ok, true)
  assert.equal(view().pulls.get(own)?.fault, undefined)
  assert.deepEqual(indexed.failures, [])
})
