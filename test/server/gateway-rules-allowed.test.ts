import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plain } from '../../src/queue/words/index.ts'
import { isDone } from '../../src/server/gateway/rules/done.ts'
import { needsChain, needsChecks, needsForward, needsMerges } from '../../src/server/gateway/rules/needs.ts'
import { auditReason } from '../../src/server/gateway/rules/reason.ts'
import { roleOf } from '../../src/server/gateway/rules/roles.ts'
import { alice, bob, carol, dave, HEAD, History, mallory, repoAt, rigby, rocky, TIP } from '../queue/support.ts'
import {
  AT,
  batch,
  byHand,
  type Case,
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
  TREES,
  tag,
} from './gateway-rules-support.ts'

/** Changes of questions that are let through, after which they still are, and as whom. */
const allowed: Record<string, [from: () => Case, change: (it: Case) => unknown, as: 'owner' | 'collaborator' | 'lander' | 'batch']> = {
  'PRO-5 the owner pushes to a queue-only branch': [
    push,
    it => {
      it.asked.caller = alice
      it.history.edit({ protections: [{ branch: 'feature', queue: true }] })
    },
    'owner',
  ],
  'PRO-5 the owner commits to a queue-only branch': [
    create,
    it => {
      it.asked.caller = alice
      it.history.edit({ protections: [{ branch: 'feature', queue: true }] })
    },
    'owner',
  ],
  'PRO-5 a collaborator that lands pushes to a queue-only branch, not verified as a batch': [
    push,
    it => it.history.edit({ protections: [{ branch: 'feature', queue: true }], runners: [{ did: bob }] }),
    'lander',
  ],
  'GWY-9 any named runner that may push lands': [
    push,
    it => it.history.edit({ protections: [{ branch: 'feature', queue: true }], runners: [{ did: rigby }, { did: carol }, { did: bob }] }),
    'lander',
  ],
  'GWY-2 a collaborator that lands makes a queue-only branch again': [
    push,
    it => {
      it.history.edit({ protections: [{ branch: 'feature', queue: true }], runners: [{ did: bob }] })
      delete it.branches.feature
      editMove(it, { old: null })
    },
    'lander',
  ],
  'GWY-9 a collaborator that lands is a collaborator where no queue is': [
    push,
    it => it.history.edit({ runners: [{ did: bob }] }),
    'collaborator',
  ],
  'GWY-9 an owner who is named as runner is the owner': [
    push,
    it => {
      it.asked.caller = alice
      it.history.edit({ protections: [{ branch: 'feature', queue: true }], runners: [{ did: alice }] })
    },
    'owner',
  ],
  'GWY-5 a collaborator pushes forward to the default branch, where it carries no rule': [
    push,
    it => it.history.edit({ defaultBranch: 'feature' }),
    'collaborator',
  ],
  'GWY-5 a collaborator pushes forward to a branch that is only pinned': [
    push,
    it => it.history.edit({ protections: [{ branch: 'feature', queue: false, pinned: true }] }),
    'collaborator',
  ],
  'GWY-5 a collaborator pushes forward to the head of somebody else’s pull': [
    push,
    it => editMove(it, { name: 'refs/heads/figs', old: AT.figs }),
    'collaborator',
  ],
  'GWY-5 a collaborator makes a branch': [
    push,
    it => {
      editMove(it, { name: 'refs/heads/new', old: null })
      it.facts.clear()
    },
    'collaborator',
  ],
  'GWY-5 a collaborator makes the default branch, where there is none': [
    push,
    it => {
      it.history.edit({ defaultBranch: 'new' })
      editMove(it, { name: 'refs/heads/new', old: null })
      it.facts.clear()
    },
    'collaborator',
  ],
  'GWY-9 a collaborator that lands forces a branch that nobody needs': [
    force,
    it => it.history.edit({ runners: [{ did: bob }] }),
    'collaborator',
  ],
  'GWY-5 an author forces the branch of their own open pull': [
    force,
    it => editMove(it, { name: 'refs/heads/pears', old: AT.pears }),
    'collaborator',
  ],
  'GWY-5 an author deletes the branch of their own open pull': [
    remove,
    it => editMove(it, { name: 'refs/heads/pears', old: AT.pears }),
    'collaborator',
  ],
  'GWY-5 a collaborator deletes the branch of a pull that is closed': [
    remove,
    it => {
      it.history.closed(carol, it.figs)
      editMove(it, { name: 'refs/heads/figs', old: AT.figs })
    },
    'collaborator',
  ],
  'GWY-5 a collaborator deletes what a closed pull is onto': [
    remove,
    it => {
      it.history.closed(carol, it.figs)
      editMove(it, { name: 'refs/heads/release', old: AT.release })
    },
    'collaborator',
  ],
  'GWY-5 a collaborator deletes a branch that has the name of a fork’s': [
    remove,
    it => it.history.editPull(it.figs, { head: { repo: repoAt(dave), branch: 'feature' } }),
    'collaborator',
  ],
  'GWY-5 the owner forces a branch that nobody needs': [
    force,
    it => {
      it.asked.caller = alice
    },
    'owner',
  ],
  'GWY-5 the owner deletes a branch that nobody needs': [
    remove,
    it => {
      it.asked.caller = alice
    },
    'owner',
  ],
  'GWY-5 the owner makes a tag': [
    tag,
    it => {
      it.asked.caller = alice
    },
    'owner',
  ],
  'GWY-5 the owner moves a tag': [
    tag,
    it => {
      it.asked.caller = alice
      editMove(it, { name: 'refs/tags/v1', old: TIP, new: HEAD })
    },
    'owner',
  ],
  'GWY-5 the owner deletes a tag': [
    tag,
    it => {
      it.asked.caller = alice
      editMove(it, { name: 'refs/tags/v1', old: TIP, new: null })
    },
    'owner',
  ],
  'GWY-12 a repository that names no gateway, whose owner delegated to this server': [
    push,
    it => it.history.edit({ gateway: undefined }),
    'collaborator',
  ],
  'LND-14 the owner merges': [
    merge,
    it => {
      it.asked.caller = alice
    },
    'owner',
  ],
  'LND-14 a pull that is not queued is merged': [merge, it => it.history.left(carol, it.pears), 'collaborator'],
  'LND-14 a repository without runners merges': [merge, it => it.history.edit({ runners: [] }), 'collaborator'],
  'GWY-3 a batch onto a branch without a rule': [batch, it => it.history.edit({ protections: [] }), 'batch'],
  'GWY-4 a batch that deletes no branches': [
    batch,
    it => {
      it.moves.length = 1
    },
    'batch',
  ],
  'GWY-4 the moves of a batch in another order': [batch, it => it.moves.reverse(), 'batch'],
  'QUE-9 on a pinned branch a batch of what was queued': [
    batch,
    it => it.history.edit({ protections: [{ branch: 'main', queue: true, pinned: true }] }),
    'batch',
  ],
  'QUE-9 on a pinned branch a pull moved by an author who may queue': [
    batch,
    it => {
      it.history.edit({ protections: [{ branch: 'main', queue: true, pinned: true }] })
      it.branches.pears = HEAD
      editMove(it, { old: HEAD }, 1)
    },
    'batch',
  ],
  'GWY-4 on a branch that is not pinned a pull whose head moved after it was queued': [
    batch,
    it => {
      it.branches.plums = HEAD
      editMove(it, { old: HEAD }, 2)
    },
    'batch',
  ],
  'BLD-8 a tip whose tree is not known': [batch, it => editFacts(it, { baseTree: undefined }), 'batch'],
  'GWY-4 a batch that checks tell of': [
    batch,
    it => {
      const member = { pull: it.pears, head: AT.pears, commit: FIRST }
      it.history.check(rigby, { commit: SECOND, baseCommit: TIP, batch: [member], of: 1 })
    },
    'batch',
  ],
  'GWY-4 a pull out of a fork': [
    batch,
    it => {
      it.history.editPull(it.plums, { head: { repo: repoAt(dave), branch: 'plums' } })
      it.history.refsOf(dave, 'orchard', { plums: AT.plums })
      it.moves.length = 2
    },
    'batch',
  ],
  'LND-4 a collaborator that lands deletes spent head branches without proof': [
    byHand,
    it => {
      it.history.edit({ protections: [{ branch: 'main', queue: true }], runners: [{ did: carol }] })
      editCommit(it, { merged: undefined })
    },
    'lander',
  ],
  'LND-4 the owner deletes spent head branches without proof': [
    byHand,
    it => {
      it.asked.caller = alice
      editCommit(it, { merged: undefined })
    },
    'owner',
  ],
}

describe('what is let through as well', () => {
  for (const [name, [from, change, as]] of Object.entries(allowed)) {
    test(name, () => {
      const it = from()
      change(it)
      const verdicts = judge(it)
      for (const verdict of verdicts) assert.ok(verdict.ok, JSON.stringify(verdict))
      const landing = verdicts[it.moves.findIndex(move => move.new !== null || it.moves.length === 1)]
      assert.equal(landing?.ok === true ? landing.as : undefined, as)
    })
  }
})

test('GWY-4 a head that moved is blamed for nothing that a fork’s branch of the same name tells', () => {
  const it = batch()
  it.history.editPull(it.plums, { head: { repo: repoAt(dave), branch: 'plums' } })
  it.history.refsOf(dave, 'orchard', { plums: HEAD })
  editCommit(it, { tree: TREES.other }, 1)
  const verdict = first(it)
  assert.equal(!verdict.ok && verdict.refusal.code, 'tree-differs')
})

test('GWY-4 checks of another commit, pull or branch tell nothing of what was squashed', () => {
  for (const member of [
    (it: Case) => ({ pull: it.plums, head: AT.plums, commit: FIRST }),
    (it: Case) => ({ pull: it.pears, head: AT.plums, commit: SECOND }),
  ]) {
    const it = batch()
    it.moves.length = 1
    it.branches.plums = HEAD
    it.history.check(rigby, { commit: SECOND, baseCommit: TIP, batch: [member(it)], of: 1, status: 'running' })
    editCommit(it, { merged: { kind: 'clean', tree: TREES.other } }, 1)
    const verdict = first(it)
    assert.equal(!verdict.ok && verdict.refusal.code, 'tree-differs')
  }
})

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
