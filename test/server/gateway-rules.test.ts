import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { judgeGateway } from '../../src/server/gateway/rules/judge.ts'
import { bob, commit, HEAD, MINUTE, TIP } from '../queue/support.ts'
import { batches } from './gateway-attacks/batches.ts'
import { beside } from './gateway-attacks/beside.ts'
import { landedByHand } from './gateway-attacks/by-hand.ts'
import { forced } from './gateway-attacks/forced.ts'
import { merges } from './gateway-attacks/merges.ts'
import { queueOnlyMain } from './gateway-attacks/queue-only.ts'
import { whoMayAsk } from './gateway-attacks/who-may-ask.ts'
import {
  assertRefused,
  batch,
  byHand,
  create,
  editCommit,
  editFacts,
  editMove,
  FIRST,
  first,
  force,
  judge,
  merge,
  push,
  question,
  remove,
  SECOND,
  squash,
  TREES,
  tag,
} from './gateway-rules-support.ts'

const bases = { batch, byHand, push, force, remove, tag, merge, create }

describe('what is let through', () => {
  test('GWY-3 GWY-4 a batch of queued pulls and the deletion of their head branches', () => {
    const it = batch()
    const pulls = [
      { pull: it.pears, commit: FIRST },
      { pull: it.plums, commit: SECOND },
    ]
    const beside = { ok: true, as: 'batch', pulls: [] }
    assert.deepEqual(judge(it), [{ ok: true, as: 'batch', pulls }, beside, beside])
  })

  for (const [name, as] of [
    ['push', 'collaborator'],
    ['force', 'collaborator'],
    ['remove', 'collaborator'],
    ['tag', 'collaborator'],
    ['create', 'collaborator'],
  ] as const) {
    test(`GWY-5 ${name} by a collaborator where nothing forbids it`, () => {
      assert.deepEqual(judge(bases[name]()), [{ ok: true, as, pulls: [] }])
    })
  }

  test('LND-4 a merge of one pull, with the deletion of its head branch', () => {
    const it = merge()
    assert.deepEqual(judge(it), [
      { ok: true, as: 'collaborator', pulls: [{ pull: it.pears, commit: FIRST }] },
      { ok: true, as: 'collaborator', pulls: [] },
    ])
  })

  test('GWY-9 an unnamed collaborator lands on a branch without a rule, and deletes the spent head branches of others', () => {
    const verdict = { ok: true, as: 'collaborator', pulls: [] }
    assert.deepEqual(judge(byHand()), [verdict, verdict, verdict])
  })
})

for (const [what, attacks] of Object.entries({ whoMayAsk, queueOnlyMain, batches, beside, forced, landedByHand, merges })) {
  describe(`attacks: ${what}`, () => {
    for (const [name, { from, change, move = 0, expected }] of Object.entries(attacks)) {
      test(name, () => {
        const it = from()
        const before = judge(it)
        assert.ok(
          before.every(verdict => verdict.ok),
          'what it starts from is let through',
        )
        change(it)
        const after = judge(it)
        assert.equal(after.length, it.moves.length)
        assertRefused(after[move], typeof expected === 'function' ? expected(it) : expected, it.history.now + MINUTE)
      })
    }
  })
}

test('GWY-5 a name that git does not take refuses itself alone', () => {
  const it = push()
  it.moves.push({ name: 'refs/heads/../x', old: null, new: HEAD })
  const verdicts = judge(it)
  assert.deepEqual(
    verdicts.map(verdict => verdict.ok),
    [true, false],
  )
})

test('LND-4 a spent head branch has to be where the record that was read has it', () => {
  const asked = question(batch())
  const refs = new Map(asked.refs).set('refs/heads/pears', HEAD)
  const [verdict] = judgeGateway({ ...asked, refs })
  assert.equal(verdict?.ok === false && verdict.refusal.code, 'head-moved')
})

test('GWY-3 a batch is let through whole or not at all', () => {
  const it = batch()
  editCommit(it, { tree: TREES.other }, 1)
  const [landing, ...others] = judge(it)
  assert.deepEqual(others, [landing, landing])
})

test('GWY-4 the first commit that is wrong is the one that is named', () => {
  const it = batch()
  editCommit(it, { parents: [] }, 1)
  editCommit(it, { tree: TREES.other })
  assertRefused(first(it), { code: 'tree-differs', says: /Pears/, commit: FIRST }, it.history.now)
})

test('GWY-4 a batch holds 50 commits at most', () => {
  for (const [size, ok] of [
    [50, true],
    [51, false],
  ] as const) {
    const it = batch()
    it.moves.length = 1
    const ids = Array.from({ length: size }, (_, i) => commit(0x1000 + i))
    const chain = ids.map((id, i) => {
      const name = `topic-${i}`
      it.branches[name] = commit(0x2000 + i)
      const pull = it.history.pull(bob, { head: { repo: it.history.uri, branch: name } })
      it.history.queued(bob, pull)
      return squash(pull, { id, parents: [ids[i - 1] ?? TIP], tree: commit(0x3000 + i) })
    })
    editFacts(it, { chain })
    editMove(it, { new: ids.at(-1) ?? null })
    const verdict = first(it)
    assert.equal(verdict.ok, ok)
    if (verdict.ok) assert.equal(verdict.pulls.length, 50)
    else assertRefused(verdict, { code: 'not-a-batch', says: /more than 50 commits/ }, it.history.now)
  }
})
