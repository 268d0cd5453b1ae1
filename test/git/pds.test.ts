import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, type TestContext, test } from 'node:test'
import { createGuardedFetch, type GuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../src/atproto/identity.ts'
import { parseRecordKey } from '../../src/atproto/ids.ts'
import { createReader, type Reader } from '../../src/atproto/reader.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { refsAccount } from '../../src/devnet/refs-account.ts'
import { consolidate } from '../../src/git/consolidate.ts'
import { syncFrom } from '../../src/git/follow.ts'
import type { FetchBlob } from '../../src/git/incoming.ts'
import { mergeOnto } from '../../src/git/merge.ts'
import type { Mirror } from '../../src/git/mirror.ts'
import { partLimits } from '../../src/git/parts.ts'
import { diffOf } from '../../src/git/pull.ts'
import { type PushInput, pushRefs } from '../../src/git/push.ts'
import { commit, git, newMirror, newRepo } from './support.ts'

let network: Network
let fetch: GuardedFetch
let reader: Reader
let alice: DevAccount
let carol: DevAccount

before(async () => {
  network = await startNetwork({ pds: { blobUploadLimit: 5 * 2 ** 20 } })
  fetch = createGuardedFetch({ allowLoopback: true })
  const identity = createIdentity({ plcUrl: network.plcUrl, handleResolver: network.pdsUrl, fetch, now: Date.now })
  reader = createReader({ identity, fetch, now: Date.now })
  alice = await network.createAccount('alice.test')
  carol = await network.createAccount('carol.test')
})
after(async () => {
  fetch.close()
  await network.stop()
})

function push(
  gitDir: string,
  owner: DevAccount,
  name: string,
  branches: { [branch: string]: string | null },
  more: Partial<PushInput> = {},
) {
  const account = refsAccount(owner, name)
  const updates = Object.entries(branches).map(([branch, id]) => ({ name: `refs/heads/${branch}`, commit: id }))
  return pushRefs({ gitDir, updates, account, repo: account.repo, now: () => new Date(), ...more })
}

/** Brings a mirror to what the account's own server says, by the project's own reads. */
async function follow(mirror: Mirror, owner: DevAccount, name: string, asked: string[] = [], allPacks = false) {
  const rkey = parseRecordKey(name)
  assert.ok(rkey)
  const fetchBlob: FetchBlob = async (cid, size, signal) => {
    asked.push(cid)
    return (await reader.getBlob(owner.did, cid, { maxBytes: size, signal })) ?? { code: 'blob-missing', message: 'gone' }
  }
  const read = async () => {
    const found = await reader.getRecord(owner.did, 'dev.knotless.refs', rkey)
    return found === undefined ? undefined : { record: found.value, cid: found.cid }
  }
  return syncFrom({ mirror, read, fetchBlob, options: { repo: refsAccount(owner, name).repo, allPacks } })
}

async function pushed(t: TestContext, name: string): Promise<{ work: string; mirror: Mirror; base: string }> {
  const work = newRepo(t)
  const base = commit(work, 'main', { a: '1\n' })
  const done = await push(work, alice, name, { main: base })
  assert.ok(done.ok, JSON.stringify(done))
  const mirror = await newMirror(t)
  assert.equal((await follow(mirror, alice, name)).ok, true)
  return { work, mirror, base }
}

test('STO-1 STO-2 on a real server: pushes in parts, a mirror that fetches what is new, the same objects', async t => {
  const { work, mirror } = await pushed(t, 'parts')
  const two = commit(work, 'main', { a: '2\n', noise: randomBytes(11 * 2 ** 20) })
  const done = await push(work, alice, 'parts', { main: two, topic: two })
  assert.ok(done.ok, JSON.stringify(done))
  assert.equal(done.record.packs[1]?.parts.length, 3)
  assert.ok(done.record.packs[1]?.parts.every(part => part.size <= partLimits.fallback))
  const asked: string[] = []
  assert.equal((await follow(mirror, alice, 'parts', asked)).ok, true)
  assert.deepEqual(
    asked,
    done.record.packs[1]?.parts.map(part => part.ref.$link),
  )
  assert.equal(git(mirror.dir, ['rev-parse', 'topic']), two)
  git(mirror.dir, ['fsck', '--strict', '--full'])
})

test('STO-6 on a real server: pushes to many branches at once all land, to one branch one does', async t => {
  const { work, mirror, base } = await pushed(t, 'races')
  const sides = ['a', 'b', 'c', 'd', 'e'].map(name => [name, commit(work, name, { [name]: name }, { parents: [base] })] as const)
  const all = await Promise.all(sides.map(([name, id]) => push(work, alice, 'races', { [name]: id })))
  assert.deepEqual(
    all.map(result => result.ok),
    sides.map(() => true),
  )
  const rivals = ['x', 'y', 'z'].map(name => commit(work, name, { main: name }, { parents: [base] }))
  const account = refsAccount(alice, 'races')
  const results = await Promise.all(
    rivals.map(id =>
      pushRefs({
        gitDir: work,
        updates: [{ name: 'refs/heads/main', commit: id, old: base }],
        account,
        repo: account.repo,
        now: () => new Date(),
      }),
    ),
  )
  assert.equal(results.filter(result => result.ok).length, 1)
  assert.deepEqual(
    results.flatMap(result => (result.ok ? [] : [result.code])),
    ['branch-moved', 'branch-moved'],
  )
  assert.equal((await follow(mirror, alice, 'races')).ok, true)
  assert.equal(git(mirror.dir, ['rev-parse', 'main']), rivals[results.findIndex(result => result.ok)])
  assert.equal(git(mirror.dir, ['for-each-ref']).split('\n').length, 6)
})

test('STO-7 on a real server: a lost answer is settled, and the push made once', async t => {
  const { work, mirror } = await pushed(t, 'lost')
  const two = commit(work, 'main', { a: '2\n' })
  const fault = network.faults.add({ fault: 'lose', method: 'com.atproto.repo.putRecord', times: 1 })
  const done = await push(work, alice, 'lost', { main: two })
  assert.ok(done.ok, JSON.stringify(done))
  assert.equal(fault.hits(), 1)
  fault.clear()
  assert.equal((await follow(mirror, alice, 'lost')).ok, true)
  assert.equal(git(mirror.dir, ['rev-parse', 'main']), two)
  assert.equal(done.record.packs.length, 2)
})

test('STO-3 STO-4 on a real server: a consolidation drops the old parts, and mirrors old and new follow', async t => {
  const { work, mirror } = await pushed(t, 'many')
  for (let n = 0; n < 33; n++) assert.equal((await push(work, alice, 'many', { main: commit(work, 'main', { a: `${n}\n` }) })).ok, true)
  assert.equal((await follow(mirror, alice, 'many', [], true)).ok, true)
  const account = refsAccount(alice, 'many')
  const joined = await consolidate({ mirror, account, repo: account.repo, now: () => new Date() })
  assert.deepEqual(joined, { ok: true, changed: true, packs: 1 })
  const tip = commit(work, 'main', { a: 'after\n' })
  assert.equal((await push(work, alice, 'many', { main: tip })).ok, true)
  const asked: string[] = []
  assert.equal((await follow(mirror, alice, 'many', asked)).ok, true)
  assert.equal(asked.length, 1)
  const fresh = await newMirror(t)
  assert.equal((await follow(fresh, alice, 'many')).ok, true)
  assert.equal(git(fresh.dir, ['rev-list', '--count', 'main']), '35')
})

test('STO-8 ADM-5 on a real server: a pull from a fork applies, then conflicts, naming the file', async t => {
  const { work, mirror, base } = await pushed(t, 'forked')
  const fork = newRepo(t)
  git(fork, ['fetch', '-q', work, 'refs/heads/main:refs/heads/main'])
  const head = commit(fork, 'fix', { a: 'fork\n' }, { parents: [base] })
  assert.equal((await push(fork, carol, 'forked', { main: base, fix: head })).ok, true)
  const source = await newMirror(t)
  assert.equal((await follow(source, carol, 'forked')).ok, true)
  const fine = await mergeOnto({ target: mirror, tip: base, source, head })
  assert.ok(fine.ok && fine.applies)
  const diff = await diffOf({ target: mirror, tip: base, source, head })
  assert.deepEqual(diff.ok && diff.totals, { files: 1, additions: 1, deletions: 1, exact: true })
  const tip = commit(work, 'main', { a: 'alice\n' })
  await push(work, alice, 'forked', { main: tip })
  await follow(mirror, alice, 'forked')
  const clash = await mergeOnto({ target: mirror, tip, source, head })
  assert.ok(clash.ok && !clash.applies)
  assert.deepEqual(clash.conflicts, ['a'])
})

test('a repository that was never pushed to, and one whose server is down, are said as what they are', async t => {
  const mirror = await newMirror(t)
  const none = await follow(mirror, alice, 'never')
  assert.equal(!none.ok && none.code, 'bad-record')
  const { work } = await pushed(t, 'down')
  const two = commit(work, 'main', { a: '2\n' })
  const fault = network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.putRecord', status: 503 })
  const refused = await push(work, alice, 'down', { main: two }, { wait: async () => undefined })
  fault.clear()
  assert.equal(!refused.ok && refused.code, 'upstream-failed', JSON.stringify(refused))
})
