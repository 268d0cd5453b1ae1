import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { constants, deflateRawSync } from 'node:zlib'
import type { Mirror } from '../../src/git/mirror.ts'
import { checkHeads, type ReceiveLimits, receivePack } from '../../src/git/receive-pack.ts'
import { syncMirror } from '../../src/git/sync.ts'
import { ObjectMaker, packHeader, repeatDelta, seal, writePack } from './pack-writer.ts'
import { type Blobs, blobsFrom, commit, git, gitBytes, makePack, newMirror, newRepo, packOf, recordOfRepo, snapshot } from './support.ts'

const main = { f: 'x\n', big: 'line\n'.repeat(2000) }

/** A mirror at one commit of a repository, and that repository to make more in. */
async function scene(t: TestContext): Promise<{ work: string; base: string; mirror: Mirror }> {
  const work = newRepo(t)
  const base = commit(work, 'main', main)
  const blobs: Blobs = new Map()
  const mirror = await newMirror(t)
  assert.equal((await syncMirror(mirror, recordOfRepo(work, blobs), blobsFrom(blobs))).ok, true)
  return { work, base, mirror }
}

async function* upload(pack: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < pack.length; start += 50_000) yield pack.subarray(start, start + 50_000)
}

function quarantines(mirror: Mirror): string[] {
  const dir = join(mirror.dir, 'quarantine')
  return existsSync(dir) ? readdirSync(dir) : []
}

/** The pack is refused, nothing of it stays, and the mirror is what it was, byte for byte. Answers what was said. */
async function refused(
  mirror: Mirror,
  pack: Uint8Array | AsyncIterable<Uint8Array>,
  code: string,
  limits?: ReceiveLimits,
): Promise<string> {
  const before = snapshot(mirror.dir)
  const received = await receivePack(mirror, pack instanceof Uint8Array ? upload(pack) : pack, limits)
  if (received.ok) await received.quarantine.close()
  assert.equal(received.ok ? 'ok' : received.code, code, JSON.stringify(received))
  assert.deepEqual(quarantines(mirror), [])
  assert.deepEqual(snapshot(mirror.dir), before)
  const message = received.ok ? '' : received.message
  assert.doesNotMatch(message, /\/(tmp|dev)\//)
  return message
}

test('STO-11 a good pack lies in its quarantine, whole, and the mirror is not touched', async t => {
  const { work, base, mirror } = await scene(t)
  const head = commit(work, 'main', { ...main, big: `${main.big}more\n` })
  const before = snapshot(mirror.dir)
  const thin = gitBytes(work, ['pack-objects', '--revs', '--thin', '--stdout', '-q'], `${head}\n^${base}\n`)
  const plain = makePack(work, [head], [base])
  assert.ok(thin.length < plain.length, 'the pack leans on objects that it does not hold')
  for (const pack of [thin, plain]) {
    const received = await receivePack(mirror, upload(pack))
    assert.ok(received.ok, JSON.stringify(received))
    const place = { dir: mirror.dir, env: received.quarantine.env }
    assert.deepEqual(await checkHeads(place, [{ old: base, new: head }]), [undefined])
    assert.equal(quarantines(mirror).length, 1)
    await received.quarantine.close()
    assert.deepEqual(quarantines(mirror), [])
  }
  assert.deepEqual(snapshot(mirror.dir), before)
  // Only refs are deleted: no pack comes. Only refs are made: one without objects.
  for (const nothing of [upload(Buffer.alloc(0)), upload(writePack([]))]) {
    const received = await receivePack(mirror, nothing)
    assert.ok(received.ok)
    await received.quarantine.close()
  }
})

test('STO-11 2 GB of zeros behind a megabyte end at the limit on CPU or on objects', async t => {
  const { mirror } = await scene(t)
  // One piece of zeros, whose compressed form may follow itself as often as one likes.
  const piece = deflateRawSync(Buffer.alloc(2 ** 26), { level: 9, finishFlush: constants.Z_FULL_FLUSH })
  const zeros = (times: number) => {
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE((((times * 2 ** 26) % 65_521) * 65_536 + 1) >>> 0)
    const data = Buffer.concat([Buffer.of(0x78, 0x01), ...Array.from({ length: times }, () => piece), Buffer.of(0x03, 0x00), sum])
    return seal(Buffer.concat([packHeader(1, 'blob', times * 2 ** 26), data]))
  }
  const small = zeros(1)
  const taken = await receivePack(mirror, upload(small))
  assert.ok(taken.ok, 'the pack is one that git takes')
  await taken.quarantine.close()
  const bomb = zeros(32)
  assert.ok(bomb.length < 2.5 * 2 ** 20)
  assert.match(await refused(mirror, bomb, 'too-large', { cpuSeconds: 1 }), /needs more memory or time/)
  assert.match(await refused(mirror, zeros(3), 'too-large'), /^Object [0-9a-f]{40} has 192 MiB; at most 100 MiB are taken/)
})

test('STO-11 a delta bomb of 20 KB ends at the limit on memory', async t => {
  const { mirror } = await scene(t)
  const base = Buffer.alloc(16 * 2 ** 20 - 1)
  const bomb = writePack([
    { type: 'blob', data: base },
    { base: 1, delta: repeatDelta(base.length, 130) },
  ])
  assert.ok(bomb.length < 20_000)
  assert.match(await refused(mirror, bomb, 'too-large'), /^The pack needs more memory or time/)
})

test('STO-11 a pack whose base, blob, tree or parent is not there is refused', async t => {
  const { work, base, mirror } = await scene(t)
  const unseen = commit(work, 'other', { big: 'other\n'.repeat(3000) })
  const head = commit(work, 'other', { big: `${'other\n'.repeat(3000)}more\n` })
  const thin = gitBytes(work, ['pack-objects', '--revs', '--thin', '--stdout', '-q'], `${head}\n^${unseen}\n`)
  assert.match(await refused(mirror, thin, 'missing-object'), /^The pack leads to objects that the repository does not hold/)
  const tree = git(work, ['rev-parse', `${head}^{tree}`])
  const blob = git(work, ['rev-parse', `${head}:big`])
  const root = commit(work, 'root', { big: 'root' }, { parents: [] })
  for (const ids of [[head, tree, blob], [root], [root, git(work, ['rev-parse', `${root}^{tree}`])], [tree]]) {
    await refused(mirror, packOf(work, ids), 'missing-object')
  }
  assert.ok(base)
})

test('STO-11 paths into .git and tricks with links are refused by the strict check', async t => {
  const { base, mirror } = await scene(t)
  const pack = (rows: (id: string) => { mode: string; name: string; id: string }[]) => {
    const make = new ObjectMaker()
    const blob = make.add('blob', '[core]\n\tfsmonitor = touch /tmp/x\n')
    const inner = make.tree([{ mode: '100644', name: 'config', id: blob }])
    make.commit(make.tree(rows(blob).map(row => (row.mode === '40000' ? { ...row, id: inner } : row))), [base])
    return make.pack()
  }
  const folders = ['.git', '.GIT', 'git~1', '.git.', '.git ', '.g\u200cit', '.git::$INDEX_ALLOCATION', '.', '..', '', 'a/b', '../x', '/etc']
  for (const name of folders)
    await refused(
      mirror,
      pack(id => [{ mode: '40000', name, id }]),
      'bad-pack',
    )
  const links: Parameters<typeof pack>[0][] = [
    id => [
      { mode: '120000', name: 'a', id },
      { mode: '40000', name: 'a', id },
    ],
    id => [{ mode: '120000', name: '.gitmodules', id }],
    id => [{ mode: '100644', name: '.git', id }],
    id => [
      { mode: '100644', name: 'b', id },
      { mode: '100644', name: 'a', id },
    ],
  ]
  for (const rows of links) await refused(mirror, pack(rows), 'bad-pack')
  const evil = new ObjectMaker()
  const modules = evil.add('blob', '[submodule "x"]\n\turl = -u./payload\n\tpath = x\n')
  evil.commit(evil.tree([{ mode: '100644', name: '.gitmodules', id: modules }]), [base])
  await refused(mirror, evil.pack(), 'bad-pack')
})

test('STO-11 what is no pack, broken off or larger than allowed is refused', async t => {
  const { work, base, mirror } = await scene(t)
  const head = commit(work, 'main', { ...main, more: 'x' })
  const good = makePack(work, [head], [base])
  const flipped = Buffer.from(good)
  flipped.writeUInt8(flipped.readUInt8(30) ^ 0xff, 30)
  const commits = new ObjectMaker()
  commits.add('commit', `tree ${git(work, ['rev-parse', `${base}^{tree}`])}\nauthor A 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\0y`)
  for (const bad of [
    good.subarray(0, 40),
    flipped,
    seal(flipped.subarray(0, -20)),
    Buffer.from('0000'),
    Buffer.alloc(100),
    commits.pack(),
  ]) {
    await refused(mirror, bad, 'bad-pack')
  }
  assert.match(await refused(mirror, good, 'too-large', { bytes: good.length - 30 }), /The push holds more than/)
  async function* cutOff() {
    yield good.subarray(0, 100)
    throw new Error('connection reset')
  }
  assert.match(await refused(mirror, cutOff(), 'bad-pack'), /broke off/)
  async function* never() {
    yield* []
    throw new Error('connection reset')
  }
  assert.match(await refused(mirror, never(), 'bad-pack'), /broke off/)
  assert.match(await refused(mirror, good, 'bad-pack', { signal: AbortSignal.abort() }), /broke off/)
})

test('STO-11 after a refusal the rest of the upload can still be read', async t => {
  const { mirror } = await scene(t)
  let ended = false
  async function* body() {
    try {
      for (let n = 0; n < 100; n++) yield Buffer.alloc(50_000, n)
    } finally {
      ended = true
    }
  }
  const stream = body()
  await refused(mirror, stream, 'bad-pack')
  assert.equal(ended, false)
  let rest = 0
  for await (const chunk of stream) rest += chunk.length
  assert.ok(rest > 0)
})

test('STO-11 deep trees, huge names and trees without end pass the strict check, and are refused as heads', async t => {
  const { work, base, mirror } = await scene(t)
  const make = new ObjectMaker()
  const leaf = make.tree([{ mode: '100644', name: 'f', id: make.add('blob', 'x') }])
  const wrap = (id: string, name: string) => make.tree([{ mode: '40000', name, id }])
  let deep = leaf
  for (let depth = 0; depth < 520; depth++) deep = wrap(deep, 'd')
  let deepest = deep
  for (let depth = 0; depth < 60_000; depth++) deepest = wrap(deepest, 'd')
  let bomb = leaf
  for (let level = 0; level < 10; level++)
    bomb = make.tree(Array.from({ length: 10 }, (_, n) => ({ mode: '40000', name: `d${n}`, id: bomb })))
  const trees = [leaf, deep, deepest, wrap(leaf, 'n'.repeat(5000)), wrap(leaf, 'n'.repeat(256)), bomb]
  const heads = trees.map(tree => make.commit(tree, [base]))
  const received = await receivePack(mirror, upload(make.pack()))
  assert.ok(received.ok, JSON.stringify(received))
  t.after(() => received.quarantine.close())
  const place = { dir: mirror.dir, env: received.quarantine.env }
  const said = [
    undefined,
    /deeper than 512/,
    /deeper than 512/,
    /name longer than 255|path longer/,
    /name longer than 255/,
    /more than 500,000/,
  ]
  for (const old of [base, null, 'f'.repeat(40)]) {
    const faults = await checkHeads(
      place,
      heads.map(id => ({ old, new: id })),
    )
    for (const [at, fault] of faults.entries()) {
      assert.equal(fault?.code, said[at] === undefined ? undefined : 'too-large')
      assert.match(fault?.message ?? '', said[at] ?? /^$/)
    }
  }
  for (const [at, head] of heads.entries()) {
    const [alone] = await checkHeads(place, [{ old: base, new: head }])
    assert.match(alone?.message ?? '', said[at] ?? /^$/)
  }
  // Bad ones among many good ones cost a run each, and no more than forty.
  const mixed = Array.from({ length: 1000 }, (_, n) => ({ old: base, new: heads[n % 20 === 7 ? 1 : 0] ?? '' }))
  const found = await checkHeads(place, mixed)
  assert.deepEqual(
    found.slice(0, 700).map(fault => fault?.message),
    mixed.slice(0, 700).map(row => (row.new === heads[1] ? 'The branch holds folders nested deeper than 512.' : undefined)),
  )
  assert.match(found[999]?.message ?? '', /was not looked at/)
  git(work, ['tag', '-a', '-m', 'x', 'v1', base])
  const others = [git(work, ['rev-parse', 'main:f']), 'f'.repeat(40), 'main', '', git(work, ['rev-parse', 'refs/tags/v1'])]
  const faults = await checkHeads(place, [...others.map(id => ({ old: base, new: id })), { old: base, new: base }])
  assert.deepEqual(
    faults.map(fault => fault?.code),
    [...others.map(() => 'missing-commit'), undefined],
  )
  assert.deepEqual(await checkHeads(place, []), [])
})
