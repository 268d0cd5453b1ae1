import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { RefsAccount } from '../../src/git/account.ts'
import { blobCid, partLimits } from '../../src/git/parts.ts'
import { type PushDone, type PushInput, pushRefs } from '../../src/git/push.ts'
import { checkRefsRecord } from '../../src/git/refs-record.ts'
import type { GitRefusal } from '../../src/git/refusal.ts'
import { syncMirror } from '../../src/git/sync.ts'
import { at, commit, git, MemoryAccount, newMirror, newRepo, repoUri, snapshot } from './support.ts'

type Result = PushDone | GitRefusal

function push(gitDir: string, account: RefsAccount, updates: PushInput['updates'], more: Partial<PushInput> = {}): Promise<Result> {
  return pushRefs({ gitDir, account, updates, repo: repoUri, now: () => at, wait: async () => undefined, random: () => 0.5, ...more })
}

function code(result: Result): string {
  return result.ok ? 'ok' : result.code
}

/** What the account holds is whole: a new mirror takes all of it. Answers its refs. */
async function readBack(t: TestContext, account: MemoryAccount): Promise<string> {
  const mirror = await newMirror(t)
  const done = await syncMirror(mirror, account.record, account.fetch(), { repo: repoUri })
  assert.equal(done.ok, true, JSON.stringify(done))
  git(mirror.dir, ['fsck', '--strict', '--full'])
  return git(mirror.dir, ['for-each-ref', '--format=%(refname) %(objectname)'])
}

test('STO-1 STO-2 a first push makes the record, later ones add what is new', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  git(work, ['tag', '-a', '-m', 'x', 'v1', one])
  const tag = git(work, ['rev-parse', 'refs/tags/v1'])
  const before = snapshot(work)
  const first = await push(work, account, [
    { name: 'refs/heads/main', commit: one },
    { name: 'refs/tags/v1', commit: tag },
  ])
  assert.ok(first.ok && first.changed)
  assert.deepEqual(first.record, account.record)
  assert.equal(checkRefsRecord(account.record, repoUri).ok, true)
  assert.deepEqual(snapshot(work), before)

  const two = commit(work, 'main', { a: '2' })
  assert.equal(code(await push(work, account, [{ name: 'refs/heads/main', commit: two }])), 'ok')
  assert.deepEqual(
    account.record?.packs.map(pack => pack.objects),
    [4, 3],
  )
  assert.equal(await readBack(t, account), `refs/heads/main ${two}\nrefs/tags/v1 ${tag}`)

  const puts = account.puts
  const again = await push(work, account, [{ name: 'refs/heads/main', commit: two }])
  assert.ok(again.ok && !again.changed)
  // A branch at a commit that the record holds already needs no pack.
  assert.equal(code(await push(work, account, [{ name: 'refs/heads/old', commit: one }])), 'ok')
  assert.equal(account.puts, puts + 1)
  assert.equal(account.record?.packs.length, 2)
})

test('the generation of a branch counts its creations, also when it was deleted meanwhile', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  const two = commit(work, 'main', { a: '2' })
  const generation = () => account.record?.refs.find(row => row.name === 'refs/heads/x')?.generation
  const set = (id: string | null) => push(work, account, [{ name: 'refs/heads/x', commit: id }])
  await push(work, account, [{ name: 'refs/heads/main', commit: two }])
  const seen: (number | undefined)[] = []
  for (const id of [one, two, null, one, null, two]) {
    assert.equal(code(await set(id)), 'ok')
    seen.push(generation())
  }
  assert.deepEqual(seen, [1, 1, undefined, 2, undefined, 3])
})

test('the generations of 200 deleted branches are kept; what is forgotten is never used again', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  const names = Array.from({ length: 250 }, (_, n) => `refs/heads/b${n}`)
  for (const id of [one, null, one, null])
    await push(
      work,
      account,
      names.map(name => ({ name, commit: id })),
    )
  assert.equal(account.record?.gone?.length, 200)
  assert.equal(account.record?.floor, 2)
  const made = await push(
    work,
    account,
    [names[0] ?? '', 'refs/heads/new', names[249] ?? ''].map(name => ({ name, commit: one })),
  )
  assert.deepEqual(made.ok && made.record.refs.map(row => row.generation), [3, 3, 3])
  assert.equal(checkRefsRecord(account.record).ok, true)
})

test('STO-2 parts are cut below what the server takes, found out once and remembered', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  account.blobLimit = 5 * 2 ** 20
  const one = commit(work, 'main', { noise: randomBytes(11 * 2 ** 20) })
  assert.equal(code(await push(work, account, [{ name: 'refs/heads/main', commit: one }])), 'ok')
  assert.deepEqual(
    account.record?.packs[0]?.parts.map(part => part.size <= partLimits.fallback),
    [true, true, true],
  )
  assert.equal(account.partLimit, partLimits.fallback)
  assert.match(await readBack(t, account), /main/)

  const tiny = new MemoryAccount()
  tiny.blobLimit = 1000
  const result = await push(work, tiny, [{ name: 'refs/heads/main', commit: one }])
  assert.equal(code(result), 'too-large')
  assert.equal(tiny.record, undefined)
})

test('STO-5 the blob reference that the server answered is stored, its type included, and must be of the bytes sent', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  const main = { name: 'refs/heads/main', commit: one }
  const upload = account.upload.bind(account)
  const decoded = (cid: string) => ({ toString: () => cid })
  const answering = (change: { ref?: object; size?: number }) =>
    Object.assign(account, {
      upload: async (bytes: Uint8Array) => {
        const answer = await upload(bytes)
        assert.ok(answer !== 'too-large')
        return { ...answer, mimeType: 'application/zip', ref: decoded(answer.ref.$link), ...change }
      },
    })
  const other = decoded(blobCid(Buffer.from('other')))
  assert.equal(code(await push(work, answering({ ref: other }), [main])), 'upstream-failed')
  assert.equal(code(await push(work, answering({ size: 1 }), [main])), 'upstream-failed')
  assert.equal(account.puts, 0)
  assert.equal(code(await push(work, answering({}), [main])), 'ok')
  const [part] = account.record?.packs[0]?.parts ?? []
  assert.deepEqual([part?.mimeType, part?.ref.$link.slice(0, 7)], ['application/zip', 'bafkrei'])
})

test('STO-6 of two pushes to one branch one wins, the other is told that the branch moved', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const base = commit(work, 'main', { a: '1' })
  await push(work, account, [{ name: 'refs/heads/main', commit: base }])
  for (let round = 0; round < 3; round++) {
    const tip = account.record?.refs[0]?.commit ?? ''
    const left = commit(work, 'left', { a: `left ${round}` }, { parents: [tip] })
    const right = commit(work, 'right', { a: `right ${round}` }, { parents: [tip] })
    const results = await Promise.all([left, right].map(id => push(work, account, [{ name: 'refs/heads/main', commit: id, old: tip }])))
    assert.deepEqual(results.map(code).sort(), ['branch-moved', 'ok'])
    const winner = results[0]?.ok ? left : right
    assert.equal(account.record?.refs[0]?.commit, winner)
    await readBack(t, account)
  }
})

test('STO-6 a swap lost to a push of another branch is no moved branch', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const base = commit(work, 'main', { a: '1' })
  await push(work, account, [{ name: 'refs/heads/main', commit: base }])
  const ids = ['a', 'b', 'c', 'd'].map(name => commit(work, name, { [name]: name }, { parents: [base] }))
  const waits: number[] = []
  const results = await Promise.all(
    ids.map((id, n) =>
      push(work, account, [{ name: `refs/heads/${'abcd'[n]}`, commit: id }], {
        random: Math.random,
        wait: async ms => {
          waits.push(ms)
        },
      }),
    ),
  )
  assert.deepEqual(results.map(code), ['ok', 'ok', 'ok', 'ok'])
  assert.ok(waits.length > 0 && new Set(waits).size === waits.length)
  assert.equal((await readBack(t, account)).split('\n').length, 5)
})

test('STO-6 ten lost swaps in a row are given up, saying so', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  account.beforePut = () => 'swap-lost'
  const result = await push(work, account, [{ name: 'refs/heads/main', commit: one }])
  assert.equal(code(result), 'branch-moved')
  assert.match(result.ok ? '' : result.message, /10 times in a row/)
  assert.equal(account.puts, 10)
  assert.equal(account.uploaded.size, 1)
})

test('STO-7 a put whose answer was lost is settled by reading', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  const lost = { code: 'upstream-failed', message: 'no answer' }
  account.afterPut = () => lost
  let minute = 0
  const now = () => new Date(at.getTime() + 60_000 * minute++)
  const done = await push(work, account, [{ name: 'refs/heads/main', commit: one }], { now })
  assert.ok(done.ok && done.changed)
  assert.equal(account.puts, 1)

  // Not made, and the answer lost as well: made again, the very same record.
  const two = commit(work, 'main', { a: '2' })
  account.afterPut = undefined
  let calls = 0
  account.beforePut = () => (++calls < 3 ? lost : undefined)
  assert.equal(code(await push(work, account, [{ name: 'refs/heads/main', commit: two }], { now })), 'ok')
  assert.equal(account.record?.updatedAt, new Date(at.getTime() + 60_000).toISOString())
  assert.equal(calls, 3)
})

test('STO-7 a put whose answer was lost, and on which others pushed meanwhile, is done', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const base = commit(work, 'main', { a: '1' })
  await push(work, account, [{ name: 'refs/heads/main', commit: base }])
  const ours = commit(work, 'main', { a: '2' })
  const theirs = commit(work, 'theirs', { a: '3' }, { parents: [ours] })
  const lost = { code: 'upstream-failed', message: 'no answer' }
  account.afterPut = () => lost
  const done = await push(work, account, [{ name: 'refs/heads/main', commit: ours }], {
    wait: async () => {
      if (account.record?.refs[0]?.commit !== ours) return
      account.afterPut = undefined
      assert.equal(code(await push(work, account, [{ name: 'refs/heads/main', commit: theirs }])), 'ok')
    },
  })
  assert.ok(done.ok && done.changed)
  assert.equal(account.record?.refs[0]?.commit, theirs)
  await readBack(t, account)
})

test('STO-7 an answer that stays lost is said as that, not as success', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  account.beforePut = () => ({ code: 'upstream-failed', message: 'no answer' })
  assert.equal(code(await push(work, account, [{ name: 'refs/heads/main', commit: one }])), 'upstream-failed')
  account.beforePut = () => ({ code: 'rate-limited', message: 'Too many requests.' })
  const limited = await push(work, account, [{ name: 'refs/heads/main', commit: one }])
  assert.deepEqual(limited, { ok: false, code: 'rate-limited', message: 'Too many requests.' })
})

test('STO-4 a part that is gone when the record is put is uploaded again', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  let calls = 0
  account.beforePut = () => {
    if (++calls === 1) account.uploaded.clear()
    return undefined
  }
  assert.equal(code(await push(work, account, [{ name: 'refs/heads/main', commit: one }])), 'ok')
  assert.equal(calls, 2)
  await readBack(t, account)

  const two = commit(work, 'main', { a: '2' })
  account.beforePut = () => ({ code: 'blob-not-found', message: 'Could not find blob' })
  assert.equal(code(await push(work, account, [{ name: 'refs/heads/main', commit: two }])), 'blob-missing')
})

test('STO-3 a push whose base was consolidated away meanwhile sends what is then missing', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const base = commit(work, 'main', { a: '1' })
  const side = commit(work, 'side', { big: 'x'.repeat(1000) }, { parents: [base] })
  await push(work, account, [{ name: 'refs/heads/main', commit: base }])
  await push(work, account, [{ name: 'refs/heads/side', commit: side }])
  const next = commit(work, 'main', { big: 'x'.repeat(1000), c: '1' }, { parents: [side] })
  let first = true
  account.beforePut = async () => {
    if (!first) return undefined
    first = false
    // Somebody deletes the side branch and drops its objects from the record.
    const other = new MemoryAccount()
    await push(work, other, [{ name: 'refs/heads/main', commit: base }])
    await push(work, other, [{ name: 'refs/heads/another', commit: commit(work, 'another', { z: 'z' }, { parents: [base] }) }])
    account.record = other.record
    account.named.clear()
    for (const [cid, bytes] of other.named) account.named.set(cid, bytes)
    return undefined
  }
  assert.equal(code(await push(work, account, [{ name: 'refs/heads/main', commit: next }])), 'ok')
  assert.match(await readBack(t, account), new RegExp(`refs/heads/main ${next}`))
})

test('a move that is no fast-forward needs force, a tag too, and the old commit must be the one named', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  const two = commit(work, 'main', { a: '2' })
  const other = commit(work, 'other', { a: '3' }, { parents: [one] })
  await push(work, account, [
    { name: 'refs/heads/main', commit: two },
    { name: 'refs/tags/v', commit: one },
  ])
  const tries: [PushInput['updates'][number], string][] = [
    [{ name: 'refs/heads/main', commit: other }, 'force-refused'],
    [{ name: 'refs/heads/main', commit: one }, 'force-refused'],
    [{ name: 'refs/tags/v', commit: two }, 'force-refused'],
    [{ name: 'refs/heads/main', commit: other, force: true, old: one }, 'branch-moved'],
    [{ name: 'refs/heads/fresh', commit: one, old: two }, 'branch-moved'],
    [{ name: 'refs/heads/main', commit: two, old: null }, 'ok'],
    [{ name: 'refs/tags/v', commit: two, force: true }, 'ok'],
    [{ name: 'refs/heads/main', commit: other, force: true, old: two }, 'ok'],
    [{ name: 'refs/heads/main', commit: null, old: other }, 'ok'],
  ]
  for (const [update, wanted] of tries) assert.equal(code(await push(work, account, [update])), wanted, JSON.stringify(update))
  assert.deepEqual(
    account.record?.refs.map(row => row.name),
    ['refs/tags/v'],
  )
})

test('several refs go in one put, or none of them', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  await push(work, account, [{ name: 'refs/heads/spent', commit: one }])
  const two = commit(work, 'main', { a: '2' })
  const bad = await push(work, account, [
    { name: 'refs/heads/main', commit: two },
    { name: 'refs/heads/spent', commit: null, old: two },
  ])
  assert.equal(code(bad), 'branch-moved')
  assert.deepEqual(
    account.record?.refs.map(row => row.name),
    ['refs/heads/spent'],
  )
  const puts = account.puts
  const good = await push(work, account, [
    { name: 'refs/heads/main', commit: two },
    { name: 'refs/heads/spent', commit: null, old: one },
  ])
  assert.equal(code(good), 'ok')
  assert.equal(account.puts, puts + 1)
  assert.deepEqual(
    account.record?.refs.map(row => row.name),
    ['refs/heads/main'],
  )
})

test('what cannot be pushed is refused before anything is uploaded', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  const blob = git(work, ['rev-parse', 'main:a'])
  const main = { name: 'refs/heads/main', commit: one }
  assert.equal(code(await push(work, account, [{ name: 'main', commit: one }])), 'bad-ref')
  assert.equal(code(await push(work, account, [{ ...main, commit: 'HEAD' }])), 'bad-ref')
  assert.equal(code(await push(work, account, [main, main])), 'bad-ref')
  assert.equal(code(await push(work, account, [{ ...main, commit: blob }])), 'bad-ref')
  assert.equal(code(await push(work, account, [{ ...main, commit: 'f'.repeat(40) }])), 'missing-commit')
  assert.equal(code(await push(work, account, [main, { name: 'refs/heads/main/sub', commit: one }])), 'bad-ref')
  assert.equal(code(await push('/nonexistent', account, [main])), 'bad-record')
  const many = Array.from({ length: 1001 }, (_, n) => ({ name: `refs/heads/b${n}`, commit: one }))
  assert.equal(code(await push(work, account, many)), 'too-large')
  assert.equal(account.puts, 0)
  assert.equal(account.record, undefined)
})

test('STO-1 a push that would take the record over its bounds is refused, saying which', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  const refs = (from: number, length: number) => Array.from({ length }, (_, n) => ({ name: `refs/heads/b${from + n}`, commit: one }))
  assert.equal(code(await push(work, account, refs(0, 1000))), 'ok')
  assert.equal(code(await push(work, account, refs(1000, 1000))), 'ok')
  const over = await push(work, account, refs(2000, 1))
  assert.deepEqual(over, { ok: false, code: 'too-large', message: 'The refs record holds 2,001 refs; at most 2,000 are taken.' })
  assert.equal(account.record?.refs.length, 2000)
})

test('STO-2 an object over 100 MiB is refused by its path', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { 'art/huge.bin': Buffer.alloc(100 * 2 ** 20 + 1) })
  const result = await push(work, account, [{ name: 'refs/heads/main', commit: one }])
  assert.equal(code(result), 'too-large')
  assert.match(result.ok ? '' : result.message, /"art\/huge\.bin" \([0-9a-f]{40}\) has 100 MiB/)
  assert.equal(account.uploaded.size, 0)
})

test('a shallow clone, or one with holes, is refused: readers could not take its pack', async t => {
  const work = newRepo(t)
  const account = new MemoryAccount()
  const one = commit(work, 'main', { a: '1' })
  const two = commit(work, 'main', { a: '2' })
  const main = { name: 'refs/heads/main', commit: two }
  writeFileSync(`${work}/shallow`, `${two}\n`)
  const shallow = await push(work, account, [main])
  assert.equal(code(shallow), 'missing-object')
  assert.match(shallow.ok ? '' : shallow.message, /shallow/)
  writeFileSync(`${work}/shallow`, '')
  rmSync(`${work}/objects/${one.slice(0, 2)}/${one.slice(2)}`)
  assert.equal(code(await push(work, account, [main])), 'missing-object')
  assert.equal(account.puts, 0)
})
