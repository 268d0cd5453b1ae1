import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as knotless from '../../src/lexicons/dev/knotless.ts'
import { judgeLeave, judgeQueue } from '../../src/queue/admission.ts'
import { mergeStatusAnswer, pullsAnswer, queueAnswer, queueSummaries } from '../../src/queue/answers/index.ts'
import type { CheckRecord } from '../../src/queue/facts.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { timeline } from '../../src/queue/timeline.ts'
import { handle, merge } from './asking-support.ts'
import { fileBatch } from './batch-support.ts'
import { NAMED, type Plan, plansOf, play } from './histories.ts'
import { alice, bob, commit, type Did, dave, HEAD, MINUTE, mallory, rigby, START, TIP } from './support.ts'

const CID = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
const statuses = ['queued', 'running', 'success', 'failure', 'error', 'cancelled', 'skipped', 'splendid'] satisfies CheckRecord['status'][]

const likely = ['running', 'running', 'running', 'running', 'failure', 'failure'] satisfies CheckRecord['status'][]

/** What checks, merges and batches may say beside a history. */
const around = fc.record({
  applies: fc.constantFrom(true, true, false, undefined),
  runs: fc.array(
    fc.record({ status: fc.constantFrom(...likely, ...statuses), pull: fc.nat(2), first: fc.boolean(), onTip: fc.boolean() }),
    {
      maxLength: 4,
    },
  ),
  batches: fc.array(
    fc.record({ status: fc.constantFrom(...likely, ...statuses), size: fc.integer({ min: 1, max: 3 }), ahead: fc.boolean() }),
    {
      maxLength: 3,
    },
  ),
  seen: fc.constantFrom(undefined, -2 * 24 * 60, -1, -1, -1),
  caller: fc.constantFrom<Did | undefined>(undefined, alice, bob, dave, mallory, rigby),
})
type Around = typeof around extends fc.Arbitrary<infer T> ? T : never

function made(plan: Plan, more: Around) {
  const history = play(plan)
  // After all that the plan did, so that batches may hold what it queued.
  history.now = START + 41 * MINUTE
  for (const pull of history.pulls) {
    pull.cid = CID
    if (more.applies !== undefined)
      history.merges.set(pull.uri, merge(pull.uri, { applies: more.applies, conflicts: more.applies ? [] : ['a.ts'] }))
  }
  const runner = plan.runners[0] ?? rigby
  const uris = history.pulls.map(pull => `at://did:plc:${pull.did.slice(8)}/dev.knotless.pull/${pull.rkey}` as const)
  for (const run of more.runs) {
    const pull = uris[run.pull]
    if (pull !== undefined) {
      history.check(runner, {
        pull,
        status: run.status,
        commit: HEAD,
        baseCommit: run.onTip ? TIP : commit(77),
        ...(run.first ? { queue: 'first' } : {}),
      })
    }
  }
  for (const [i, batch] of more.batches.entries()) {
    const stack = {
      tip: commit(0xa00 + i),
      base: batch.ahead && i > 0 ? commit(0xa00 + i - 1) : TIP,
      pulls: batch.ahead ? uris.slice(1) : uris.slice(0, batch.size),
      runs: { test: batch.status },
      by: runner,
    }
    fileBatch(history, stack)
  }
  const now = Math.max(plan.now, START + MINUTE)
  const view = foldRepository(history.facts(), now)
  const at = now + (more.seen ?? 0) * MINUTE
  const lastSeen = more.seen === undefined ? undefined : new Map(NAMED.map(did => [did, { at }]))
  return { view, ctx: { now, names: handle, version: 1, caller: more.caller, lastSeen } }
}

const wire = (body: unknown, method: { $output: { schema: { parse(value: unknown): unknown } } }) =>
  method.$output.schema.parse(JSON.parse(JSON.stringify(body)))

test('any history gives answers that fit their lexicons, and no sentence with a hole in it', () => {
  fc.assert(
    fc.property(plansOf(), around, (plan, more) => {
      const { view, ctx } = made(plan, more)
      const bodies: unknown[] = []
      for (const pull of view.pulls.keys()) {
        const answer = mergeStatusAnswer(view, pull, ctx)
        assert.ok(answer.ok)
        wire(answer.body, knotless.getMergeStatus)
        bodies.push({ ...answer.body, pull: undefined })
      }
      for (const branch of view.branches.keys()) {
        const answer = queueAnswer(view, { branch }, ctx)
        assert.ok(answer.ok)
        wire(answer.body, knotless.getQueue)
        bodies.push(answer.body)
      }
      const pulls = pullsAnswer(view, {}, ctx)
      assert.ok(pulls.ok)
      wire(pulls.body, knotless.listPulls)
      wire({ queues: queueSummaries(view, ctx) }, knotless.listQueues)
      assert.doesNotMatch(JSON.stringify(bodies), /undefined|NaN|\[object|unknown time/)
    }),
    { numRuns: 300 },
  )
})

/** Boxes that stand for a refusal of queueing, and its code; the others stand for what the pull is. */
const refused: Record<string, string> = {
  conflict: 'conflict',
  'checks-failed': 'checks-failed',
  'no-runners': 'no-runners',
  'not-allowed': 'not-allowed',
  'signed-out': 'signed-out',
  closed: 'pull-not-open',
  merged: 'pull-not-open',
  'merged-not-there': 'pull-not-open',
  draft: 'draft',
  queued: 'already-queued',
  'queued-flight': 'already-queued',
  'queued-stranded': 'already-queued',
  'in-batch': 'already-queued',
  'in-ahead': 'already-queued',
  'head-gone': 'branch-not-found',
  'branch-gone': 'branch-not-found',
}

test('ADM the merge box and what is refused never disagree', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(plansOf(), around, (plan, more) => {
      const { view, ctx } = made(plan, more)
      for (const pull of view.pulls.keys()) {
        const answer = mergeStatusAnswer(view, pull, ctx)
        assert.ok(answer.ok)
        const { box, can } = answer.body
        seen.add(box.key)
        const code = can.queue.allowed ? undefined : can.queue.refusal?.code
        if (/^(ready|working)/.test(box.key)) assert.equal(code, undefined)
        else if (box.key === 'landing') assert.ok(code === 'pull-not-open' || code === 'already-queued')
        else if (box.key !== 'ejected') assert.equal(code, refused[box.key], box.key)
        if (can.leave.allowed)
          assert.ok(['draft', 'landing', 'in-batch', 'in-ahead', 'queued', 'queued-flight', 'queued-stranded'].includes(box.key))
      }
    }),
    { numRuns: 1500, seed: 20261130 },
  )
  for (const key of Object.keys(refused).filter(key => key !== 'head-gone')) assert.ok(seen.has(key), `${key} was never seen`)
})

test('ADM-1 HON-1 nobody but owner and collaborators may do anything, in any history', () => {
  fc.assert(
    fc.property(plansOf(), around, (plan, more) => {
      const { view } = made(plan, more)
      for (const pull of view.pulls.keys()) {
        for (const caller of [undefined, mallory]) {
          assert.equal(judgeQueue({ view, pull, caller }).ok, false)
          assert.equal(judgeLeave({ view, pull, caller }).ok, false)
        }
      }
    }),
    { numRuns: 200 },
  )
})

test('positions count from 1 without gaps, and a timeline holds only what counted', () => {
  fc.assert(
    fc.property(plansOf(), around, (plan, more) => {
      const { view, ctx } = made(plan, more)
      for (const branch of view.branches.keys()) {
        const answer = queueAnswer(view, { branch, limit: 100 }, ctx)
        assert.ok(answer.ok)
        const { queued, length } = answer.body
        assert.deepEqual(
          queued.map(entry => entry.position),
          Array.from({ length }, (_, i) => i + 1),
        )
        for (const entry of queued) assert.equal(entry.standing.length, length)
      }
      const ofChecks = new Set<string>(['check', 'in-batch', 'batch-failed', 'dropped'])
      for (const pull of view.pulls.values()) {
        const records = new Set([pull.pull.uri, ...pull.history.map(({ uri }) => uri)])
        for (const event of timeline(view, pull)) {
          if (ofChecks.has(event.kind)) assert.match(event.record, /\/dev\.knotless\.check\//)
          else assert.ok(records.has(event.record))
        }
      }
    }),
    { numRuns: 200 },
  )
})
