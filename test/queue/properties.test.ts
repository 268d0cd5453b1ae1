import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { foldRepository } from '../../src/queue/fold.ts'
import { byPosition } from '../../src/queue/positions.ts'
import { comesBack, takeOut } from '../../src/queue/taking-out.ts'
import { acts, carryOut, lateDeeds, type Plan, placed, plain, plansOf, play, shuffled } from './histories.ts'
import { type AtUri, alice, type Did, type History, mallory } from './support.ts'

const RUNS = { numRuns: 1000 }
const MANY = { numRuns: 5000 }
const plans = plansOf()

test('HON-7 any order of arrival and any duplication of the same records gives the same view', () => {
  const cases = plans.chain(plan => {
    const facts = play(plan).facts()
    return shuffled(facts).map(other => ({ facts, other, now: plan.now }))
  })
  fc.assert(
    fc.property(cases, ({ facts, other, now }) => {
      assert.deepEqual(plain(foldRepository(other, now)), plain(foldRepository(facts, now)))
    }),
    RUNS,
  )
})

test('HON-5 nothing that was out comes back in by taking accounts out', () => {
  let outs = 0
  fc.assert(
    fc.property(plans, fc.array(fc.nat(5), { minLength: 1, maxLength: 3 }), (plan, picks) => {
      const history = play(plan)
      for (const pick of picks) {
        const before = history.view(plan.now)
        if (!takeSomeoneOut(history, pick, plan.now)) return
        const after = history.view(plan.now)
        const were = placed(before)
        for (const pull of placed(after)) assert.ok(were.has(pull), `${pull} came back`)
        for (const [uri, pull] of after.pulls) {
          if (pull.state === 'open') assert.equal(before.pulls.get(uri)?.state, 'open', `${uri} was opened`)
        }
        outs += were.size - placed(after).size
      }
    }),
    MANY,
  )
  assert.ok(outs > 100, `only ${outs} pulls went out in all histories, too few to tell`)
})

test("HON-2 a stranger's records change nothing but the counts of what was ignored", () => {
  fc.assert(
    fc.property(plans, acts(fc.constant(mallory), 20), (plan, strange) => {
      const history = play(plan)
      const { ignored: _, ...before } = plain(history.view(plan.now))
      const pulls = history.pulls.map(record => record.uri)
      for (const act of strange) carryOut(history, act, address(pulls[act.pull]))
      history.check(mallory, { key: 'pull:a:b', ...pullOf(pulls[0]) })
      history.lander(mallory)
      const { ignored, ...after } = plain(history.view(plan.now))
      assert.deepEqual(after, before)
      assert.ok(strange.length === 0 || ignored.size > 0)
    }),
    RUNS,
  )
})

test('HON-8 what was merged is in a queue only after owner or collaborator opened it and someone queued it anew', () => {
  let seen = 0
  fc.assert(
    fc.property(plansOf(lateDeeds), plan => {
      const view = play(plan).view(plan.now)
      for (const pull of view.pulls.values()) {
        const merged = pull.history.findLast(record => record.value.state === 'merged')
        const entry = pull.entry ?? pull.heldEntry
        if (merged === undefined) continue
        if (pull.state === 'open') seen++
        if (entry === undefined) continue
        const opened = pull.history.find(
          record =>
            record.value.state === 'open' &&
            byPosition(record, merged) > 0 &&
            byPosition(record, entry.record) <= 0 &&
            (view.roles.mayMerge(record.did) || record.did === previousOwner(plan)),
        )
        assert.ok(opened, `${pull.pull.uri} came back by itself`)
      }
    }),
    MANY,
  )
  assert.ok(seen > 100, `only ${seen} merged pulls were opened again in all histories`)
})

test('QUE-1 without entries named, a pull is queued exactly when it is open and its latest record that counts is queued', () => {
  fc.assert(
    fc.property(plans, plan => {
      const view = play({ ...plan, acts: plan.acts.map(act => ({ ...act, ends: -1 })) }).view(plan.now)
      for (const pull of view.pulls.values()) {
        const latest = pull.lastQueue?.value.state
        const isIn = pull.state === 'open' && latest === 'queued'
        assert.equal(pull.entry !== undefined || pull.heldEntry !== undefined, isIn)
        assert.equal(pull.ejection !== undefined, pull.state === 'open' && latest === 'ejected')
      }
    }),
    RUNS,
  )
})

test('QUE-1 each queue is in the order of its keys and holds each pull once, on the branch that it targets', () => {
  fc.assert(
    fc.property(plans, plan => {
      const view = play(plan).view(plan.now)
      const seen = new Set<string>()
      for (const { branch, queue } of view.branches.values()) {
        const entries = queue.flatMap(pull => pull.entry?.record ?? [])
        assert.equal(entries.length, queue.length)
        assert.deepEqual([...entries].sort(byPosition), entries)
        for (const pull of queue) {
          assert.equal(pull.branch, branch)
          assert.equal(pull.state, 'open')
          assert.equal(pull.draft, false)
          assert.ok(!seen.has(pull.pull.uri))
          seen.add(pull.pull.uri)
        }
      }
      const entered = [...view.pulls.values()].filter(pull => pull.entry !== undefined)
      assert.equal(seen.size, entered.length)
    }),
    RUNS,
  )
})

test('REC-3 nothing changes between now and the time at which the view says it may', () => {
  fc.assert(
    fc.property(plans, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (plan, part) => {
      const facts = play(plan).facts()
      const view = foldRepository(facts, plan.now)
      const until = view.wakesAt ?? plan.now + 365 * 86_400_000
      assert.ok(until > plan.now)
      const between = plan.now + Math.floor((until - plan.now) * part)
      assert.deepEqual(plain(foldRepository(facts, between)), plain(view))
    }),
    RUNS,
  )
})

/** Takes the account that a number picks out of those that are named; false when none is. */
function takeSomeoneOut(history: History, pick: number, now: number): boolean {
  const view = history.view(now)
  const named = [
    ...view.roles.collaborators.map(did => ({ did, role: 'collaborator' as const })),
    ...view.roles.runners.map(did => ({ did, role: 'runner' as const })),
  ]
  const out = named[pick % Math.max(1, named.length)]
  if (out === undefined) return false
  const record = takeOut(view, out, now)
  assert.deepEqual(comesBack(history.facts(), record, now), [])
  history.edit(record)
  return true
}

function previousOwner(plan: Plan): Did | undefined {
  return plan.transfer === undefined ? undefined : alice
}

function asDid(text: string): Did {
  return `did:plc:${text.slice('did:plc:'.length)}`
}

function address(uri: string | undefined): AtUri | undefined {
  const [, , by = '', kind = '', rkey = ''] = uri?.split('/') ?? []
  return uri === undefined ? undefined : `at://${asDid(by)}/dev.knotless.${kind.slice('dev.knotless.'.length)}/${rkey}`
}

function pullOf(uri: string | undefined): { pull?: AtUri } {
  const pull = address(uri)
  return pull === undefined ? {} : { pull }
}
