import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { consolidate, planConsolidation } from '../../src/git/consolidate.ts'
import { syncFrom } from '../../src/git/follow.ts'
import type { Mirror } from '../../src/git/mirror.ts'
import { pushRefs } from '../../src/git/push.ts'
import { syncMirror } from '../../src/git/sync.ts'
import { at, commit, git, MemoryAccount, newMirror, newRepo, repoUri } from './support.ts'

async function push(work: string, account: MemoryAccount, branch: string, id: string): Promise<void> {
  const updates = [{ name: `refs/heads/${branch}`, commit: id }]
  const done = await pushRefs({ gitDir: work, account, updates, repo: repoUri, now: () => at, wait: async () => undefined })
  assert.equal(done.ok, true, JSON.stringify(done))
}

/** An account with so many pushes, each a small pack, one of them big, and a mirror of it. */
async function scene(t: TestContext, pushes: number): Promise<{ work: string; account: MemoryAccount; mirror: Mirror }> {
  const work = newRepo(t)
  const account = new MemoryAccount()
  for (let n = 0; n < pushes; n++) {
    const big = n === 5 ? { noise: randomBytes(100_000) } : {}
    await push(work, account, 'main', commit(work, 'main', { a: `${n}`, ...big }))
  }
  const mirror = await newMirror(t)
  assert.equal((await syncMirror(mirror, account.record, account.fetch())).ok, true)
  return { work, account, mirror }
}

const run = (mirror: Mirror, account: MemoryAccount) => consolidate({ mirror, account, repo: repoUri, now: () => at })

test('STO-3 a plan joins neighbours of a size, leaves big packs alone and comes to few packs', () => {
  assert.deepEqual(planConsolidation(Array.from({ length: 32 }, () => ({ bytes: 100 }))), [])
  const packs = Array.from({ length: 40 }, (_, n) => ({ bytes: n === 20 ? 50_000_000 : 1000 }))
  assert.deepEqual(planConsolidation(packs), [
    { start: 0, end: 20 },
    { start: 21, end: 40 },
  ])
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2 ** 34 }), { maxLength: 200 }), sizes => {
      const rows = sizes.map(bytes => ({ bytes }))
      const ranges = planConsolidation(rows)
      if (sizes.length <= 32) assert.deepEqual(ranges, [])
      const left = ranges.reduce((sum, range) => sum - (range.end - range.start) + 1, sizes.length)
      assert.ok(left <= Math.max(16, Math.min(32, sizes.length)))
      const joined = new Set(ranges.flatMap(range => Array.from({ length: range.end - range.start }, (_, n) => range.start + n)))
      const largestJoined = Math.max(0, ...[...joined].map(n => sizes[n] ?? 0))
      const smallestLeft = Math.min(...sizes.filter((_, n) => !joined.has(n) && (joined.has(n - 1) || joined.has(n + 1))), Infinity)
      assert.ok(largestJoined <= smallestLeft)
      assert.ok(ranges.every((range, n) => range.end - range.start >= 2 && range.start >= (ranges[n - 1]?.end ?? 0)))
    }),
    { numRuns: 300 },
  )
})

test('STO-3 over 32 packs are joined, the big one is left, and readers old and new are served', async t => {
  const { work, account, mirror } = await scene(t, 34)
  const bigOne = account.record?.packs[5]
  const reader = await newMirror(t)
  await syncMirror(reader, account.record, account.fetch())
  assert.deepEqual(await run(mirror, account), { ok: true, changed: true, packs: 3 })
  assert.deepEqual(account.record?.packs[1], bigOne)
  assert.deepEqual(await run(mirror, account), { ok: true, changed: false, packs: 3 })

  const tip = commit(work, 'main', { a: 'after' })
  await push(work, account, 'main', tip)
  const seen: string[] = []
  assert.equal((await syncMirror(reader, account.record, account.fetch(seen))).ok, true)
  assert.deepEqual(seen, [account.record?.packs.at(-1)?.parts[0]?.ref.$link])
  const fresh = await newMirror(t)
  assert.equal((await syncMirror(fresh, account.record, account.fetch())).ok, true)
  assert.equal(git(fresh.dir, ['rev-list', '--count', 'main']), '35')
  git(fresh.dir, ['fsck', '--strict', '--full'])
  // The mirror that did it holds the joined packs, and can go on.
  const kept: string[] = []
  await syncMirror(mirror, account.record, account.fetch(kept), { allPacks: true })
  assert.equal(kept.length, 1)
})

test('STO-3 a push wins over a consolidation', async t => {
  const { work, account, mirror } = await scene(t, 33)
  const tip = commit(work, 'main', { a: 'race' })
  let raced = false
  account.beforePut = async () => {
    if (raced) return undefined
    raced = true
    await push(work, account, 'main', tip)
    return undefined
  }
  assert.deepEqual(await run(mirror, account), { ok: true, changed: false, packs: 33 })
  assert.equal(account.record?.refs[0]?.commit, tip)
  assert.equal(account.record?.packs.length, 34)
  const behind = await run(mirror, account)
  assert.equal(!behind.ok && behind.code, 'missing-object')
  await syncMirror(mirror, account.record, account.fetch(), { allPacks: true })
  assert.equal((await run(mirror, account)).ok, true)
})

test('STO-4 a reader in the middle of its fetch follows a consolidation', async t => {
  const { account, mirror } = await scene(t, 33)
  const reader = await newMirror(t)
  let fetched = 0
  const done = await syncFrom({
    mirror: reader,
    read: () => account.read(),
    async fetchBlob(cid, size, signal) {
      if (++fetched === 4) assert.equal((await run(mirror, account)).ok, true)
      return account.fetch()(cid, size, signal)
    },
  })
  assert.equal(done.ok, true, JSON.stringify(done))
  assert.equal(done.ok && done.cid, account.cid())
  git(reader.dir, ['fsck', '--strict', '--full'])
})

test('STO-4 a part that is gone read after read makes the repository broken, after five', async t => {
  const { account } = await scene(t, 1)
  account.named.clear()
  let reads = 0
  const read = () => {
    reads += 1
    return account.read()
  }
  const mirror = await newMirror(t)
  const broken = await syncFrom({ mirror, read, fetchBlob: account.fetch() })
  assert.deepEqual([broken.ok ? '' : broken.code, reads], ['blob-missing', 5])
  const none = await syncFrom({ mirror, read: async () => undefined, fetchBlob: account.fetch() })
  assert.equal(!none.ok && none.code, 'bad-record')
  const down = await syncFrom({ mirror, read: async () => ({ code: 'upstream-failed', message: 'x' }), fetchBlob: account.fetch() })
  assert.equal(!down.ok && down.code, 'upstream-failed')
  const thrown = await syncFrom({ mirror, read: () => Promise.reject(new Error('socket hang up')), fetchBlob: account.fetch() })
  assert.equal(!thrown.ok && thrown.code, 'upstream-failed')
})
