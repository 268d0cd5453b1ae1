import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RefsRecord } from '../../../src/git/refs-record.ts'
import { refusedLine } from '../../../src/queue/words/gateway.ts'
import { type Batch, judge } from '../../../src/runner/landing/judge.ts'
import { notLanded, readPush } from '../../../src/runner/landing/push-answer.ts'
import type { Head } from '../../../src/runner/planner/types.ts'
import { alice, bob, carol, History, rigby } from '../../queue/support.ts'

const [base, tip, head, other, tree] = ['a', 'b', 'c', 'd', 'e'].map(letter => letter.repeat(40)) as [
  string,
  string,
  string,
  string,
  string,
]

/** A batch of one queued pull, and what is read just before it lands; `change` is made in between. */
function scene(
  change: (history: History, pull: ReturnType<History['pull']>) => unknown = () => undefined,
  now: { at?: string; head?: Head; generation?: number } = {},
) {
  const history = new History({ runners: [{ did: rigby }] })
  const pull = history.pull(carol)
  history.queued(bob, pull)
  const entry = history.see(pull).entry
  assert.ok(entry)
  const member = { pull, entry: entry.record.uri, key: entry.key, head, commit: tip, tree }
  const batch: Batch = { branch: 'main', base, generation: 1, tip, tree, members: [member], ranNothing: false }
  change(history, pull)
  const row = { name: 'refs/heads/main', commit: now.at ?? base, generation: now.generation ?? 1 }
  const refs: RefsRecord = { $type: 'dev.knotless.refs', repo: history.repo.uri, refs: [row], packs: [], updatedAt: '' }
  const ground = { view: history.view(), refs }
  const heads = new Map<string, Head>([[pull, now.head ?? { state: 'at', commit: head }]])
  return { batch, key: entry.key, of: (did: string = rigby) => judge(did, batch, { ground, heads }) }
}

test('LND-3 the branch has to be exactly at the base, and of the same generation (CHK-9)', () => {
  assert.deepEqual(scene().of(), { may: true, there: false })
  assert.deepEqual(scene(undefined, { at: other }).of(), { may: false, why: 'branch-moved' })
  assert.deepEqual(scene(undefined, { generation: 2 }).of(), { may: false, why: 'branch-moved' })
})

test('LND-11 a branch that is at the tip already has landed, whatever was done since', () => {
  assert.deepEqual(scene((history, pull) => history.left(bob, pull), { at: tip }).of(), { may: true, there: true })
})

test('LND-2 LND-15 a head that moved, is gone, or cannot be read', () => {
  const moved = scene(undefined, { head: { state: 'at', commit: other } })
  assert.deepEqual(moved.of(), { may: false, why: 'head-moved', keys: [moved.key] })
  assert.equal(scene(undefined, { head: { state: 'gone' } }).of().may, false)
  const unread = scene(undefined, { head: { state: 'unreadable', server: 'pds.example' } })
  assert.deepEqual(unread.of(), { may: false, why: 'head-unreadable', keys: [unread.key] })
})

test('LND-12 a pull that is out, closed, a draft, onto another branch, queued anew, or whose queuer no longer may', () => {
  const changes: Record<string, (history: History, pull: ReturnType<History['pull']>) => unknown> = {
    left: (history, pull) => history.left(bob, pull),
    closed: (history, pull) => history.closed(alice, pull),
    merged: (history, pull) => history.merged(alice, pull, { commit: other }),
    'queued anew': (history, pull) => {
      history.left(bob, pull)
      history.queued(bob, pull)
    },
    'a draft': (history, pull) => history.editPull(pull, { draft: true }),
    'onto another branch': (history, pull) => history.editPull(pull, { branch: 'other' }),
    'a queuer who no longer may': history => history.edit({ collaborators: [] }),
  }
  for (const [what, change] of Object.entries(changes)) {
    const { of, key } = scene(change)
    assert.deepEqual(of(), { may: false, why: 'out', keys: [key] }, what)
  }
  const gone = scene(undefined, { head: { state: 'account-gone' } })
  assert.deepEqual(gone.of(), { may: false, why: 'out', keys: [gone.key] })
})

test('WHO-3 who does not land any more lands nothing', () => {
  assert.deepEqual(scene(history => history.lander(alice)).of(), { may: false, why: 'not-lander' })
  assert.deepEqual(scene(history => history.edit({ runners: [] })).of(), { may: false, why: 'not-lander' })
})

const main = 'refs/heads/main'
const answer = (refused: Parameters<typeof refusedLine>[0], reason = 'Not landed: it is so') =>
  readPush({
    code: 1,
    out: `To http://x/y.git\n!\t${tip}:${refused.ref}\t[remote rejected] (${reason})\nDone\n`,
    err: `remote: main: Do something about it.        \nremote: ${refusedLine(refused)}        \nerror: failed to push some refs\n`,
  })

function meaning(refused: Parameters<typeof refusedLine>[0]) {
  const read = answer(refused)
  assert.equal(read.outcome, 'refused')
  return notLanded(read, {
    mine: '2.39.5',
    keyOf: pull => (pull === 'at://p' ? 'key' : undefined),
    pullOf: name => (name === 'a' ? 'at://p' : undefined),
  })
}

test('GWY-8 what the gateway refuses is told by its code, and whose pull is to blame', () => {
  assert.deepEqual(meaning({ code: 'branch-moved', ref: main }), { why: 'branch-moved' })
  assert.deepEqual(meaning({ code: 'head-moved', ref: main, pull: 'at://p' }), { why: 'head-moved', keys: ['key'] })
  assert.deepEqual(meaning({ code: 'branch-moved', ref: 'refs/heads/a' }), { why: 'head-moved', keys: ['key'] })
  for (const code of ['pull-not-open', 'draft', 'not-queued']) {
    assert.deepEqual(meaning({ code, ref: main, pull: 'at://p' }), { why: 'out', keys: ['key'] })
  }
  const said = 'Not landed: it is so. Do something about it.'
  assert.deepEqual(meaning({ code: 'not-delegated', ref: main }), { why: 'not-delegated', said })
  assert.deepEqual(meaning({ code: 'conflict', ref: main, pull: 'at://p' }), { why: 'not-a-batch', pull: 'at://p', said })
  assert.deepEqual(meaning({ code: 'checks-failed', ref: main }), { why: 'not-a-batch', pull: undefined, said })
  for (const code of ['not-lander', 'not-allowed', 'queue-only']) assert.deepEqual(meaning({ code, ref: main }), { why: 'not-lander' })
  for (const code of ['upstream-failed', 'rate-limited', 'wrong-gateway', 'no-such-code']) {
    assert.deepEqual(meaning({ code, ref: main }), { why: 'trouble', said })
  }
})

test('GWY-14 trees that differ between two versions of git name both', () => {
  const differs = { code: 'tree-differs', ref: main, pull: undefined }
  assert.deepEqual(meaning({ ...differs, git: '2.47.1' }), { why: 'tree-differs', mine: '2.39.5', theirs: '2.47.1' })
})

test('LND-11 a push without a clear answer is unknown, and one that found other commits sent nothing', () => {
  assert.deepEqual(readPush({ code: -1, out: '', err: '' }), { outcome: 'unknown', said: undefined })
  assert.deepEqual(readPush({ code: 128, out: '', err: "fatal: unable to access 'http://x/': Failed to connect\n" }), {
    outcome: 'unknown',
    said: undefined,
  })
  const out = `!\t${tip}:${main}\t[rejected] (atomic push failed)\n!\t:refs/heads/a\t[rejected] (stale info)\n`
  assert.deepEqual(readPush({ code: 1, out, err: '' }), { outcome: 'stale', refs: ['refs/heads/a'] })
  assert.deepEqual(readPush({ code: 0, out: 'Done\n', err: '' }), { outcome: 'done' })
})

test('GWY-8 words of other people never read as the gateway’s code', () => {
  const read = readPush({ code: 1, out: '', err: `remote: main: refused as not-lander: ${main}\nremote: a refused as draft: ${main}\n` })
  assert.equal(read.outcome, 'unknown')
})
