import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FetchBlob } from '../../src/git/incoming.ts'
import type { Mirror } from '../../src/git/mirror.ts'
import type { PackRow } from '../../src/git/refs-record.ts'
import { type SyncOptions, syncMirror } from '../../src/git/sync.ts'
import { repeatDelta, seal, writePack } from './pack-writer.ts'
import {
  type Blobs,
  blobsFrom,
  commit,
  git,
  gitBytes,
  makePack,
  newMirror,
  newRepo,
  packOf,
  packRow,
  recordOf,
  repoUri,
  snapshot,
} from './support.ts'

/** A mirror at one commit, a second commit to lie about, and what is checked after each lie. */
async function scene(t: TestContext) {
  const work = newRepo(t)
  const blobs: Blobs = new Map()
  const one = commit(work, 'main', { a: '1\n' })
  const p1 = packRow(blobs, makePack(work, [one]))
  const mirror = await newMirror(t)
  assert.equal((await syncMirror(mirror, recordOf({ 'refs/heads/main': one }, [p1]), blobsFrom(blobs))).ok, true)
  const two = commit(work, 'main', { a: '1\n', 'b.txt': 'two\n'.repeat(300) })
  const pack = makePack(work, [two], [one])
  return { work, blobs, one, two, p1, pack, mirror, good: packRow(blobs, pack) }
}

/** Syncs, expects the refusal, and that not one byte of the mirror is another; answers the message. */
async function refused(mirror: Mirror, record: unknown, fetchBlob: FetchBlob, code: string, options: SyncOptions = {}): Promise<string> {
  const before = snapshot(mirror.dir)
  const result = await syncMirror(mirror, record, fetchBlob, { repo: repoUri, ...options })
  assert.equal(result.ok, false)
  assert.equal(result.ok ? '' : result.code, code, JSON.stringify(result))
  assert.deepEqual(snapshot(mirror.dir), before)
  const message = result.ok ? '' : result.message
  assert.equal(/\/(dev|tmp|home|work)|\bat \w+ \(/.test(message), false, message)
  return message
}

const main = (id: string) => ({ 'refs/heads/main': id })

test('STO-11 a part with another hash than its address says', async t => {
  const { blobs, mirror, two, p1, good } = await scene(t)
  const bad = new Map(blobs)
  const cid = good.parts[0]?.ref.$link ?? ''
  const bytes = Buffer.from(blobs.get(cid) ?? [])
  bytes[20] = (bytes[20] ?? 0) ^ 1
  bad.set(cid, bytes)
  const message = await refused(mirror, recordOf(main(two), [p1, good]), blobsFrom(bad), 'bad-pack')
  assert.match(message, /hash/)
  assert.equal((await syncMirror(mirror, recordOf(main(two), [p1, good]), blobsFrom(blobs))).ok, true)
})

test('STO-11 a corrupt pack, with and without a checksum that fits', async t => {
  const { blobs, mirror, two, p1, pack } = await scene(t)
  const torn = Buffer.from(pack)
  torn[40] = (torn[40] ?? 0) ^ 0xff
  await refused(mirror, recordOf(main(two), [p1, packRow(blobs, torn)]), blobsFrom(blobs), 'bad-pack')
  const sealed = seal(torn.subarray(0, -20))
  await refused(mirror, recordOf(main(two), [p1, packRow(blobs, sealed)]), blobsFrom(blobs), 'bad-pack')
})

test('STO-2 a pack that is not what the record says of it', async t => {
  const { blobs, mirror, two, p1, pack, good } = await scene(t)
  const lies: PackRow[] = [
    { ...good, id: 'f'.repeat(40) },
    { ...good, objects: good.objects + 1 },
    packRow(blobs, seal(Buffer.concat([pack.subarray(0, -20), Buffer.from('junk')]))),
    packRow(blobs, Buffer.concat([pack, Buffer.from('more'), pack.subarray(-20)])),
    packRow(blobs, Buffer.from(`PACK\0\0\0\x03${'x'.repeat(64)}`)),
    { ...packRow(blobs, Buffer.from('GIF89a'.repeat(20))), objects: 2 },
    packRow(blobs, pack.subarray(0, 60)),
  ]
  for (const lie of lies)
    await refused(mirror, recordOf(main(two), [p1, { ...lie, objects: Math.min(lie.objects, lie.bytes) }]), blobsFrom(blobs), 'bad-pack')
})

test('STO-11 links to objects that no pack holds: a blob, a tree, a parent, the base of a delta', async t => {
  const { work, blobs, mirror, one, two, p1, good } = await scene(t)
  const tree = git(work, ['rev-parse', `${two}^{tree}`])
  const blob = git(work, ['rev-parse', `${two}:b.txt`])
  for (const ids of [[two, tree], [two, blob], [tree]]) {
    await refused(mirror, recordOf(main(two), [p1, packRow(blobs, packOf(work, ids))]), blobsFrom(blobs), 'missing-object')
  }
  const three = commit(work, 'main', { a: '3' })
  const orphan = packRow(blobs, makePack(work, [three], [two]))
  await refused(mirror, recordOf(main(three), [p1, orphan]), blobsFrom(blobs), 'missing-object')
  commit(work, 'thin', { 'b.txt': `${'two\n'.repeat(300)}more\n` }, { parents: [two] })
  const thin = git(work, ['rev-parse', 'thin'])
  const bytes = gitBytes(work, ['pack-objects', '--revs', '--thin', '--stdout', '-q'], `${thin}\n^${two}\n`)
  const empty = await newMirror(t)
  await refused(empty, recordOf(main(thin), [p1, good, packRow(blobs, bytes)]), blobsFrom(blobs), 'missing-object')
  assert.notEqual(one, two)
})

test('STO-11 a ref at a commit that is nowhere, at a blob, at a tag where a branch should be', async t => {
  const { work, blobs, mirror, one, two, p1, good } = await scene(t)
  await refused(mirror, recordOf(main('f'.repeat(40)), [p1, good]), blobsFrom(blobs), 'missing-object')
  const blob = git(work, ['rev-parse', `${two}:b.txt`])
  const message = await refused(mirror, recordOf({ ...main(two), 'refs/heads/odd': blob }, [p1, good]), blobsFrom(blobs), 'bad-ref')
  assert.match(message, /"refs\/heads\/odd".*blob/)
  await refused(mirror, recordOf({ ...main(two), 'refs/tags/odd': blob }, [p1, good]), blobsFrom(blobs), 'bad-ref')
  git(work, ['tag', '-a', '-m', 'x', 'v1', one])
  git(work, ['tag', '-a', '-m', 'x', 'blob', blob])
  const tag = git(work, ['rev-parse', 'refs/tags/v1'])
  const blobTag = git(work, ['rev-parse', 'refs/tags/blob'])
  const tags = packRow(blobs, makePack(work, [tag, blobTag], [two]))
  await refused(mirror, recordOf({ ...main(two), 'refs/heads/v1': tag }, [p1, good, tags]), blobsFrom(blobs), 'bad-ref')
  await refused(mirror, recordOf({ ...main(two), 'refs/tags/v1': blobTag }, [p1, good, tags]), blobsFrom(blobs), 'bad-ref')
  assert.equal((await syncMirror(mirror, recordOf({ ...main(two), 'refs/tags/v1': tag }, [p1, good, tags]), blobsFrom(blobs))).ok, true)
})

test('STO-11 trees that no checkout should meet: .git in any dress, dots, slashes, doubles', async t => {
  const { work, blobs, mirror, p1, one } = await scene(t)
  const blob = Buffer.from(git(work, ['hash-object', '-w', '--stdin'], 'x'), 'hex')
  for (const names of [['.git'], ['.GIT'], ['git~1'], ['.gi\u200ct'], ['..'], ['.'], [''], ['a/b'], ['a', 'a'], ['b', 'a']]) {
    const tree = Buffer.concat(names.flatMap(name => [Buffer.from(`100644 ${name}\0`), blob]))
    const id = git(work, ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], tree)
    const text = `tree ${id}\nparent ${one}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`
    const evil = git(work, ['hash-object', '-t', 'commit', '-w', '--stdin'], text)
    const pack = packRow(blobs, packOf(work, [evil, id, blob.toString('hex')]))
    await refused(mirror, recordOf(main(evil), [p1, pack]), blobsFrom(blobs), 'bad-pack')
  }
})

test('STO-2 an object over 100 MiB is refused and named, however small its pack', async t => {
  const { work, blobs, mirror, p1, one } = await scene(t)
  const zeros = Buffer.alloc(100 * 2 ** 20 + 1)
  const id = git(work, ['hash-object', '-w', '--stdin'], zeros)
  const big = commit(work, 'big', { zeros: { mode: '100644', id } }, { parents: [one] })
  const pack = packRow(blobs, makePack(work, [big], [one]))
  assert.ok(pack.bytes < 200_000)
  const message = await refused(mirror, recordOf(main(big), [p1, pack]), blobsFrom(blobs), 'too-large')
  assert.match(message, new RegExp(`${id}.*100 MiB`))
})

test('STO-11 a delta bomb dies on its memory limit', async t => {
  const { blobs, mirror, two, p1 } = await scene(t)
  const base = Buffer.alloc(16 * 2 ** 20 - 1)
  const bomb = writePack([
    { type: 'blob', data: base },
    { base: 1, delta: repeatDelta(base.length, 130) },
  ])
  assert.ok(bomb.length < 20_000)
  const message = await refused(mirror, recordOf(main(two), [p1, packRow(blobs, bomb)]), blobsFrom(blobs), 'too-large')
  assert.match(message, /memory or time/)
})

test('STO-11 sizes that the record itself owns up to are refused before a byte is fetched', async t => {
  const { blobs, mirror, two, p1, good } = await scene(t)
  const seen: string[] = []
  const part = { ...good.parts[0], $type: 'blob' as const, ref: good.parts[0]?.ref ?? { $link: '' }, mimeType: 'x', size: 50 * 2 ** 20 }
  const huge = { ...good, parts: Array.from({ length: 60 }, () => part), bytes: 60 * part.size }
  await refused(mirror, recordOf(main(two), [p1, huge]), blobsFrom(blobs, seen), 'too-large')
  await refused(mirror, recordOf(main(two), [p1, good]), blobsFrom(blobs, seen), 'too-large', { bytes: good.bytes - 1 })
  const refs = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`refs/heads/b${n}`, two]))
  await refused(mirror, recordOf(refs, [p1, good]), blobsFrom(blobs, seen), 'too-large')
  const record = recordOf(main(two), [p1, good])
  await refused(mirror, { ...record, refs: [...record.refs, ...record.refs] }, blobsFrom(blobs, seen), 'bad-ref')
  await refused(mirror, recordOf({ 'refs/heads/a..b': two }, [p1, good]), blobsFrom(blobs, seen), 'bad-ref')
  await refused(mirror, { ...record, repo: `${repoUri}-of-another` }, blobsFrom(blobs, seen), 'bad-record')
  await refused(mirror, '{"$type":"dev.knotless.refs"}', blobsFrom(blobs, seen), 'bad-record')
  assert.deepEqual(seen, [])
})

test('STO-4 a part that vanished', async t => {
  const { blobs, mirror, two, p1, good } = await scene(t)
  blobs.delete(good.parts[0]?.ref.$link ?? '')
  await refused(mirror, recordOf(main(two), [p1, good]), blobsFrom(blobs), 'blob-missing')
  const thrown: FetchBlob = async function* () {
    yield Buffer.from('PACK')
    throw Object.assign(new Error('gone in /home/x'), { code: 'blob-missing' })
  }
  await refused(mirror, recordOf(main(two), [p1, good]), thrown, 'blob-missing')
})

test('STO-11 a part that never ends, stalls, breaks off or is short', async t => {
  const { blobs, mirror, two, p1, good } = await scene(t)
  const record = recordOf(main(two), [p1, good])
  let sent = 0
  let ended = false
  const endless: FetchBlob = async function* () {
    try {
      for (;;) {
        sent += 65_536
        yield Buffer.alloc(65_536)
      }
    } finally {
      ended = true
    }
  }
  await refused(mirror, record, endless, 'bad-pack')
  assert.ok(sent <= good.bytes + 2 * 65_536)
  assert.equal(ended, true)

  let aborted = false
  const stalled: FetchBlob = async function* (_cid, _size, signal) {
    signal.addEventListener('abort', () => {
      aborted = true
    })
    yield Buffer.from('PACK')
    await new Promise(() => undefined)
  }
  const message = await refused(mirror, record, stalled, 'upstream-failed', { idleMs: 30 })
  assert.match(message, /stopped coming/)
  assert.equal(aborted, true)
  const never: FetchBlob = () => new Promise(() => undefined)
  await refused(mirror, record, never, 'upstream-failed', { totalMs: 30 })

  const broken: FetchBlob = async function* () {
    yield Buffer.from('PACK')
    throw new Error('socket hang up at Socket.x (/home/x/y.js:1:1)')
  }
  await refused(mirror, record, broken, 'upstream-failed')
  const short: FetchBlob = async function* (cid) {
    yield (blobs.get(cid) ?? Buffer.alloc(0)).subarray(0, 50)
  }
  await refused(mirror, record, short, 'bad-pack')
  assert.equal((await syncMirror(mirror, record, blobsFrom(blobs))).ok, true)
})

test('one bad pack keeps the good ones before it out as well', async t => {
  const { work, blobs, mirror, two, p1, good } = await scene(t)
  const three = commit(work, 'main', { a: '3' })
  const bad = { ...packRow(blobs, makePack(work, [three], [two])), id: 'e'.repeat(40) }
  await refused(mirror, recordOf(main(three), [p1, good, bad]), blobsFrom(blobs), 'bad-pack')
  const empty = await newMirror(t)
  await refused(empty, recordOf(main(three), [p1, good, bad]), blobsFrom(blobs), 'bad-pack')
})
