import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeCommit } from '../../src/git/commit-objects.ts'
import type { Mirror } from '../../src/git/mirror.ts'
import { type BuiltPack, buildPack } from '../../src/git/pack-out.ts'
import { holdsOnlyChecked } from '../../src/git/pack-proof.ts'
import { readRefs, writtenRefs } from '../../src/git/packed-refs.ts'
import { type PushInput, pushRefs } from '../../src/git/push.ts'
import { openQuarantine, type Quarantine } from '../../src/git/quarantine.ts'
import { receivePack } from '../../src/git/receive-pack.ts'
import type { RefsRecord } from '../../src/git/refs-record.ts'
import { syncMirror } from '../../src/git/sync.ts'
import { commitTree } from '../../src/git/tree-changes.ts'
import { at, commit, git, MemoryAccount, makePack, newMirror, newRepo, packOf, repoUri, snapshot, tempDir } from './support.ts'

const main = 'refs/heads/main'

/** An account with one commit, a mirror of it, and a repository to make more in. */
async function scene(t: TestContext) {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const base = commit(work, 'main', { a: '1', big: 'line\n'.repeat(500) })
  const first = await pushRefs({ gitDir: work, updates: [{ name: main, commit: base }], account, repo: repoUri, now: () => at })
  assert.equal(first.ok, true)
  const mirror = await newMirror(t)
  assert.equal((await syncMirror(mirror, account.record, account.fetch())).ok, true)
  const push = (more: Partial<PushInput> & Pick<PushInput, 'updates'>) =>
    pushRefs({ gitDir: mirror.dir, mirror, account, repo: repoUri, now: () => at, wait: async () => undefined, ...more })
  return { work, account, base, mirror, push }
}

async function received(t: TestContext, mirror: Mirror, pack: Buffer): Promise<Quarantine> {
  const taken = await receivePack(
    mirror,
    (async function* () {
      yield pack
    })(),
  )
  assert.ok(taken.ok, JSON.stringify(taken))
  t.after(() => taken.quarantine.close())
  return taken.quarantine
}

/** The mirror is whole and where the record is, without having fetched anything. */
async function isAt(mirror: Mirror, record: RefsRecord | undefined): Promise<void> {
  const refs = await readRefs(mirror)
  assert.deepEqual(Object.fromEntries(refs), Object.fromEntries(record?.refs.map(row => [row.name, row.commit]) ?? []))
  assert.deepEqual(await writtenRefs(mirror), refs)
  git(mirror.dir, ['fsck', '--strict', '--full', '--connectivity-only'])
  const seen: string[] = []
  const synced = await syncMirror(mirror, record, cid => {
    seen.push(cid)
    return Promise.resolve({ code: 'blob-missing', message: '' })
  })
  assert.deepEqual([synced.ok, synced.ok && synced.changed, seen], [true, false, []])
}

test('STO-11 what was received is pushed out of its quarantine and taken over by the mirror, without a download', async t => {
  const { work, account, base, mirror, push } = await scene(t)
  const head = commit(work, 'main', { a: '2', big: `${'line\n'.repeat(500)}more\n` })
  const extra = commit(work, 'smuggled', { z: 'z' }, { parents: [] })
  const quarantine = await received(t, mirror, makePack(work, [head, extra], [base]))
  const done = await push({ env: quarantine.env, updates: [{ name: main, commit: head, old: base }] })
  assert.ok(done.ok && done.changed && done.mirrored, JSON.stringify(done))
  await quarantine.close()
  await isAt(mirror, account.record)
  // What no ref leads to went nowhere.
  assert.throws(() => git(mirror.dir, ['cat-file', '-e', extra]))
  assert.equal(account.record?.packs[1]?.objects, 4)
  assert.deepEqual(readdirSync(join(mirror.dir, 'quarantine')), [])

  const again = await push({ updates: [{ name: main, commit: head }] })
  assert.ok(again.ok && !again.changed)
  const gone = await push({
    updates: [
      { name: main, commit: base, force: true },
      { name: 'refs/heads/side', commit: head },
    ],
  })
  assert.ok(gone.ok && gone.mirrored)
  await isAt(mirror, account.record)
})

test('GWY-5 a push is judged again on each try, by what was read, and a no ends it before anything is sent', async t => {
  const { work, account, base, mirror, push } = await scene(t)
  const head = commit(work, 'main', { a: '2' })
  const quarantine = await received(t, mirror, makePack(work, [head], [base]))
  const side = commit(work, 'side', { s: '1' }, { parents: [base] })
  const asked: (string[] | undefined)[] = []
  let lose = true
  account.beforePut = async () => {
    if (!lose) return undefined
    lose = false
    const other = await pushRefs({
      gitDir: work,
      updates: [{ name: 'refs/heads/side', commit: side }],
      account,
      repo: repoUri,
      now: () => at,
    })
    assert.ok(other.ok)
    return undefined
  }
  const mayStill = async (before: RefsRecord | undefined) => {
    asked.push(before?.refs.map(row => row.name))
    return asked.length < 3
  }
  const done = await push({ env: quarantine.env, mayStill, updates: [{ name: main, commit: head, old: base }] })
  assert.ok(done.ok)
  assert.deepEqual(asked, [[main], [main, 'refs/heads/side']])
  // The mirror had not heard of the other push: it is left to the next sync.
  assert.equal(done.mirrored, false)
  assert.equal((await readRefs(mirror)).get(main), base)
  assert.equal((await syncMirror(mirror, account.record, account.fetch())).ok, true)
  assert.equal((await readRefs(mirror)).get(main), head)

  const puts = account.puts
  const next = commit(work, 'main', { a: '3' })
  const second = await received(t, mirror, makePack(work, [next], [head]))
  const refused = await push({ env: second.env, mayStill, updates: [{ name: main, commit: next, old: head }] })
  assert.deepEqual(refused, { ok: false, code: 'refused', message: 'The push may not be made.' })
  assert.deepEqual([account.puts, account.uploaded.size], [puts, 0])
  await assert.rejects(
    push({ env: second.env, mayStill: () => Promise.reject(new Error('unreadable')), updates: [{ name: main, commit: next }] }),
    /unreadable/,
  )
  assert.ok(
    !existsSync(join(mirror.dir, 'quarantine')) || readdirSync(join(mirror.dir, 'quarantine')).every(name => !name.includes('push')),
  )
})

test('a mirror that is ahead of the push is not set back, one that is busy does not hold the answer up', async t => {
  const { work, account, base, mirror, push } = await scene(t)
  const head = commit(work, 'main', { a: '2' })
  const newer = commit(work, 'main', { a: '3' })
  const quarantine = await received(t, mirror, makePack(work, [head], [base]))
  account.afterPut = () => {
    account.afterPut = undefined
    return undefined
  }
  const busy = Promise.withResolvers<void>()
  const held = mirror.exclusive(() => busy.promise)
  const done = await push({ env: quarantine.env, updates: [{ name: main, commit: head }] })
  assert.ok(done.ok && done.changed && !done.mirrored)
  assert.equal((await writtenRefs(mirror)).get(main), base)
  // Somebody pushes on top, and a sync is asked for, before the mirror is free.
  const top = await pushRefs({ gitDir: work, updates: [{ name: main, commit: newer }], account, repo: repoUri, now: () => at })
  assert.ok(top.ok)
  busy.resolve()
  await held
  assert.equal((await syncMirror(mirror, account.record, account.fetch())).ok, true)
  assert.equal((await writtenRefs(mirror)).get(main), newer)
  git(mirror.dir, ['fsck', '--strict', '--full', '--connectivity-only'])
  await mirror.exclusive(async () => undefined)

  // The other order: the mirror is at the newer record when the older push wants to take it over.
  const late = commit(work, 'late', { l: '1' }, { parents: [newer] })
  const second = await received(t, mirror, makePack(work, [late], [newer]))
  const after = commit(work, 'main', { a: '4' })
  account.beforePut = undefined
  const put = account.put.bind(account)
  account.put = async (record, swap) => {
    const answer = await put(record, swap)
    account.put = put
    await pushRefs({ gitDir: work, updates: [{ name: main, commit: after }], account, repo: repoUri, now: () => at })
    await syncMirror(mirror, account.record, account.fetch())
    return answer
  }
  const older = await push({ env: second.env, updates: [{ name: 'refs/heads/late', commit: late }] })
  assert.ok(older.ok && !older.mirrored)
  await isAt(mirror, account.record)
  assert.equal((await readRefs(mirror)).get(main), after)
})

test('STO-7 a push whose answer was lost is taken over by the mirror as well', async t => {
  const { work, account, base, mirror, push } = await scene(t)
  const head = commit(work, 'main', { a: '2' })
  const quarantine = await received(t, mirror, makePack(work, [head], [base]))
  account.afterPut = () => {
    account.afterPut = undefined
    return { code: 'upstream-failed', message: 'no answer' }
  }
  const done = await push({ env: quarantine.env, updates: [{ name: main, commit: head }] })
  assert.ok(done.ok && done.changed && done.mirrored)
  await isAt(mirror, account.record)
})

test('a commit that was made here is checked in full before it is sent, one that came in checked is not checked twice', async t => {
  const { work, account, base, mirror, push } = await scene(t)
  const head = commit(work, 'main', { a: '2' })
  const quarantine = await received(t, mirror, makePack(work, [head], [base]))
  const local = { dir: mirror.dir, objects: mirror.objects, env: quarantine.env }
  const built = async (commits: string[]): Promise<BuiltPack> => {
    const made = await buildPack(local, tempDir(t), commits, [base])
    assert.ok(made.ok && made.pack !== undefined, JSON.stringify(made))
    return made.pack
  }
  const checked = await built([head])
  assert.equal(await holdsOnlyChecked(checked.path, quarantine.dir), true)
  assert.equal(await holdsOnlyChecked(checked.path, mirror.objects), false)

  // A commit of this server's own making, good or bad, beside what came in.
  const place = { dir: mirror.dir, env: quarantine.env }
  const tree = await commitTree(place, { base: head, changes: [{ path: 'b', content: 'b' }] })
  assert.ok(tree.ok)
  const lines = (author: string) => Buffer.from(`tree ${tree.tree}\nparent ${head}\nauthor ${author}\ncommitter A <a@b> 1 +0000\n\nx\n`)
  const bad = await writeCommit(place, lines('A <a@b> 01 +0000'))
  assert.ok(bad.ok)
  const refused = await push({ env: quarantine.env, updates: [{ name: main, commit: bad.id }] })
  assert.equal(!refused.ok && refused.code, 'bad-pack')
  assert.equal(account.uploaded.size, 0)
  const good = await writeCommit(place, lines('A <a@b> 1 +0000'))
  assert.ok(good.ok)
  assert.equal(await holdsOnlyChecked((await built([good.id])).path, quarantine.dir), false)
  const done = await push({ env: quarantine.env, updates: [{ name: main, commit: good.id }] })
  assert.ok(done.ok && done.mirrored)
  await isAt(mirror, account.record)
})

test('an index that is none, or of objects that were not checked, proves nothing', async t => {
  const { work, base, mirror } = await scene(t)
  const head = commit(work, 'main', { a: '2' })
  const quarantine = await received(t, mirror, makePack(work, [head], [base]))
  const unmarked = await openQuarantine(mirror)
  t.after(() => unmarked.close())
  git(
    work,
    ['index-pack', '-o', `${unmarked.dir}/pack/pack-x.idx`, '--stdin', `${unmarked.dir}/pack/pack-x.pack`],
    makePack(work, [head], [base]),
  )
  const path = `${unmarked.dir}/pack/pack-x.pack`
  assert.equal(await holdsOnlyChecked(path, unmarked.dir), false)
  assert.equal(await holdsOnlyChecked(path, quarantine.dir), true)
  const blob = git(work, ['hash-object', '-w', '--stdin'], 'another')
  git(work, ['index-pack', '-o', `${unmarked.dir}/pack/pack-y.idx`, '--stdin', `${unmarked.dir}/pack/pack-y.pack`], packOf(work, [blob]))
  assert.equal(await holdsOnlyChecked(`${unmarked.dir}/pack/pack-y.pack`, quarantine.dir), false)
  assert.equal(await holdsOnlyChecked(`${unmarked.dir}/pack/pack-absent.pack`, quarantine.dir), false)
  assert.ok(Object.keys(snapshot(quarantine.dir)).some(name => name.endsWith('.checked')))
})
