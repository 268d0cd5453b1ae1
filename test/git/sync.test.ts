import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FetchBlob } from '../../src/git/incoming.ts'
import { packsOf } from '../../src/git/mirror.ts'
import { readRefs } from '../../src/git/packed-refs.ts'
import { syncMirror } from '../../src/git/sync.ts'
import {
  type Blobs,
  blobsFrom,
  commit,
  git,
  makePack,
  newMirror,
  newRepo,
  packRow,
  recordOf,
  recordOfRepo,
  repoUri,
  snapshot,
} from './support.ts'

test('STO-1 STO-2 a mirror becomes what the record says: packs in parts, branches, tags', async t => {
  const work = newRepo(t)
  const first = commit(work, 'main', { 'a.txt': 'a\n' })
  commit(work, 'topic/x', { 'a.txt': 'a\n', 'b.txt': 'b\n' }, { parents: [first] })
  git(work, ['tag', '-a', '-m', 'one', 'v1', first])
  const blobs: Blobs = new Map()
  const record = recordOfRepo(work, blobs)
  const cut = {
    ...record,
    packs: [
      packRow(
        blobs,
        makePack(
          work,
          record.refs.map(row => row.commit),
        ),
        100,
      ),
    ],
  }
  assert.ok((cut.packs[0]?.parts.length ?? 0) > 3)

  const mirror = await newMirror(t)
  assert.deepEqual(await syncMirror(mirror, cut, blobsFrom(blobs), { repo: repoUri }), { ok: true, changed: true, refs: cut.refs })
  assert.deepEqual([...(await readRefs(mirror)).keys()].sort(), ['refs/heads/main', 'refs/heads/topic/x', 'refs/tags/v1'])
  assert.equal(git(mirror.dir, ['show', 'topic/x:b.txt']), 'b')
  git(mirror.dir, ['fsck', '--strict', '--full'])
  assert.deepEqual(await syncMirror(mirror, cut, blobsFrom(blobs)), { ok: true, changed: false, refs: cut.refs })
})

test('STO-2 only packs that the mirror lacks are fetched, and each is stored as it is', async t => {
  const work = newRepo(t)
  const one = commit(work, 'main', { a: '1' })
  const blobs: Blobs = new Map()
  const p1 = packRow(blobs, makePack(work, [one]))
  const mirror = await newMirror(t)
  await syncMirror(mirror, recordOf({ 'refs/heads/main': one }, [p1]), blobsFrom(blobs))

  const two = commit(work, 'main', { a: '2' })
  const p2 = packRow(blobs, makePack(work, [two], [one]))
  const seen: string[] = []
  const done = await syncMirror(mirror, recordOf({ 'refs/heads/main': two }, [p1, p2]), blobsFrom(blobs, seen))
  assert.equal(done.ok && done.changed, true)
  assert.deepEqual(seen, [p2.parts[0]?.ref.$link])
  assert.deepEqual([...(await packsOf(mirror))].sort(), [p1.id, p2.id].sort())
  assert.equal(git(mirror.dir, ['rev-parse', 'main']), two)
})

test('STO-3 after a consolidation a mirror that has the old packs fetches only what is new', async t => {
  const work = newRepo(t)
  const blobs: Blobs = new Map()
  const ids = ['1', '2', '3', '4', '5'].map(text => commit(work, 'main', { a: text }))
  const [one = '', two = '', three = '', four = '', five = ''] = ids
  const p1 = packRow(blobs, makePack(work, [one]))
  const p2 = packRow(blobs, makePack(work, [two], [one]))
  const mirror = await newMirror(t)
  await syncMirror(mirror, recordOf({ 'refs/heads/main': two }, [p1, p2]), blobsFrom(blobs))

  const joined = packRow(blobs, makePack(work, [three]))
  const p4 = packRow(blobs, makePack(work, [four], [three]))
  const p5 = packRow(blobs, makePack(work, [five], [four]))
  const seen: string[] = []
  // It lacks the third commit, which only the joined pack holds: all three are needed, whatever the order of trying.
  assert.equal((await syncMirror(mirror, recordOf({ 'refs/heads/main': five }, [joined, p4, p5]), blobsFrom(blobs, seen))).ok, true)
  assert.equal(seen.length, 3)

  const six = commit(work, 'main', { a: '6' })
  const all = packRow(blobs, makePack(work, [five]))
  const p6 = packRow(blobs, makePack(work, [six], [five]))
  const later: string[] = []
  assert.equal((await syncMirror(mirror, recordOf({ 'refs/heads/main': six }, [all, p6]), blobsFrom(blobs, later))).ok, true)
  assert.deepEqual(later, [p6.parts[0]?.ref.$link])
  const again = await syncMirror(mirror, recordOf({ 'refs/heads/main': six }, [all, p6]), blobsFrom(blobs, later), { allPacks: true })
  assert.equal(again.ok && again.changed, true)
  assert.equal((await packsOf(mirror)).has(all.id), true)
  git(mirror.dir, ['fsck', '--strict', '--full'])
})

test('packs listed in another order than they lead to one another come in all the same', async t => {
  const work = newRepo(t)
  const blobs: Blobs = new Map()
  const one = commit(work, 'main', { a: '1' })
  const two = commit(work, 'main', { a: '2' })
  const three = commit(work, 'main', { a: '3' })
  const packs = [
    packRow(blobs, makePack(work, [three], [two])),
    packRow(blobs, makePack(work, [two], [one])),
    packRow(blobs, makePack(work, [one])),
  ]
  const mirror = await newMirror(t)
  const done = await syncMirror(mirror, recordOf({ 'refs/heads/main': three }, packs), blobsFrom(blobs))
  assert.equal(done.ok, true)
  git(mirror.dir, ['fsck', '--strict', '--full'])
})

test('a branch may become a folder of branches, and back, in one step', async t => {
  const work = newRepo(t)
  const one = commit(work, 'main', { a: '1' })
  const two = commit(work, 'main', { a: '2' })
  const blobs: Blobs = new Map()
  const p1 = packRow(blobs, makePack(work, [two]))
  const mirror = await newMirror(t)
  for (const name of ['refs/heads/x', 'refs/heads/x/y', 'refs/heads/x/y/z', 'refs/heads/x']) {
    assert.equal((await syncMirror(mirror, recordOf({ [name]: two }, [p1]), blobsFrom(blobs))).ok, true)
    assert.deepEqual([...(await readRefs(mirror))], [[name, two]])
  }
  // Loose refs of another tool, one of which hides the record's.
  git(mirror.dir, ['update-ref', 'refs/heads/x', one])
  git(mirror.dir, ['update-ref', 'refs/heads/stray', one])
  assert.equal((await syncMirror(mirror, recordOf({ 'refs/heads/x': two }, [p1]), blobsFrom(blobs))).ok, true)
  assert.deepEqual([...(await readRefs(mirror))], [['refs/heads/x', two]])
})

test('syncs of one mirror run one after the other', async t => {
  const work = newRepo(t)
  const blobs: Blobs = new Map()
  const commits = ['1', '2', '3', '4'].map(text => commit(work, 'main', { a: text }))
  const packs = commits.map((id, n) => packRow(blobs, makePack(work, [id], commits.slice(0, n))))
  const mirror = await newMirror(t)
  let open = 0
  let most = 0
  const slow: FetchBlob = async function* (cid) {
    most = Math.max(most, ++open)
    for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
    yield blobs.get(cid) ?? Buffer.alloc(0)
    open -= 1
  }
  const done = await Promise.all(
    commits.map((id, n) => syncMirror(mirror, recordOf({ 'refs/heads/main': id }, packs.slice(0, n + 1)), slow)),
  )
  assert.deepEqual(
    done.map(result => result.ok),
    [true, true, true, true],
  )
  assert.equal(most, 1)
  assert.equal(git(mirror.dir, ['rev-parse', 'main']), commits[3])
})

test('a sync cut off at any point is made good by the next', async t => {
  const work = newRepo(t)
  const blobs: Blobs = new Map()
  const one = commit(work, 'main', { a: '1' })
  const two = commit(work, 'main', { a: '2' })
  const p1 = packRow(blobs, makePack(work, [one]))
  const p2 = packRow(blobs, makePack(work, [two], [one]))
  const whole = recordOf({ 'refs/heads/main': two }, [p1, p2])
  const mirror = await newMirror(t)
  await syncMirror(mirror, recordOf({ 'refs/heads/main': one }, [p1]), blobsFrom(blobs))
  const before = snapshot(mirror.dir)

  // Between the packs and the refs: packs without a ref.
  const other = await newMirror(t)
  await syncMirror(other, whole, blobsFrom(blobs))
  const from = `${other.objects}/pack/pack-${p2.id}`
  const to = `${mirror.objects}/pack/pack-${p2.id}`
  // Between the pack and its index: as good as not there.
  cpSync(`${from}.pack`, `${to}.pack`)
  assert.equal((await packsOf(mirror)).has(p2.id), false)
  // A quarantine of a process that is gone, and a half-written file of refs.
  mkdirSync(`${mirror.dir}/quarantine/999999999-x/pack`, { recursive: true })
  writeFileSync(`${mirror.dir}/quarantine/999999999-x/pack/pack-1.pack`, 'PACK')
  writeFileSync(`${mirror.dir}/packed-refs.half`, 'garbage')
  assert.equal((await syncMirror(mirror, whole, blobsFrom(blobs))).ok, true)
  assert.equal(git(mirror.dir, ['rev-parse', 'main']), two)
  git(mirror.dir, ['fsck', '--strict', '--full'])
  const after = snapshot(mirror.dir)
  assert.deepEqual(
    Object.keys(after).filter(path => path.startsWith('/quarantine')),
    [],
  )
  assert.ok(Object.keys(before).length < Object.keys(after).length)

  // After the packs, before the refs: the refs alone are missing, and nothing is fetched.
  const seen: string[] = []
  await syncMirror(other, recordOf({ 'refs/heads/main': one }, [p1, p2]), blobsFrom(blobs))
  assert.equal((await syncMirror(other, whole, blobsFrom(blobs, seen))).ok, true)
  assert.deepEqual(seen, [])
})

test('a sync killed in the middle of a pack leaves the refs, and the next one cleans up after it', async t => {
  const work = newRepo(t)
  const blobs: Blobs = new Map()
  const one = commit(work, 'main', { a: '1' })
  const two = commit(work, 'main', { a: '2' })
  const packs = [packRow(blobs, makePack(work, [one])), packRow(blobs, makePack(work, [two], [one]))]
  const mirror = await newMirror(t)
  await syncMirror(mirror, recordOf({ 'refs/heads/main': one }, packs.slice(0, 1)), blobsFrom(blobs))
  const before = snapshot(mirror.dir)
  const record = recordOf({ 'refs/heads/main': two }, packs)
  const program = spawn(process.execPath, [join(import.meta.dirname, 'stalled-sync.ts'), mirror.dir, JSON.stringify(record)])
  await once(program.stdout, 'data')
  program.kill('SIGKILL')
  await once(program, 'close')
  assert.equal(
    Object.keys(snapshot(mirror.dir)).some(path => path.startsWith('/quarantine')),
    true,
  )
  assert.equal(git(mirror.dir, ['rev-parse', 'main']), one)
  const left = Object.entries(snapshot(mirror.dir)).filter(([path]) => !path.startsWith('/quarantine'))
  assert.deepEqual(Object.fromEntries(left), before)
  assert.equal((await syncMirror(mirror, record, blobsFrom(blobs))).ok, true)
  assert.equal(git(mirror.dir, ['rev-parse', 'main']), two)
  assert.equal(
    Object.keys(snapshot(mirror.dir)).some(path => path.startsWith('/quarantine')),
    false,
  )
})

test('an empty record empties the refs and leaves the packs', async t => {
  const work = newRepo(t)
  const one = commit(work, 'main', { a: '1' })
  const blobs: Blobs = new Map()
  const p1 = packRow(blobs, makePack(work, [one]))
  const mirror = await newMirror(t)
  assert.equal((await syncMirror(mirror, recordOf({}, []), blobsFrom(blobs))).ok, true)
  await syncMirror(mirror, recordOf({ 'refs/heads/main': one }, [p1]), blobsFrom(blobs))
  assert.equal((await syncMirror(mirror, recordOf({}, []), blobsFrom(blobs))).ok, true)
  assert.equal((await readRefs(mirror)).size, 0)
  assert.equal((await packsOf(mirror)).size, 1)
})
