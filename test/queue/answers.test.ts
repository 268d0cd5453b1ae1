import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as knotless from '../../src/lexicons/dev/knotless.ts'
import {
  type AnswerContext,
  checksAnswer,
  mergeStatusAnswer,
  mergeStatusParts,
  pageOf,
  pullsAnswer,
  queueAnswer,
  queueSummaries,
  refusalView,
  standingOf,
  textVoice,
} from '../../src/queue/answers/index.ts'
import { plain } from '../../src/queue/words/phrase.ts'
import { conflict, notAllowed } from '../../src/queue/words/refusals.ts'
import { handle, judge, merges } from './asking-support.ts'
import { fileBatch, land } from './batch-support.ts'
import { type AtUri, alice, bob, carol, commit, DAY, dave, did, HEAD, History, MINUTE, mallory, rigby, TIP } from './support.ts'

const CID = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
const names = (account: string) => (account === mallory ? undefined : handle(account))

function context(history: History, more: Partial<AnswerContext> = {}): AnswerContext {
  const now = history.now + MINUTE
  return { now, names, version: 7, caller: bob, lastSeen: new Map([[rigby, { at: now }]]), ...more }
}

/** The view, its pulls with content ids that the lexicons take. */
function viewOf(history: History) {
  for (const pull of history.pulls) pull.cid = CID
  return history.view()
}

/** As it goes over the wire, checked against the lexicon; throws where it does not fit. */
function wire<T>(answer: { ok: true; body: T } | { ok: false }, method: { $output: { schema: { parse(value: unknown): unknown } } }): T {
  if (!answer.ok) throw new Error('refused')
  method.$output.schema.parse(JSON.parse(JSON.stringify(answer.body)))
  return answer.body
}

/** Something of everything: batches, waiting, ejected, landed, closed, a draft, a lander, conflicts. */
function busy() {
  const history = new History({ protections: [{ branch: 'main', queue: true }], gateway: did('gateway') })
  history.tip()
  const pulls = Array.from({ length: 12 }, (_, i) => history.pull(i % 2 === 0 ? dave : carol, { title: `Pull ${i}` }))
  const at = (n: number): AtUri => pulls[n] ?? `at://${dave}/dev.knotless.pull/none`
  for (const pull of pulls.slice(0, 8)) history.queued(bob, pull, { head: commit(99), seenAt: history.now + 30 * MINUTE })
  fileBatch(history, { tip: commit(0xa01), pulls: [at(0), at(1)], runs: { check: 'success', docs: 'skipped', test: 'running' } })
  fileBatch(history, { tip: commit(0xa02), base: commit(0xa01), pulls: [at(2)], runs: { check: 'failure' } })
  history.check(rigby, { pull: at(3), workflow: 'check', status: 'running', queue: 'first' })
  history.ejected(rigby, at(4), {
    reason: 'test failed. It failed alone.',
    checks: [{ workflow: 'test', status: 'failure', check: `at://${rigby}/dev.knotless.check/x` }],
  })
  land(history, { tip: commit(0xb01), pulls: [at(5), at(6)], runs: {} })
  history.closed(carol, at(8))
  history.editPull(at(9), { draft: true })
  merges(history, at(10), { applies: false, conflicts: ['a.ts'], moreConflicts: 2, changesChecks: true })
  merges(history, at(11))
  history.lander(rigby, { executor: 'docker', version: '1', git: '2.47', wait: 30 })
  return { history, pulls, at }
}

test('every answer about a busy repository fits its lexicon, for whoever asks', () => {
  const { history, pulls } = busy()
  const view = viewOf(history)
  for (const caller of [undefined, alice, bob, mallory]) {
    for (const lastSeen of [undefined, new Map([[rigby, { at: history.now - DAY }]]), new Map([[rigby, { at: history.now }]])]) {
      const ctx = context(history, {
        caller,
        lastSeen,
        gateway: {
          did: did('server'),
          delegation: { state: 'given', since: history.now },
          settingsUrl: 'http://127.0.0.1:2590/settings#delegation',
        },
      })
      for (const pull of pulls) wire(mergeStatusAnswer(view, pull, ctx), knotless.getMergeStatus)
      wire(queueAnswer(view, {}, ctx), knotless.getQueue)
      wire(pullsAnswer(view, {}, ctx), knotless.listPulls)
      wire(checksAnswer(view, history.checks, {}, ctx), knotless.listChecks)
      const queues = queueSummaries(view, ctx)
      wire({ ok: true, body: { queues } }, knotless.listQueues)
      assert.equal(queues.length, 1)
    }
  }
})

test('an answer that does not fit its lexicon would be seen by these tests', () => {
  const { history } = busy()
  const answer = queueAnswer(viewOf(history), {}, context(history))
  assert.ok(answer.ok)
  assert.throws(() => wire({ ok: true, body: { ...answer.body, tip: 'abc' } }, knotless.getQueue))
})

test('getQueue lists what waits, flies, was turned away and landed', () => {
  const { history, at } = busy()
  const body = wire(queueAnswer(viewOf(history), {}, context(history)), knotless.getQueue)
  assert.deepEqual(
    body.queued.map(entry => [entry.pull.title, entry.position, entry.standing.text]),
    [
      ['Pull 0', 1, 'In a batch of 2 being checked'],
      ['Pull 1', 2, 'In a batch of 2 being checked'],
      ['Pull 2', 3, 'In a batch of 1, red but undecided'],
      ['Pull 3', 4, 'Queued, 4th of 5, waiting for its pre-flight: check'],
      ['Pull 7', 5, 'Queued, 5th of 5'],
    ],
  )
  assert.equal(body.length, 5)
  assert.deepEqual(
    body.batches.map(batch => [batch.state, batch.says, batch.members.map(member => member.title)]),
    [
      ['checking', '1 of 2 workflows has passed; test is running.', ['Pull 0', 'Pull 1']],
      [
        'red-undecided',
        'check failed. That is decided only once the batch under it has landed; if that one does not, this verdict is thrown away.',
        ['Pull 2'],
      ],
    ],
  )
  assert.deepEqual(
    body.ejected.map(ejection => [ejection.pull.uri, ejection.reason, ejection.says, ejection.by.handle, ejection.checks.length]),
    [[at(4), 'test failed', 'It failed alone.', 'rigby.test', 1]],
  )
  assert.deepEqual(
    body.landed.map(batch => [batch.tip, batch.members.map(member => member.title)]),
    [[commit(0xb01), ['Pull 5', 'Pull 6']]],
  )
  assert.deepEqual([body.tip, body.queueOnly, body.unchecked, body.version, body.lander?.git], [TIP, true, false, 7, '2.47'])
})

test('STA-4 what a lander said of a pass is not told once something moved since', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.lander(rigby)
  const ask = (at: number) => {
    const lastSeen = new Map([[rigby, { at, says: 'The batch at a01 is being checked: test.' }]])
    return wire(queueAnswer(viewOf(history), {}, context(history, { lastSeen })), knotless.getQueue).lander?.waitsFor
  }
  fileBatch(history, { tip: commit(0xa01), pulls: [pull], runs: { test: 'running' } })
  const checking = history.now + 1000
  assert.equal(ask(checking), 'The batch at a01 is being checked: test.')
  assert.equal(ask(history.now - MINUTE), undefined, 'that was before this batch')
  land(history, { tip: commit(0xa01), pulls: [pull], runs: {} })
  assert.equal(ask(checking), undefined, 'it has landed')
  assert.equal(ask(history.now + 1000), 'The batch at a01 is being checked: test.')
})

test('REA-1 ejections are listed for seven days', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.ejected(rigby, pull)
  const count = (now: number) => {
    const answer = queueAnswer(history.view(now), {}, context(history, { now }))
    return answer.ok ? answer.body.ejected.length : undefined
  }
  assert.equal(count(history.now + 7 * DAY), 1)
  assert.equal(count(history.now + 7 * DAY + MINUTE), 0)
})

test('PRO-3 getMergeStatus says queueOnly and what the caller may', () => {
  const { history, at } = busy()
  const status = (pull: AtUri, caller?: string) =>
    wire(mergeStatusAnswer(viewOf(history), pull, context(history, { caller })), knotless.getMergeStatus)
  const ready = status(at(11), bob)
  assert.deepEqual([ready.queueOnly, ready.applies, ready.can.queue.allowed, ready.box.key], [true, true, true, 'ready'])
  assert.equal(ready.can.merge.refusal?.code, 'queue-only')
  assert.equal(ready.can.leave.refusal?.code, 'not-queued')
  assert.equal(status(at(11), mallory).can.queue.refusal?.code, 'not-allowed')
  assert.equal(status(at(11)).can.queue.refusal?.code, 'signed-out')
  const torn = status(at(10), bob)
  assert.deepEqual(
    [torn.applies, torn.conflicts, torn.changesChecks, torn.can.queue.refusal?.code],
    [false, [{ path: 'a.ts' }], true, 'conflict'],
  )
  assert.deepEqual([torn.box.key, torn.box.files, torn.box.moreFiles], ['conflict', [{ path: 'a.ts' }], 2])
  assert.deepEqual(torn.gateway, { did: did('gateway'), delegated: false, settingsUrl: undefined })
})

test('getMergeStatus carries the record as written, lists do not', () => {
  const { history, at } = busy()
  const view = viewOf(history)
  const status = mergeStatusAnswer(view, at(0), context(history))
  assert.equal(status.ok && status.body.pull.record?.title, 'Pull 0')
  const list = pullsAnswer(view, {}, context(history))
  assert.ok(list.ok && list.body.pulls.every(entry => !('record' in entry.pull)))
})

test('QUE-9 and REC-9 are said in the XRPC answer, and left to the page in its own', () => {
  const { history, at } = busy()
  const view = viewOf(history)
  const answer = mergeStatusAnswer(view, at(7), context(history))
  assert.match(answer.ok ? answer.body.box.says : '', /Queued at 0000000, now 0000000\. Backdated: /)
  assert.equal(answer.ok && answer.body.standing.queuedAtHead, commit(99))
  const pull = view.pulls.get(at(7))
  assert.ok(pull !== undefined)
  const parts = mergeStatusParts(view, pull, context(history))
  assert.doesNotMatch(plain(parts.box.says, history.now, handle), /Queued at/)
})

test('STA-3 box, standing, lists and queue say one thing', () => {
  const { history, pulls } = busy()
  const view = viewOf(history)
  const ctx = context(history)
  const list = wire(pullsAnswer(view, {}, ctx), knotless.listPulls)
  const queue = wire(queueAnswer(view, {}, ctx), knotless.getQueue)
  for (const pull of pulls) {
    const found = view.pulls.get(pull)
    assert.ok(found !== undefined)
    const expected = standingOf(view, found, ctx)
    const status = wire(mergeStatusAnswer(view, pull, ctx), knotless.getMergeStatus)
    assert.deepEqual(status.standing, expected)
    assert.deepEqual(list.pulls.find(entry => entry.pull.uri === pull)?.standing, expected)
    const entry = queue.queued.find(other => other.pull.uri === pull)
    if (entry !== undefined) assert.deepEqual(entry.standing, expected)
    const parts = mergeStatusParts(view, found, ctx)
    assert.equal(plain(parts.standing.text, ctx.now, names), expected.text)
  }
})

test('what is not there is refused by name', () => {
  const { history } = busy()
  const view = viewOf(history)
  const ctx = context(history)
  const codes = [
    mergeStatusAnswer(view, `at://${dave}/dev.knotless.pull/none`, ctx),
    queueAnswer(view, { branch: 'mian' }, ctx),
    pullsAnswer(view, { branch: 'mian' }, ctx),
    checksAnswer(view, [], { pull: `at://${dave}/dev.knotless.pull/none` }, ctx),
  ].map(answer => (answer.ok ? 'ok' : answer.refusal.code))
  assert.deepEqual(codes, ['pull-not-found', 'branch-not-found', 'branch-not-found', 'pull-not-found'])
})

test('a branch that nothing is onto has an empty queue', () => {
  const { history } = busy()
  const present = { tip: commit(5), generation: 1 }
  const body = wire(queueAnswer(viewOf(history), { branch: 'release', present }, context(history)), knotless.getQueue)
  assert.deepEqual([body.branch, body.length, body.tip, body.health.kind], ['release', 0, commit(5), 'idle'])
  assert.ok(pullsAnswer(viewOf(history), { branch: 'release', branchPresent: true }, context(history)).ok)
})

test('pages of a queue give each entry once, in order, whatever is added or leaves meanwhile', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 7 }), fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), (limit, leaves) => {
      const history = new History()
      const pulls = Array.from({ length: 12 }, () => history.pull(dave))
      for (const pull of pulls) history.queued(bob, pull)
      const left = new Set<string>()
      const got: string[] = []
      let cursor: string | undefined
      for (let page = 0; page < 20; page++) {
        const answer = queueAnswer(history.view(), { limit, cursor }, context(history))
        if (!answer.ok) throw new Error('refused')
        got.push(...answer.body.queued.map(entry => entry.pull.uri))
        cursor = answer.body.cursor
        if (cursor === undefined) break
        const leaving = pulls[page * 2]
        if (leaves[page % leaves.length] === true && leaving !== undefined) {
          history.left(bob, leaving)
          left.add(leaving)
        }
      }
      assert.deepEqual(got, [...new Set(got)])
      assert.deepEqual(
        got,
        pulls.filter(pull => got.includes(pull)),
      )
      for (const pull of pulls) assert.ok(got.includes(pull) || left.has(pull))
    }),
    { numRuns: 40 },
  )
})

test('a page holds at most 100, and any cursor is taken', () => {
  const items = Array.from({ length: 250 }, (_, i) => i.toString().padStart(3, '0'))
  const self = (item: string) => item
  assert.equal(pageOf(items, self, {}).items.length, 50)
  assert.equal(pageOf(items, self, { limit: 1e9 }).items.length, 100)
  assert.equal(pageOf(items, self, { limit: -4 }).items.length, 1)
  assert.deepEqual(pageOf(items, self, { cursor: '249' }), { items: [], cursor: undefined })
  assert.deepEqual(pageOf(items, self, { cursor: '248' }), { items: ['249'], cursor: undefined })
  assert.deepEqual(pageOf(items, self, { cursor: 'zzz' }).items, [])
  assert.deepEqual(pageOf([...items].reverse(), self, { cursor: '002', limit: 1 }, true), { items: ['001'], cursor: '001' })
})

test('listPulls filters by state, branch and author, newest first', () => {
  const { history, at } = busy()
  const list = (query: Parameters<typeof pullsAnswer>[1]) => {
    const answer = pullsAnswer(viewOf(history), query, context(history))
    return answer.ok ? answer.body.pulls.map(entry => entry.pull.title) : []
  }
  assert.deepEqual(list({ state: 'merged' }), ['Pull 6', 'Pull 5'])
  assert.deepEqual(list({ state: 'closed' }), ['Pull 8'])
  assert.deepEqual(list({ author: carol, limit: 2 }), ['Pull 11', 'Pull 9'])
  assert.deepEqual(list({ branch: 'main', state: 'splendid' }), [])
  assert.equal(list({})[0], 'Pull 11')
  assert.ok(at(0).startsWith('at://'))
})

test('STA-7 listChecks shows named runners’ only, and filters', () => {
  const { history, at } = busy()
  history.check(mallory, { pull: at(3), status: 'success' })
  const view = viewOf(history)
  const list = (query: Parameters<typeof checksAnswer>[2]) => {
    const answer = checksAnswer(view, history.checks, query, context(history))
    return answer.ok ? answer.body.checks.map(check => check.workflow) : []
  }
  assert.deepEqual(list({ pull: at(3) }), ['check'])
  assert.deepEqual(list({ branch: 'main' }).sort(), ['check', 'check', 'docs', 'test'])
  assert.deepEqual(list({ branch: 'release' }), [])
  assert.deepEqual(list({ commit: HEAD }), ['check'])
  assert.equal(list({}).length, 5)
  const first = checksAnswer(view, history.checks, { limit: 2 }, context(history))
  const second = checksAnswer(view, history.checks, { limit: 100, cursor: first.ok ? first.body.cursor : '' }, context(history))
  assert.deepEqual([first.ok && first.body.checks.length, second.ok && second.body.checks.length], [2, 3])
})

test('a refusal keeps the bounds of its lexicon', () => {
  const ctx = context(new History())
  const files = Array.from({ length: 300 }, (_, i) => `${'d/'.repeat(1000)}${i}`)
  const views = [
    refusalView(conflict('queue', { branch: 'main', tip: TIP, files, more: 5 }), textVoice(ctx), names),
    refusalView(
      notAllowed(
        'queue',
        Array.from({ length: 101 }, () => alice),
      ),
      textVoice(ctx),
      names,
    ),
  ]
  for (const view of views) knotless.defs.refusal.parse(JSON.parse(JSON.stringify(view)))
  assert.equal(views[0]?.files?.length, 100)
})

test('people’s words of any kind come through as they are', () => {
  const title = '<script>alert(1)</script> \u202e\u200f ‮ 👩‍🌾 '.repeat(50)
  const history = new History()
  const pull = history.pull(dave, { title })
  history.queued(bob, pull)
  history.ejected(rigby, pull, { reason: `${'x'.repeat(9000)}. <b>y</b>`, kind: 'sunspots' })
  const body = wire(queueAnswer(viewOf(history), {}, context(history)), knotless.getQueue)
  assert.equal(body.ejected[0]?.pull.title, title)
  assert.equal(body.ejected[0]?.says, '<b>y</b>')
  assert.equal(body.ejected[0]?.kind, 'other')
  wire(mergeStatusAnswer(viewOf(history), pull, context(history)), knotless.getMergeStatus)
})

test('times and addresses at the ends of what a lexicon takes are answered', () => {
  const history = new History()
  const pull = history.pull(dave, { head: { repo: 'at://alice.test/dev.knotless.repo/orchard', branch: 'topic' } })
  history.queued(bob, pull)
  const [check] = fileBatch(history, { tip: commit(0xa01), pulls: [pull], runs: { test: 'running' } })
  for (const createdAt of ['0010-01-01T00:00:00Z', '9999-12-31T23:59:59Z'] as const) {
    if (check !== undefined) check.value.createdAt = createdAt
    const view = viewOf(history)
    wire(queueAnswer(view, {}, context(history)), knotless.getQueue)
    wire(mergeStatusAnswer(view, pull, context(history, { lastSeen: new Map([[rigby, { at: Number.NaN }]]) })), knotless.getMergeStatus)
  }
})

test('ADM-9 the place that queueing promises is the place that the next reading gives', () => {
  const { history, at } = busy()
  const judged = judge.queue(history, at(11), { caller: bob })
  history.queued(bob, at(11))
  const body = wire(mergeStatusAnswer(viewOf(history), at(11), context(history)), knotless.getMergeStatus)
  assert.ok(judged.ok)
  assert.deepEqual([body.standing.position, body.standing.length], [judged.position, judged.length])
})
