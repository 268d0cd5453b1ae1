import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { alice, bob, carol, dave, HEAD, repoAt, rigby, TIP } from '../queue/support.ts'
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
