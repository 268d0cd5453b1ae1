/** What the rules take from records, ask of git, and leave in the audit log. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plain } from '../../src/queue/words/index.ts'
import { isDone } from '../../src/server/gateway/rules/done.ts'
import { needsChain, needsChecks, needsForward, needsMerges } from '../../src/server/gateway/rules/needs.ts'
import { auditReason } from '../../src/server/gateway/rules/reason.ts'
import { roleOf } from '../../src/server/gateway/rules/roles.ts'
import { alice, bob, carol, HEAD, History, mallory, rigby, rocky, TIP } from '../queue/support.ts'
import { AT, batch, byHand, type Case, create, editMove, judge, merge, push, question, remove, tag } from './gateway-rules-support.ts'

test('HON-2 GWY-9 roles are by the owner’s record alone', () => {
  const named = (...runners: (typeof alice)[]) => new History({ runners: runners.map(did => ({ did })) }).view()
  const rows = [
    [named(rigby), alice, 'owner'],
    [named(alice), alice, 'owner'],
    [named(rigby), bob, 'collaborator'],
    [named(rigby, bob), bob, 'lander-collaborator'],
    [named(rigby, bob, carol), carol, 'lander-collaborator'],
    [named(rigby), rigby, 'lander'],
    [named(rigby, rocky), rigby, 'lander'],
    [named(rigby, rocky), rocky, 'runner'],
    [named(rigby, bob), rigby, 'runner'],
    [named(rigby, alice), rigby, 'runner'],
    [named(), rigby, 'stranger'],
    [named(rigby), mallory, 'stranger'],
  ] as const
  for (const [view, caller, role] of rows) assert.equal(roleOf(view, caller), role)
})

test('GWY-9 a lander record, running or not, changes no role', () => {
  const history = new History({ runners: [{ did: rigby }, { did: rocky }] })
  history.lander(rocky)
  history.lander(carol)
  const view = history.view()
  assert.deepEqual(
    [rigby, rocky, carol].map(did => roleOf(view, did)),
    ['lander', 'runner', 'collaborator'],
  )
})

describe('what has to be asked of git', () => {
  /** What the first move needs: whether it goes forward, its chain, its merges, its checks. */
  function needs(it: Case): string {
    const asked = question(it)
    const [move] = asked.moves
    assert.ok(move !== undefined)
    const all = { forward: needsForward, chain: needsChain, merges: needsMerges, checks: needsChecks }
    return Object.entries(all)
      .filter(([, need]) => need(asked, move))
      .map(([name]) => name)
      .join(' ')
  }
  const rows: Record<string, [Case, string]> = {
    'a batch': [batch(), 'forward chain merges checks'],
    'a batch that deletes nothing': [changed(batch(), it => (it.moves.length = 1)), 'forward chain merges checks'],
    'a batch without a delegation': [changed(batch(), it => (it.asked.delegation = { state: 'never' })), ''],
    'a batch on a branch that moved': [changed(batch(), it => (it.branches.main = HEAD)), ''],
    'a push': [push(), 'forward'],
    'a push by a stranger': [changed(push(), it => (it.asked.caller = mallory)), ''],
    'a push beside a deletion that needs no proof': [
      changed(push(), it => it.moves.push({ name: 'refs/heads/pears', old: AT.pears, new: null })),
      'forward',
    ],
    'a push beside a branch that is made': [
      changed(push(), it => it.moves.push({ name: 'refs/heads/x', old: null, new: HEAD })),
      'forward',
    ],
    'a push beside the deletion of a tag': [
      changed(push(), it => it.moves.push({ name: 'refs/tags/figs', old: TIP, new: null })),
      'forward',
    ],
    'a landing by hand': [byHand(), 'forward chain merges'],
    'a landing by the owner': [changed(byHand(), it => (it.asked.caller = alice)), 'forward chain'],
    'a landing by a collaborator that lands': [changed(byHand(), it => it.history.edit({ runners: [{ did: carol }] })), 'forward chain'],
    'a merge': [merge(), 'forward chain'],
    'a merge that deletes nothing': [changed(merge(), it => (it.moves.length = 1)), 'forward chain'],
    'a landing by hand that also deletes what needs no proof': [
      changed(byHand(), it => it.moves.push({ name: 'refs/heads/feature', old: AT.feature, new: null })),
      'forward chain merges',
    ],
    'a push onto the head of somebody else’s pull': [
      changed(push(), it => editMove(it, { name: 'refs/heads/figs', old: AT.figs })),
      'forward',
    ],
    'a commit': [create(), 'forward'],
    'a branch that is made': [changed(push(), it => editMove(it, { name: 'refs/heads/x', old: null })), ''],
    'a deletion': [remove(), ''],
    'a tag that is moved': [changed(tag(), it => editMove(it, { name: 'refs/tags/v1', old: TIP, new: HEAD })), 'forward'],
  }
  for (const [name, [it, expected]] of Object.entries(rows)) test(`GWY-13 of ${name}`, () => assert.equal(needs(it), expected))
})

function changed(it: Case, change: (it: Case) => unknown): Case {
  change(it)
  return it
}

test('GWY-15 a move is done when the ref is where it was to go', () => {
  const refs = new Map([['refs/heads/main', TIP]])
  const at = (old: string | null, to: string | null, name = 'refs/heads/main') => isDone(refs, { name, old, new: to })
  assert.deepEqual(
    [
      at(HEAD, TIP),
      at(null, TIP),
      at(TIP, HEAD),
      at(TIP, TIP),
      at(TIP, null),
      at(HEAD, null, 'refs/heads/x'),
      at(null, null, 'refs/heads/x'),
    ],
    [true, true, false, false, false, true, false],
  )
})

describe('GWY-6 what the audit log keeps', () => {
  const text = (it: Case, at = 0, fromIndex?: string[]) => {
    const verdict = judge(it)[at]
    const move = it.moves[at]
    assert.ok(verdict !== undefined && move !== undefined)
    const { reason, code, note } = auditReason(verdict, move, fromIndex)
    const say = (phrase: Parameters<typeof plain>[0]) => plain(phrase, 0, () => undefined)
    return [say(reason), code, note && say(note)]
  }
  test('of a batch', () => {
    assert.deepEqual(text(batch()), ['a batch of 2 queued pulls, each equal to what the gateway merged itself', undefined, undefined])
  })
  test('of a head branch that goes with it', () => {
    assert.deepEqual(text(batch(), 1)[0], 'the head branch of a pull that lands with it')
  })
  test('PRO-5 of a collaborator that lands', () => {
    const it = push()
    it.history.edit({ protections: [{ branch: 'feature', queue: true }], runners: [{ did: bob }] })
    assert.deepEqual(text(it)[0], 'as lander, not verified as a batch')
  })
  test('of a collaborator who deletes', () => {
    assert.deepEqual(text(remove(), 0, ['the records of x']), ['as a collaborator', undefined, 'taken from the index: the records of x'])
  })
  test('of a refusal', () => {
    const it = push()
    it.history.edit({ protections: [{ branch: 'feature', queue: true }] })
    assert.deepEqual(text(it), ['feature takes pulls only through the queue', 'queue-only', undefined])
  })
})
