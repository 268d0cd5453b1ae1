import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keysToExceed } from '../../src/queue/keys-to-exceed.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { alice, bob, carol, commit, DAY, type Did, dave, did, HEAD, History, MINUTE, mallory, repoAt, rigby } from './support.ts'

test('REC-1 a queue entry is one record in the account of its writer, and its key is its place', () => {
  const history = new History()
  const pull = history.pull(dave)
  const record = history.queued(bob, pull)
  const { entry } = history.see(pull)
  assert.deepEqual({ record: entry?.record, key: entry?.key, by: entry?.by }, { record, key: record.rkey, by: bob })
})

test('REC-1 of two versions of a record, which nobody should have made, the one read last stands in any order', () => {
  for (const reverse of [false, true]) {
    const history = new History()
    const pull = history.pull(dave)
    const record = history.queued(bob, pull)
    const edited = { ...record, cid: 'edited', seenAt: record.seenAt + MINUTE, value: { ...record.value, state: 'left' as const } }
    history.queue.push(edited)
    if (reverse) history.queue.reverse()
    assert.deepEqual(history.line(), [])
  }
})

test('REC-1 which version stands does not hang on the order, nor on how often each was read', () => {
  const history = new History()
  const record = history.queued(bob, history.pull(dave))
  const other = { ...record, cid: 'other', seenAt: record.seenAt + 1, value: { ...record.value, state: 'left' as const } }
  const readings = [record, other, { ...record, seenAt: record.seenAt + 2 }]
  for (const order of [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]) {
    history.queue.splice(0, history.queue.length, ...order.flatMap(n => readings[n] ?? []))
    assert.deepEqual(history.line(), [], order.join())
  }
})

test('REC-2 an ejection gives its reason, the head that was turned away and its checks', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  const checks = [{ workflow: 'test', status: 'failure', check: `at://${rigby}/dev.knotless.check/queue:a:b` }] as const
  history.ejected(rigby, pull, { reason: 'Failed alone. Look.', commit: HEAD, checks: [...checks] })
  const { reason, commit: head, checks: failed } = history.see(pull).ejection?.value ?? {}
  assert.deepEqual({ reason, head, failed }, { reason: 'Failed alone. Look.', head: HEAD, failed: checks })
})

test('REC-2 a commit that is none voids the record', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull, { head: 'Z'.repeat(40) })
  history.queued(bob, pull, { requeue: { kind: 'flake', head: 'main', attempt: 1, evidence: [] } })
  assert.deepEqual(history.line(), [])
  history.queued(bob, pull, { head: HEAD })
  history.ejected(rigby, pull, { commit: HEAD.toUpperCase().replace('0', 'A') })
  history.merged(rigby, pull, { commit: `${HEAD}\n` })
  history.merged(rigby, pull, { commit: HEAD, batch: '../../etc' })
  assert.deepEqual(history.line(), [pull])
  assert.equal(history.view().ignored.get('void'), 5)
})

test('REC-3 a record whose key is no TID never counts', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull, { key: 'self' })
  history.closed(bob, pull, { key: '0000000000000' })
  history.pull(dave, { key: 'my-pull' })
  assert.deepEqual(history.line(), [])
  assert.equal(history.see(pull).state, 'open')
  assert.equal(history.view().pulls.size, 1)
  assert.equal(history.view().ignored.get('key-not-tid'), 3)
})

test('REC-3 a record whose key lies more than a day past its own createdAt never counts', () => {
  const history = new History()
  const [late, just] = [history.pull(dave), history.pull(dave)]
  const at = history.now + MINUTE
  history.queued(bob, late, { at, createdAt: at - DAY - 1 })
  history.queued(bob, just, { at, createdAt: at - DAY, key: tidAt(at, 1) })
  assert.deepEqual(history.line(), [just])
  assert.deepEqual(history.line('main', at + 365 * DAY), [just], 'nor later')
  assert.equal(history.view().ignored.get('key-after-created'), 1)
})

test('REC-3 a record more than 5 minutes ahead sleeps, is listed with writer and date, and wakes at its time', () => {
  const history = new History()
  const pull = history.pull(dave)
  const now = history.now + MINUTE
  const record = history.queued(bob, pull, { at: now + 5 * MINUTE + 1 })
  assert.deepEqual(history.line('main', now), [])
  const view = history.view(now)
  assert.deepEqual(view.sleeping, [record])
  assert.equal(view.wakesAt, now + 1)
  assert.deepEqual(history.line('main', now + 1), [pull])
  assert.deepEqual(history.view(now + 1).sleeping, [])
  assert.equal(history.view(now + 1).wakesAt, undefined)
})

test('REC-3 a key a year ahead is not shown, and the first to wake says when', () => {
  const history = new History()
  const pull = history.pull(dave)
  const now = history.now
  history.queued(bob, pull, { at: now + 365 * DAY })
  history.closed(carol, pull, { at: now + 30 * DAY })
  history.pull(dave, { at: now + 60 * DAY })
  const view = history.view(now)
  assert.equal(view.pulls.size, 1)
  assert.equal(view.sleeping.length, 3)
  assert.equal(view.wakesAt, now + 30 * DAY - 5 * MINUTE)
})

test('REC-3 what would never count when it woke is not listed, and pulls that sleep are listed up to a bound', () => {
  const history = new History()
  const pull = history.pull(dave)
  const now = history.now
  history.queued(mallory, pull, { at: now + DAY })
  history.left(rigby, pull, { at: now + DAY })
  for (let n = 0; n < 150; n++) history.pull(mallory, { at: now + DAY + n })
  const view = history.view(now)
  assert.equal(view.sleeping.length, 100)
  assert.equal(view.ignored.get('over-bound'), 50)
  assert.equal(view.wakesAt, now + DAY - 5 * MINUTE)
})

test('REC-6 an unknown queue or pull state voids the record', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.change(bob, pull, 'paused')
  history.state(bob, pull, 'abandoned')
  assert.deepEqual(history.line(), [pull])
  assert.equal(history.view().ignored.get('unknown-state'), 2)
})

test('REC-6 an unknown kind of ejection is an ejection all the same', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.ejected(rigby, pull, { kind: 'moonphase' })
  assert.equal(history.see(pull).ejection?.value.kind, 'moonphase')
})

test('REC-7 a writer exceeds every honoured key of the pull and, when queueing, of its branch', () => {
  const history = new History()
  const [pull, other, elsewhere] = [history.pull(dave), history.pull(dave), history.pull(dave, { branch: 'next' })]
  assert.equal(keysToExceed(history.view(), pull, 'main'), undefined)
  const own = history.queued(bob, pull)
  const later = history.queued(carol, other)
  history.queued(carol, elsewhere)
  history.queued(mallory, pull)
  assert.equal(keysToExceed(history.view(), pull), own.rkey)
  assert.equal(keysToExceed(history.view(), pull, 'main'), later.rkey)
  const closed = history.closed(dave, pull)
  assert.equal(keysToExceed(history.view(), pull), closed.rkey)
})

test('REC-9 a queue record first seen more than 10 minutes after its key is shown as backdated, in the place of its key', () => {
  const history = new History()
  const [first, second, third] = [history.pull(dave), history.pull(dave), history.pull(dave)]
  const at = history.now + MINUTE
  history.queued(bob, second, { at: at + 1 })
  history.queued(carol, first, { at, seenAt: at + 10 * MINUTE + 1 })
  history.queued(carol, third, { at: at + 2, seenAt: at + DAY, backfilled: true })
  assert.deepEqual(history.line('main', at + DAY), [first, second, third])
  assert.deepEqual(history.see(first).entry?.backdated, { keyTime: at, seenAt: at + 10 * MINUTE + 1 })
  assert.equal(history.see(second).entry?.backdated, undefined)
  assert.equal(history.see(third).entry?.backdated, undefined, 'backfill says nothing about lateness')
})

test('REC-9 a record that was read twice was seen when it was seen first', () => {
  const history = new History()
  const pull = history.pull(dave)
  const record = history.queued(bob, pull)
  history.queue.unshift({ ...record, seenAt: record.seenAt + DAY })
  history.queue.push({ ...record, seenAt: record.seenAt + 2 * DAY })
  assert.equal(history.see(pull).entry?.backdated, undefined)
})

test('REC-10 a removal that names an older entry does not end the present one', () => {
  for (const removal of ['left', 'ejected'] as const) {
    const history = new History()
    const pull = history.pull(dave)
    const old = history.queued(bob, pull)
    history.left(bob, pull, { ends: entry(old) })
    const present = history.queued(bob, pull)
    history.change(carol, pull, removal, { ends: entry(old) })
    const seen = history.see(pull)
    assert.equal(seen.entry?.key, present.rkey)
    assert.equal(seen.ejection, undefined)
    assert.equal(seen.lastQueue?.uri, present.uri)
    assert.equal(seen.history.length, 4, 'it is told all the same')
    history.change(carol, pull, removal, { ends: entry(present) })
    assert.deepEqual(history.line(), [])
  }
})

test('REC-10 a removal that names an entry from before a reopening does not end the one after it', () => {
  const history = new History()
  const pull = history.pull(dave)
  const old = history.queued(bob, pull)
  history.closed(dave, pull)
  history.opened(dave, pull)
  history.queued(bob, pull)
  history.ejected(rigby, pull, { ends: entry(old) })
  assert.deepEqual(history.line(), [pull])
})

test('REC-10 a removal that names none ends whatever stood at its key', () => {
  const history = new History()
  const pull = history.pull(dave)
  const base = history.now
  history.queued(bob, pull, { at: base + 1 * MINUTE })
  history.queued(bob, pull, { at: base + 3 * MINUTE })
  history.left(bob, pull, { at: base + 2 * MINUTE })
  assert.equal(history.see(pull, base + 4 * MINUTE).entry?.key, tidAt(base + 3 * MINUTE))
  history.left(bob, pull, { at: base + 4 * MINUTE })
  assert.deepEqual(history.line('main', base + 5 * MINUTE), [])
})

test('REC-10 a removal may name any of the queued records that stand together', () => {
  for (const named of [0, 1]) {
    const history = new History()
    const pull = history.pull(dave)
    const both = [history.queued(bob, pull), history.queued(carol, pull)]
    history.left(carol, pull, { ends: entry(both[named]) })
    assert.deepEqual(history.line(), [])
  }
})

test('REC-10 a removal goes on ending what stood together when the one that it names does not count any more', () => {
  const history = new History()
  const pull = history.pull(dave)
  const named = history.queued(bob, pull)
  history.queued(carol, pull)
  history.left(carol, pull, { ends: entry(named) })
  assert.deepEqual(history.line(), [])
  history.takeOut(bob)
  assert.deepEqual(history.line(), [], 'its writer was taken out')
  history.remove(named)
  assert.deepEqual(history.line(), [], 'it was deleted')
})

test('REC-10 a removal that names no queue record ends what stood at its key', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.left(bob, pull)
  history.queued(bob, pull)
  history.left(bob, pull, { ends: pull })
  assert.deepEqual(history.line(), [])
})

test('REC-11 of more than 100 collaborators, 10 runners and 100 rules the first count', () => {
  const many = (count: number, letter: string): { did: Did }[] =>
    Array.from({ length: count }, (_, n) => ({ did: did(`${letter}${n.toString(2).replaceAll('0', 'o').replaceAll('1', 'i')}`) }))
  const collaborators = many(10_000, 'c')
  const runners = many(12, 'r')
  const protections = Array.from({ length: 101 }, (_, n) => ({ branch: `b${n}`, queue: true }))
  const view = new History({ collaborators, runners, protections }).view()
  assert.equal(view.roles.collaborators.length, 100)
  assert.equal(view.roles.mayMerge(collaborators[99]?.did ?? ''), true)
  assert.equal(view.roles.mayMerge(collaborators[100]?.did ?? ''), false)
  assert.equal(view.roles.runners.length, 10)
  assert.equal(view.roles.namedRunner(runners[10]?.did ?? ''), false)
  assert.equal(view.branches.get('b99')?.queueOnly, true)
  assert.equal(view.branches.has('b100'), false)
  assert.equal(view.ignored.get('over-bound'), 9_900 + 2 + 1)
})

test('REC-12 a record whose repo is not the one its pull names counts for nothing', () => {
  const history = new History()
  const [here, elsewhere] = [history.pull(dave), history.pull(dave, { repo: repoAt(carol) })]
  history.queued(bob, here, { repo: repoAt(carol) })
  history.queued(bob, elsewhere)
  history.closed(bob, here, { repo: repoAt(alice, 'meadow') })
  assert.deepEqual(history.line(), [])
  assert.equal(history.see(here).state, 'open')
  assert.equal(history.view().pulls.has(elsewhere), false)
  assert.equal(history.view().ignored.get('wrong-repository'), 4)
})

test('REC-12 a subject that is not named by a DID is no pull', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queue.push({
    ...history.queued(bob, pull),
    uri: 'at://x',
    value: { ...history.queued(bob, pull).value, subject: `at://dave.test/dev.knotless.pull/3jzfcijpj2z2a` },
  })
  assert.equal(history.view().ignored.get('unknown-pull'), 1)
})

test('STA-7 checks are those of named runners, newest first', () => {
  const history = new History()
  const pull = history.pull(dave)
  const first = history.check(rigby, { pull, key: 'pull:a:1' })
  history.check(mallory, { pull, key: 'pull:a:2' })
  history.check(rigby, { pull, key: 'pull:a:3', commit: 'nope' })
  history.check(rigby, { pull, key: 'pull:a:4', repo: repoAt(carol) })
  const second = history.check(rigby, { pull, key: 'pull:a:5', commit: commit(9) })
  assert.deepEqual(history.view().checksOf(pull), [second, first])
  assert.deepEqual(history.view().checksOf('at://nobody'), [])
})

/** What `ends` says of a record. */
function entry(record: { did: string; rkey: string } | undefined) {
  return `at://did:plc:${record?.did.slice(8)}/dev.knotless.queue/${record?.rkey}` as const
}
