import assert from 'node:assert/strict'
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { maintainMirror, wantsUpkeep } from '../../src/git/maintain.ts'
import { runGit } from '../../src/git/run.ts'
import { syncMirror } from '../../src/git/sync.ts'
import { type Blobs, blobsFrom, commit, git, makePack, newMirror, newRepo, packRow, recordOf, snapshot } from './support.ts'

/** A mirror of a repository that grows by a pack per commit. */
async function growing(t: TestContext) {
  const work = newRepo(t)
  const blobs: Blobs = new Map()
  const mirror = await newMirror(t)
  const packs: ReturnType<typeof packRow>[] = []
  let tip: string | undefined
  async function grow(content: string): Promise<string> {
    const next = commit(work, 'main', { a: content })
    packs.push(packRow(blobs, makePack(work, [next], tip === undefined ? [] : [tip])))
    tip = next
    const done = await syncMirror(mirror, recordOf({ 'refs/heads/main': next }, packs), blobsFrom(blobs))
    assert.equal(done.ok, true, JSON.stringify(done))
    return next
  }
  return { mirror, grow }
}

const bitmapsOf = (dir: string) => Object.keys(snapshot(dir)).filter(name => /\/multi-pack-index-[0-9a-f]+\.bitmap$/.test(name))

test('upkeep makes a bitmap that clones are served from, of one pack or of many, and makes it anew when packs came in', async t => {
  const { mirror, grow } = await growing(t)
  assert.deepEqual(await maintainMirror(mirror, Date.now()), { ok: true })
  assert.equal(await wantsUpkeep(mirror), false)
  await grow('0')
  assert.equal(await wantsUpkeep(mirror), true)
  assert.deepEqual(await maintainMirror(mirror, Date.now()), { ok: true })
  const [first, ...others] = bitmapsOf(mirror.dir)
  assert.ok(first !== undefined && others.length === 0)
  assert.equal(await wantsUpkeep(mirror), false)
  for (let n = 1; n <= 3; n++) await grow(`${n}`)
  assert.equal(await wantsUpkeep(mirror), false)
  for (let n = 4; n <= 17; n++) await grow(`${n}`)
  assert.equal(await wantsUpkeep(mirror), true)
  assert.deepEqual(await maintainMirror(mirror, Date.now()), { ok: true })
  assert.equal(await wantsUpkeep(mirror), false)
  const [second, ...more] = bitmapsOf(mirror.dir)
  assert.ok(second !== undefined && second !== first && more.length === 0)
  const tested = await runGit(['rev-list', '--test-bitmap', 'refs/heads/main'], { dir: mirror.dir })
  assert.match(tested.stderr, /OK!/)
  git(mirror.dir, ['fsck', '--full'])
  const before = snapshot(mirror.dir)
  assert.deepEqual(await maintainMirror(mirror, Date.now()), { ok: true })
  assert.deepEqual(Object.keys(snapshot(mirror.dir)), Object.keys(before))
})

test('nothing waits for upkeep: the mirror takes what comes in meanwhile', async t => {
  const { mirror, grow } = await growing(t)
  for (let n = 0; n < 5; n++) await grow(`${n}`)
  const order: string[] = []
  const keeping = maintainMirror(mirror, Date.now()).then(done => {
    order.push('upkeep')
    return done
  })
  await mirror.exclusive(async () => order.push('other'))
  const tip = await grow('meanwhile')
  assert.deepEqual(await keeping, { ok: true })
  assert.equal(order[0], 'other')
  assert.equal(git(mirror.dir, ['rev-parse', 'refs/heads/main']), tip)
  git(mirror.dir, ['fsck', '--full'])
})

test('upkeep that another process is at is left to it, locks of dead ones are removed', async t => {
  const { mirror, grow } = await growing(t)
  await grow('0')
  const lock = join(mirror.objects, 'pack', 'multi-pack-index.lock')
  writeFileSync(lock, '')
  assert.deepEqual(await maintainMirror(mirror, Date.now()), { ok: true })
  assert.deepEqual(bitmapsOf(mirror.dir), [])
  const old = new Date(Date.now() - 2 * 60 * 60 * 1000)
  utimesSync(lock, old, old)
  assert.deepEqual(await maintainMirror(mirror, Date.now()), { ok: true })
  assert.equal(bitmapsOf(mirror.dir).length, 1)
  const off = await maintainMirror(mirror, Date.now(), AbortSignal.abort())
  assert.equal(!off.ok && off.code, 'failed')
})
