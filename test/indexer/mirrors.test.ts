import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { DevAccount, RecordValue } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { type Samples, seedPeople, seedSamples } from '../../src/devnet/seed.ts'
import type { People } from '../../src/devnet/seed-repo.ts'
import { createRepositoryCache, findRepository, mirrorStateOf } from '../../src/indexer/read.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { type Indexed, startIndexed } from '../support/indexed.ts'
import { until } from '../support/until.ts'

let network: Network
let people: People
let samples: Samples
let indexed: Indexed
let lastKey = Date.now()
const nextKey = () => tidAt(++lastKey)
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

function view(repo = samples.orchard.uri) {
  const cache = createRepositoryCache({ index: indexed.index, now: Date.now, fold: foldRepository })
  const found = cache.viewOf(repo)
  assert.ok(found !== undefined)
  return found.view
}

const pullOf = (branch: string) => {
  const pull = samples.orchard.pulls[branch]
  assert.ok(pull !== undefined, `no pull of ${branch}`)
  return pull
}

async function refsOf(account: DevAccount): Promise<RecordValue & { refs: { name: string; commit: string; generation: number }[] }> {
  const found = await account.get('dev.knotless.refs', 'orchard')
  assert.ok(found !== undefined && Array.isArray(found.value.refs))
  return { ...found.value, refs: found.value.refs }
}

/** Puts a branch of the orchard somewhere, as a push whose objects are there already. */
async function moveBranch(account: DevAccount, branch: string, commit: string): Promise<void> {
  const record = await refsOf(account)
  const refs = record.refs.map(ref => (ref.name === `refs/heads/${branch}` ? { ...ref, commit } : ref))
  await account.put('dev.knotless.refs', 'orchard', { ...record, refs, updatedAt: now() })
  await indexed.caughtUp()
}

test('merges of open pulls at the present tip and head are known, with the files in conflict', () => {
  const { pulls, branches } = view()
  const tip = branches.get('main')?.tip
  for (const pull of pulls.values()) {
    assert.ok(pull.merge !== undefined, pull.pull.value.title)
    assert.deepEqual([pull.merge.tip, pull.merge.head], [tip, pull.head])
    assert.ok((pull.merge.touched?.length ?? 0) > 0, `what ${pull.pull.value.title} changes`)
  }
  const conflicting = [...pulls.values()].filter(pull => pull.merge?.applies === false)
  assert.deepEqual(
    conflicting.map(pull => pull.merge?.conflicts),
    [['docs/rootstocks.md']],
  )
  assert.deepEqual(conflicting[0]?.merge?.touched, ['docs/rootstocks.md'])
})

test('ADM-11 it is known which workflows stand at a tip', () => {
  assert.equal(view().branches.get('main')?.unchecked, false)
  assert.equal(view(samples.almanac.uri).branches.get('main')?.unchecked, true)
})

test('STW-8 what the queue settings at a tip ask for is known; without a file they ask for nothing', () => {
  assert.deepEqual(view().branches.get('main')?.settings, { ok: true, settings: {} })
})

test('when the branch moves every merge is made anew, and what the branch contains goes on being known', async () => {
  const before = view()
  const tip = before.branches.get('main')?.tip ?? ''
  const [first, second] = [...before.pulls.values()].filter(
    pull => pull.merge?.applies && pull.pull.value.head.repo === samples.orchard.uri,
  )
  assert.ok(first?.head !== undefined && second?.head !== undefined)
  const told: string[] = []
  const stop = indexed.indexer.onChanged(change => told.push(change.repo))
  await people.alice.create(
    'dev.knotless.state',
    { repo: samples.orchard.uri, subject: first.pull.uri, state: 'merged', commit: first.head, batch: first.head, createdAt: now() },
    nextKey(),
  )
  await people.alice.create(
    'dev.knotless.state',
    { repo: samples.orchard.uri, subject: second.pull.uri, state: 'merged', commit: second.head, batch: second.head, createdAt: now() },
    nextKey(),
  )
  await indexed.caughtUp()
  assert.deepEqual([view().pulls.get(first.pull.uri)?.mergedThere, view().pulls.get(second.pull.uri)?.mergedThere], [false, false])
  await moveBranch(people.alice, 'main', first.head)
  assert.ok(told.includes(samples.orchard.uri))
  const moved = view()
  assert.equal(moved.branches.get('main')?.tip, first.head)
  for (const pull of moved.pulls.values()) if (pull.state === 'open') assert.equal(pull.merge?.tip, first.head, pull.pull.value.title)
  assert.deepEqual([moved.pulls.get(first.pull.uri)?.mergedThere, moved.pulls.get(second.pull.uri)?.mergedThere], [true, false])
  await moveBranch(people.alice, 'main', tip)
  assert.equal(view().pulls.get(first.pull.uri)?.mergedThere, false, 'STA-5 a branch that was moved back does not contain it any more')
  stop()
})

test('a head that moves in a fork is merged anew', async () => {
  const fork = [...view().pulls.values()].find(pull => pull.pull.value.head.repo !== samples.orchard.uri)
  assert.ok(fork?.head !== undefined)
  const tip = view().branches.get('main')?.tip ?? ''
  await moveBranch(people.carol, fork.pull.value.head.branch, tip)
  const moved = view().pulls.get(fork.pull.uri)
  assert.deepEqual([moved?.head, moved?.merge?.head, moved?.merge?.empty], [tip, tip, true])
})

test('a refs record that lies is said, changes nothing in the mirror, and is mended by one that does not', async () => {
  const honest = await refsOf(people.alice)
  const lies: [string, RecordValue, RegExp][] = [
    ['a commit that no pack holds', { refs: honest.refs.map(ref => ({ ...ref, commit: 'f'.repeat(40) })) }, /missing-object/],
    [
      'a ref name git refuses',
      { refs: [...honest.refs, { name: 'refs/heads/a..b', commit: honest.refs[0]?.commit, generation: 1 }] },
      /bad-ref/,
    ],
  ]
  for (const [what, lie, code] of lies) {
    await people.alice.put('dev.knotless.refs', 'orchard', { ...honest, ...lie, updatedAt: now() })
    await indexed.caughtUp()
    const state = mirrorStateOf(indexed.index, samples.orchard.uri)
    assert.equal(state?.ok, false, what)
    assert.match(state?.code ?? '', code, what)
    assert.ok((state?.message ?? '').length > 10)
    assert.ok(state?.syncedAt !== undefined, 'when it was last well stays known')
  }
  await people.alice.put('dev.knotless.refs', 'orchard', { ...honest, updatedAt: now() })
  await indexed.caughtUp()
  assert.equal(mirrorStateOf(indexed.index, samples.orchard.uri)?.ok, true)
  assert.deepEqual(indexed.failures, [])
})

test('a server that does not give blobs is said, and asked again for the next record', async () => {
  network.faults.add({ fault: 'refuse', method: 'com.atproto.sync.getBlob' })
  const other = await startIndexed(network)
  try {
    await other.caughtUp()
    assert.equal(mirrorStateOf(other.index, samples.orchard.uri)?.code, 'upstream-failed')
    network.faults.clear()
    await people.alice.put('dev.knotless.refs', 'orchard', { ...(await refsOf(people.alice)), updatedAt: now() })
    await other.caughtUp()
    await until(() => mirrorStateOf(other.index, samples.orchard.uri)?.ok === true)
    assert.deepEqual(other.failures, [])
  } finally {
    network.faults.clear()
    await other.close()
  }
})

test('a mirror whose files were lost is filled again', async () => {
  const own = await startIndexed(network)
  await own.caughtUp()
  await own.close({ keep: true })
  rmSync(join(own.dir, 'mirrors'), { recursive: true })
  const again = await startIndexed(network, { dir: own.dir })
  try {
    await again.caughtUp()
    again.index.sqlite.exec('delete from merge_result')
    await people.bob.create(
      'dev.knotless.queue',
      { repo: samples.orchard.uri, subject: pullOf(Object.keys(samples.orchard.pulls)[0] ?? '').uri, state: 'queued', createdAt: now() },
      nextKey(),
    )
    await again.caughtUp()
    const rows = again.index.sqlite.prepare('select count(*) from merge_result').pluck().get()
    assert.ok(Number(rows) > 3, `${rows} merges were made`)
  } finally {
    await again.close()
  }
})

test('a mirror is brought to a record that was just read, for checks over fresh reads', async () => {
  const record = await people.alice.get('dev.knotless.refs', 'orchard')
  const done = await indexed.indexer.ensureMirror(samples.orchard.uri, record?.value)
  assert.ok(done.ok && done.mirror.dir.startsWith(indexed.dir))
  const wrong = await indexed.indexer.ensureMirror(samples.almanac.uri, record?.value)
  assert.deepEqual([wrong.ok, wrong.ok ? '' : wrong.code], [false, 'bad-record'])
})

test('an owner that goes takes the repository along, and nothing breaks', async () => {
  const dora = await network.createAccount('dora.test')
  const { uri } = await dora.create(
    'dev.knotless.repo',
    { defaultBranch: 'main', collaborators: [], runners: [], createdAt: now() },
    'orchard',
  )
  await dora.put('dev.knotless.refs', 'orchard', { ...(await refsOf(people.alice)), repo: uri, packs: [], refs: [] })
  await indexed.caughtUp()
  await dora.call('com.atproto.server.deactivateAccount', { input: {} })
  await indexed.caughtUp()
  assert.equal(findRepository(indexed.index, uri)?.ownerStatus, 'deactivated')
  assert.deepEqual(indexed.failures, [])
})

test('a pull from a fork that was deleted breaks nothing, and what comes after it is looked at', async () => {
  const fork = [...view().pulls.values()].find(pull => pull.pull.value.head.repo !== samples.orchard.uri)
  assert.ok(fork !== undefined)
  await people.carol.remove('dev.knotless.refs', 'orchard')
  await people.carol.remove('dev.knotless.repo', 'orchard')
  const open = {
    repo: samples.orchard.uri,
    branch: 'main',
    head: { repo: samples.orchard.uri, branch: 'main' },
    title: 'After it',
    createdAt: now(),
  }
  const { uri } = await people.bob.create('dev.knotless.pull', open, nextKey())
  await indexed.caughtUp()
  const { pulls } = view()
  assert.deepEqual([pulls.get(fork.pull.uri)?.head, pulls.get(fork.pull.uri)?.merge], [undefined, undefined])
  assert.equal(pulls.get(uri)?.merge?.empty, true)
  assert.deepEqual(indexed.failures, [])
})
