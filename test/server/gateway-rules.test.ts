import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { judgeGateway } from '../../src/server/gateway/rules/judge.ts'
import { alice, bob, carol, commit, dave, did, HEAD, MINUTE, mallory, repoAt, rigby, rocky, TIP } from '../queue/support.ts'
import {
  AT,
  assertRefused,
  batch,
  byHand,
  type Case,
  create,
  type Expected,
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

/** A change of a question that is let through, and what is said to it. */
interface Attack {
  from: () => Case
  change: (it: Case) => void
  /** Which move is looked at; the first. */
  move?: number
  expected: Expected | ((it: Case) => Expected)
}

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

const members = (it: Case) => ({ commit: FIRST, pull: it.pears })

const whoMayAsk: Record<string, Attack> = {
  'GWY-1 without a delegation nothing is written': {
    from: push,
    change: it => {
      it.asked.delegation = { state: 'never' }
    },
    expected: {
      code: 'not-delegated',
      says: /^Not pushed: this server may not write for alice\.test, as no delegation was given\. Ask alice\.test .* \(https:\/\/queue\.example\/settings\)\.$/,
    },
  },
  'GWY-1 the owner is told to give the delegation': {
    from: push,
    change: it => {
      it.asked.caller = alice
      it.asked.delegation = { state: 'never' }
    },
    expected: { code: 'not-delegated', says: /may not write for you, as no delegation was given\. Give the delegation in your settings/ },
  },
  'GWY-7 a delegation that was withdrawn ends with the next write': {
    from: batch,
    change: it => {
      it.asked.delegation = { state: 'withdrawn', at: it.history.now - 2 * MINUTE }
    },
    expected: { code: 'not-delegated', says: /^Not landed: .* as the delegation was withdrawn 3 min ago\./ },
  },
  'GWY-1 a delegation that was revoked at the owner’s server is told apart': {
    from: merge,
    change: it => {
      it.asked.delegation = { state: 'lost', at: it.history.now - 2 * MINUTE, why: 'revoked' }
    },
    expected: { code: 'not-delegated', says: /^Not merged: .* as the delegation was revoked at the account’s server 3 min ago\./ },
  },
  'GWY-1 a delegation that ran out is told apart': {
    from: create,
    change: it => {
      it.asked.delegation = { state: 'lost', at: it.history.now, why: 'expired' }
    },
    expected: { code: 'not-delegated', says: /^Not committed: .* as the delegation ran out 1 min ago\./ },
  },
  'GWY-12 a repository that names another gateway is not written to': {
    from: batch,
    change: it => it.history.edit({ gateway: did('other') }),
    expected: { code: 'wrong-gateway', says: /^Not landed: alice\.test\/orchard shares writing through another server, did:plc:other/ },
  },
  'HON-4 a repository that moved is not written to at its old address': {
    from: push,
    change: it => {
      const view = { ...it.history.view(), movedTo: repoAt(dave, 'grove') }
      it.history.view = () => view
    },
    expected: { code: 'repo-not-found', says: /^Not pushed: alice\.test\/orchard moved to dave\.test\/grove\./ },
  },
  'HON-4 a repository that moved takes no landing at its old address, whoever lands': {
    from: batch,
    change: it => {
      const view = { ...it.history.edit({ runners: [{ did: rocky }, { did: rigby }] }).view(), movedTo: repoAt(dave) }
      it.history.view = () => view
    },
    expected: { code: 'repo-not-found', says: /^Not landed: alice\.test\/orchard moved to dave\.test\/orchard\./ },
  },
  'HON-2 a stranger pushes': {
    from: push,
    change: it => {
      it.asked.caller = mallory
    },
    expected: { code: 'not-allowed', says: /^Not pushed: only alice\.test, bob\.test and carol\.test can do that here\./ },
  },
  'HON-2 a stranger pushes a batch that is right in every way': {
    from: batch,
    change: it => {
      it.asked.caller = mallory
    },
    expected: { code: 'not-allowed', says: /^Not pushed: only alice\.test/ },
  },
  'GWY-9 somebody who was a collaborator until yesterday pushes': {
    from: push,
    change: it => it.history.takeOut(bob),
    expected: { code: 'not-allowed', says: /^Not pushed: only alice\.test and carol\.test can do that here\./ },
  },
  'GWY-9 somebody who was the runner until yesterday lands': {
    from: batch,
    change: it => it.history.takeOut(rigby).edit({ runners: [{ did: rocky }] }),
    expected: { code: 'not-allowed', says: /^Not pushed: only/ },
  },
  'WHO-4 a named runner that is not the lander lands': {
    from: batch,
    change: it => it.history.edit({ runners: [{ did: rocky }, { did: rigby }] }),
    expected: { code: 'not-lander', says: /^Not landed: rigby\.test does not land this repository’s queues; rocky\.test does\.$/ },
  },
  'WHO-2 GWY-9 the first named runner lands no more once another may push': {
    from: batch,
    change: it => it.history.edit({ runners: [{ did: rigby }, { did: bob }] }),
    expected: { code: 'not-lander', says: /bob\.test does\.$/ },
  },
  'GWY-3 a lander that may not push asks for a merge': {
    from: merge,
    change: it => {
      it.asked.caller = rigby
    },
    expected: { code: 'not-allowed', says: /^Not merged: only alice/ },
  },
  'GWY-3 a lander that may not push asks for a commit': {
    from: create,
    change: it => {
      it.asked.caller = rigby
    },
    expected: { code: 'not-allowed', says: /^Not committed: only alice/ },
  },
  'WHO-4 a named runner that is not the lander asks for a merge': {
    from: merge,
    change: it => {
      it.asked.caller = rigby
      it.history.edit({ runners: [{ did: rocky }, { did: rigby }] })
    },
    expected: { code: 'not-allowed', says: /^Not merged: only alice/ },
  },
}

const queueOnlyMain: Record<string, Attack> = {
  'GWY-2 a collaborator pushes to a queue-only branch': {
    from: push,
    change: it => it.history.edit({ protections: [{ branch: 'feature', queue: true }] }),
    expected: { code: 'queue-only', says: /^Not pushed: feature takes pulls only through the queue\. Open a pull onto feature/ },
  },
  'GWY-2 a collaborator commits to a queue-only branch by createCommit': {
    from: create,
    change: it => it.history.edit({ protections: [{ branch: 'feature', queue: true }] }),
    expected: { code: 'queue-only', says: /^Not committed: feature takes pulls only through the queue/ },
  },
  'GWY-2 a collaborator deletes a queue-only branch': {
    from: remove,
    change: it => it.history.edit({ protections: [{ branch: 'feature', queue: true }] }),
    expected: { code: 'queue-only', says: /^Not pushed: feature takes pulls only through the queue/ },
  },
  'GWY-2 a collaborator makes a queue-only branch again': {
    from: push,
    change: it => {
      it.history.edit({ protections: [{ branch: 'feature', queue: true }] })
      delete it.branches.feature
      editMove(it, { old: null })
    },
    expected: { code: 'queue-only', says: /^Not pushed: feature takes/ },
  },
  'GWY-9 an unnamed collaborator lands on a queue-only branch': {
    from: byHand,
    change: it => it.history.edit({ protections: [{ branch: 'main', queue: true }] }),
    expected: { code: 'queue-only', says: /^Not pushed: main takes/ },
  },
  'PRO-3 a collaborator merges into a queue-only branch': {
    from: merge,
    change: it => it.history.edit({ protections: [{ branch: 'main', queue: true }] }),
    expected: { code: 'queue-only', says: /^Not merged: main takes pulls only through the queue\. Add it to the merge queue instead\.$/ },
  },
  'PRO-3 the owner merges into a queue-only branch': {
    from: merge,
    change: it => {
      it.asked.caller = alice
      it.history.edit({ protections: [{ branch: 'main', queue: true }] })
    },
    expected: { code: 'queue-only', says: /^Not merged: main takes/ },
  },
  'PRO-3 a collaborator that lands merges into a queue-only branch': {
    from: merge,
    change: it => it.history.edit({ protections: [{ branch: 'main', queue: true }], runners: [{ did: carol }] }),
    expected: { code: 'queue-only', says: /^Not merged: main takes/ },
  },
  'PRO-4 a merge into a queue-only branch whose repository names no runner': {
    from: merge,
    change: it => it.history.edit({ protections: [{ branch: 'main', queue: true }], runners: [] }),
    expected: {
      code: 'no-runners',
      says: /^Not merged: main takes pulls only through the queue, and alice\.test\/orchard names no runner/,
    },
  },
  'PRO-4 a push to a queue-only branch whose repository names no runner': {
    from: push,
    change: it => it.history.edit({ protections: [{ branch: 'feature', queue: true }], runners: [] }),
    expected: { code: 'no-runners', says: /^Not pushed: feature takes pulls only through the queue, and/ },
  },
  'GWY-5 a collaborator that lands forces a queue-only branch': {
    from: force,
    change: it => it.history.edit({ protections: [{ branch: 'feature', queue: true }], runners: [{ did: bob }] }),
    expected: { code: 'force-refused', says: /^Not pushed: a landing is never forced, and feature would lose commits/ },
  },
  'GWY-5 a collaborator that lands deletes a queue-only branch': {
    from: remove,
    change: it => it.history.edit({ protections: [{ branch: 'feature', queue: true }], runners: [{ did: bob }] }),
    expected: { code: 'force-refused', says: /^Not pushed: feature carries a rule, and such a branch is never deleted here/ },
  },
}

const batches: Record<string, Attack> = {
  'GWY-4 the base is not the tip': {
    from: batch,
    change: it => {
      it.branches.main = HEAD
    },
    expected: { code: 'branch-moved', says: /^Not landed: main moved to 0000000 meanwhile\. Nothing is lost; the queue builds again/ },
  },
  'GWY-4 the branch is gone': {
    from: batch,
    change: it => {
      delete it.branches.main
    },
    expected: { code: 'branch-moved', says: /^Not landed: there is no main any more\./ },
  },
  'GWY-5 a landing is forced': {
    from: batch,
    change: it => editFacts(it, { forward: false }),
    expected: {
      code: 'force-refused',
      says: /^Not landed: a landing is never forced, and main would lose commits by this one\. Put your commits on top/,
    },
  },
  'GWY-5 nothing is known of whether a landing goes forward': {
    from: batch,
    change: it => it.facts.clear(),
    expected: { code: 'force-refused', says: /a landing is never forced/ },
  },
  'GWY-4 the commits do not lead back to the tip by first parents': {
    from: batch,
    change: it => editFacts(it, { chain: 'none' }),
    expected: { code: 'not-a-batch', says: /Its commits do not lead back to main at 0000000 by first parents\.$/ },
  },
  'GWY-4 more commits than a batch holds, as git counts': {
    from: batch,
    change: it => editFacts(it, { chain: 'too-long' }),
    expected: { code: 'not-a-batch', says: /It brings more than 50 commits, and a batch holds at most that many\.$/ },
  },
  'GWY-4 no commits': {
    from: batch,
    change: it => {
      editFacts(it, { chain: [] })
      editMove(it, { new: TIP })
    },
    expected: { code: 'not-a-batch', says: /It brings no commits\.$/ },
  },
  'GWY-4 what it brings was not read': {
    from: batch,
    change: it => editFacts(it, { chain: undefined }),
    expected: { code: 'upstream-failed', says: /^Not landed: what it brings could not be read\./ },
  },
  'GWY-4 what was read of it does not end where the branch is to be': {
    from: batch,
    change: it => editMove(it, { new: commit(0x99) }),
    expected: { code: 'upstream-failed', says: /^Not landed: the whole of what it brings could not be read\./ },
  },
  'GWY-4 a merge commit in the chain': {
    from: batch,
    change: it => editCommit(it, { parents: [FIRST, AT.plums] }, 1),
    expected: { code: 'not-a-batch', says: /Commit 0000000 has 2 parents, and each commit of a batch has one\.$/, commit: SECOND },
  },
  'GWY-4 the right tree with its parents in another order': {
    from: batch,
    change: it => editCommit(it, { parents: [AT.pears, TIP] }),
    expected: { code: 'not-a-batch', says: /has 2 parents/, commit: FIRST },
  },
  'GWY-4 a commit without a parent': {
    from: batch,
    change: it => editCommit(it, { parents: [] }),
    expected: { code: 'not-a-batch', says: /Commit 0000000 has 0 parents/, commit: FIRST },
  },
  'GWY-4 a commit that stands on another one than the tip': {
    from: batch,
    change: it => editCommit(it, { parents: [AT.pears] }),
    expected: { code: 'not-a-batch', says: /Commit 0000000 does not stand on 0000000, the one before it\.$/, commit: FIRST },
  },
  'GWY-4 a commit that does not stand on the one before it': {
    from: batch,
    change: it => editCommit(it, { parents: [TIP] }, 1),
    expected: { code: 'not-a-batch', says: /does not stand on/, commit: SECOND },
  },
  'GWY-4 a message that is too long or not clean': {
    from: batch,
    change: it => editCommit(it, { clean: false }, 1),
    expected: it => ({
      code: 'not-a-batch',
      says: /The message of commit 0000000 is too long, or holds control/,
      commit: SECOND,
      pull: it.plums,
    }),
  },
  'GWY-4 a message that is not clean and names no pull blames none': {
    from: batch,
    change: it => editCommit(it, { clean: false, lastLine: 'x' }),
    expected: { code: 'not-a-batch', says: /The message of commit/, commit: FIRST },
  },
  'GWY-4 a commit that is no pull’s squash': {
    from: batch,
    change: it => editCommit(it, { lastLine: 'Trust me', merged: undefined }),
    expected: { code: 'not-a-batch', says: /Commit 0000000 names no pull: the last line of its message/, commit: FIRST },
  },
  'GWY-4 a last line that holds more than the address': {
    from: batch,
    change: it => editCommit(it, { lastLine: `${it.pears} ` }),
    expected: { code: 'not-a-batch', says: /names no pull/, commit: FIRST },
  },
  'GWY-4 a last line that holds something before the address': {
    from: batch,
    change: it => editCommit(it, { lastLine: `see ${it.pears}` }),
    expected: { code: 'not-a-batch', says: /names no pull/, commit: FIRST },
  },
  'GWY-4 a message naming an issue': {
    from: batch,
    change: it => editCommit(it, { lastLine: it.pears.replace('.pull/', '.issue/') }),
    expected: { code: 'not-a-batch', says: /names no pull/, commit: FIRST },
  },
  'GWY-4 a message naming a pull of another repository': {
    from: batch,
    change: it => editCommit(it, { elsewhere: repoAt(dave) }),
    expected: { code: 'not-a-batch', says: /Commit 0000000 names a pull of another repository\.$/, commit: FIRST },
  },
  'GWY-4 a message naming a pull that is not there': {
    from: batch,
    change: it => it.history.remove({ uri: it.pears }),
    expected: { code: 'not-a-batch', says: /Commit 0000000 names a pull that is not there/, commit: FIRST },
  },
  'GWY-4 a message naming another queued pull': {
    from: batch,
    change: it => editCommit(it, { lastLine: it.plums, merged: { kind: 'clean', tree: TREES.second } }),
    expected: {
      code: 'tree-differs',
      says: /^Not landed: commit 0000000 holds other files than this server gets by merging Plums/,
      commit: FIRST,
    },
  },
  'GWY-4 one pull twice': {
    from: batch,
    change: it => editCommit(it, { lastLine: it.pears }, 1),
    expected: { code: 'not-a-batch', says: /Commit 0000000 names the pull that 0000000 brings already\.$/, commit: SECOND },
  },
  'QUE-2 a pull that is closed': {
    from: batch,
    change: it => it.history.closed(bob, it.pears),
    expected: it => ({ code: 'pull-not-open', says: /^Not landed: Pears was closed 1 min ago\./, ...members(it) }),
  },
  'QUE-2 a pull that is merged': {
    from: batch,
    change: it => it.history.merged(carol, it.pears, { commit: HEAD }),
    expected: it => ({ code: 'pull-not-open', says: /^Not landed: Pears was merged 1 min ago\./, ...members(it) }),
  },
  'QUE-2 a pull whose author’s account is gone': {
    from: batch,
    change: it => it.history.gone.add(bob),
    expected: it => ({ code: 'pull-not-open', says: /^Not landed: Pears is closed\./, ...members(it) }),
  },
  'QUE-5 a pull that is a draft': {
    from: batch,
    change: it => it.history.editPull(it.pears, { draft: true }),
    expected: it => ({ code: 'draft', says: /^Not landed: Pears is a draft, and drafts are held\./, ...members(it) }),
  },
  'QUE-1 a pull that was never queued': {
    from: batch,
    change: it => {
      for (const record of it.history.queue.filter(one => one.value.subject === it.pears)) it.history.remove(record)
    },
    expected: it => ({ code: 'not-queued', says: /^Not landed: Pears is not queued\./, ...members(it) }),
  },
  'HON-2 a pull that a stranger queued': {
    from: batch,
    change: it => {
      for (const record of it.history.queue.filter(one => one.value.subject === it.pears)) it.history.remove(record)
      it.history.queued(mallory, it.pears)
    },
    expected: it => ({ code: 'not-queued', says: /^Not landed: Pears is not queued\./, ...members(it) }),
  },
  'HON-5 a pull whose queuer no longer may': {
    from: batch,
    change: it => it.history.takeOut(carol),
    expected: it => ({ code: 'not-queued', says: /^Not landed: Pears is not queued\./, ...members(it) }),
  },
  'QUE-4 a pull that was ejected': {
    from: batch,
    change: it => it.history.ejected(rigby, it.pears),
    expected: it => ({ code: 'not-queued', says: /^Not landed: Pears was ejected 1 min ago\./, ...members(it) }),
  },
  'QUE-4 a pull that left the queue': {
    from: batch,
    change: it => it.history.left(carol, it.pears),
    expected: it => ({ code: 'not-queued', says: /^Not landed: Pears was taken out of the queue 1 min ago\./, ...members(it) }),
  },
  'QUE-3 a pull that is queued for another branch': {
    from: batch,
    change: it => it.history.editPull(it.pears, { branch: 'release' }),
    expected: it => ({ code: 'not-queued', says: /^Not landed: Pears is queued for release and not for main\./, ...members(it) }),
  },
  'GWY-4 a pull whose head branch is gone': {
    from: batch,
    change: it => {
      delete it.branches.pears
      it.moves.splice(1, 1)
    },
    expected: it => ({ code: 'head-moved', says: /^Not landed: the head branch of Pears is gone\./, ...members(it) }),
  },
  'GWY-13 a pull whose head is not known': {
    from: batch,
    change: it => it.history.editPull(it.pears, { head: { repo: repoAt(bob), branch: 'pears' } }),
    expected: it => ({
      code: 'upstream-failed',
      says: /could not merge Pears itself, to compare\. Where its head branch is, is not known\./,
      ...members(it),
    }),
  },
  'QUE-9 on a pinned branch a stranger’s pull whose head moved after it was queued': {
    from: batch,
    change: it => {
      it.history.edit({ protections: [{ branch: 'main', queue: true, pinned: true }] })
      it.branches.plums = HEAD
      editMove(it, { old: HEAD }, 2)
    },
    expected: it => ({
      code: 'head-moved',
      says: /^Not landed: Plums changed after it was queued, and main takes only/,
      commit: SECOND,
      pull: it.plums,
    }),
  },
  'QUE-9 on a pinned branch a stranger’s pull that was queued for another branch': {
    from: batch,
    change: it => {
      it.history.edit({ protections: [{ branch: 'main', queue: true, pinned: true }] })
      it.history.left(carol, it.plums)
      it.history.queued(carol, it.plums, { head: AT.plums, branch: 'release' })
    },
    expected: it => ({ code: 'head-moved', says: /^Not landed: Plums changed after it was queued/, commit: SECOND, pull: it.plums }),
  },
  'GWY-4 a pull that this server could not merge': {
    from: batch,
    change: it => editCommit(it, { merged: { kind: 'unread', message: 'The head could not be fetched.' } }),
    expected: it => ({
      code: 'upstream-failed',
      says: /could not merge Pears itself, to compare\. The head could not be fetched\./,
      ...members(it),
    }),
  },
  'GWY-4 a pull that this server did not merge': {
    from: batch,
    change: it => editCommit(it, { merged: undefined }),
    expected: it => ({ code: 'upstream-failed', says: /could not merge Pears itself, to compare\. It was not tried\./, ...members(it) }),
  },
  'GWY-4 a pull that does not apply': {
    from: batch,
    change: it => editCommit(it, { merged: { kind: 'conflict', files: ['a.ts'] } }, 1),
    expected: it => ({
      code: 'conflict',
      says: /^Not landed: at 0000000 Plums does not apply on 0000000\. These files conflict: a\.ts\.$/,
      commit: SECOND,
      pull: it.plums,
    }),
  },
  'GWY-14 LND-9 a squash with one byte more than the merge gives': {
    from: batch,
    change: it => editCommit(it, { tree: TREES.other }, 1),
    expected: {
      code: 'tree-differs',
      says: /^Not landed: commit 0000000 holds other files than this server gets by merging Plums at 0000000 onto 0000000\. Two versions of git can merge differently: compare the runner’s with this server’s\. Nobody is turned away for it\.$/,
      commit: SECOND,
    },
  },
  'GWY-4 a head that moved since it was squashed, as the push tells': {
    from: batch,
    change: it => {
      it.branches.pears = HEAD
      editCommit(it, { merged: { kind: 'clean', tree: TREES.other } })
    },
    expected: it => ({ code: 'head-moved', says: /^Not landed: Pears moved to 0000000 after it was squashed\./, ...members(it) }),
  },
  'GWY-4 a head that moved since it was squashed, into a conflict': {
    from: batch,
    change: it => {
      it.branches.pears = HEAD
      editCommit(it, { merged: { kind: 'conflict', files: ['a.ts'] } })
    },
    expected: it => ({ code: 'head-moved', says: /^Not landed: Pears moved to/, ...members(it) }),
  },
  'GWY-4 a head that moved since it was squashed, as the checks of the batch tell': {
    from: batch,
    change: it => {
      it.moves.length = 1
      it.branches.plums = HEAD
      const members = [
        { pull: it.pears, head: AT.pears, commit: FIRST },
        { pull: it.plums, head: AT.plums, commit: SECOND },
      ]
      it.history.check(rigby, { commit: SECOND, baseCommit: TIP, batch: members, of: 1, status: 'running' })
      editCommit(it, { merged: { kind: 'clean', tree: TREES.other } }, 1)
    },
    expected: it => ({ code: 'head-moved', says: /^Not landed: Plums moved to/, commit: SECOND, pull: it.plums }),
  },
  'LND-2 a head that moved since it was squashed, to the same files': {
    from: batch,
    change: it => {
      it.branches.pears = HEAD
    },
    expected: it => ({ code: 'head-moved', says: /^Not landed: Pears moved to/, pull: it.pears }),
  },
  'BLD-8 a squash that changes nothing on the tip': {
    from: batch,
    change: it => editFacts(it, { baseTree: TREES.first }),
    expected: it => ({
      code: 'nothing-to-land',
      says: /^Not landed: commit 0000000 of Pears changes nothing on 0000000\./,
      ...members(it),
    }),
  },
  'BLD-8 a squash that changes nothing on the one before it': {
    from: batch,
    change: it => editCommit(it, { tree: TREES.first, merged: { kind: 'clean', tree: TREES.first } }, 1),
    expected: it => ({ code: 'nothing-to-land', says: /of Plums changes nothing/, commit: SECOND, pull: it.plums }),
  },
  'GWY-11 a check that is missing': {
    from: batch,
    change: it => editFacts(it, { checks: { missing: [{ workflow: 'test', status: 'running' }] } }),
    expected: { code: 'checks-failed', says: /^Not landed: at 0000000 not every check for main has passed: test \(running\)\./ },
  },
  'GWY-11 checks that were not read': {
    from: batch,
    change: it => editFacts(it, { checks: undefined }),
    expected: { code: 'upstream-failed', says: /^Not landed: the checks at its tip could not be read\./ },
  },
}

const beside: Record<string, Attack> = {
  'GWY-4 a batch that also moves another branch': {
    from: batch,
    change: it => it.moves.push({ name: 'refs/heads/release', old: AT.release, new: SECOND }),
    expected: { code: 'not-a-batch', says: /It also touches release: beside the branch, only the spent head branches/ },
  },
  'GWY-4 a batch that also makes a branch': {
    from: batch,
    change: it => it.moves.push({ name: 'refs/heads/backdoor', old: null, new: SECOND }),
    expected: { code: 'not-a-batch', says: /It also touches backdoor/ },
  },
  'GWY-4 a batch that also makes a tag': {
    from: batch,
    change: it => it.moves.push({ name: 'refs/tags/v2', old: null, new: SECOND }),
    expected: { code: 'not-a-batch', says: /It also touches v2/ },
  },
  'GWY-4 a batch that also moves a tag': {
    from: batch,
    change: it => it.moves.push({ name: 'refs/tags/v1', old: TIP, new: SECOND }),
    expected: { code: 'not-a-batch', says: /It also touches v1/ },
  },
  'GWY-4 a batch that also deletes a tag': {
    from: batch,
    change: it => it.moves.push({ name: 'refs/tags/v1', old: TIP, new: null }),
    expected: { code: 'not-a-batch', says: /It also touches v1/ },
  },
  'GWY-4 a batch that also deletes a branch of somebody else’s': {
    from: batch,
    change: it => it.moves.push({ name: 'refs/heads/figs', old: AT.figs, new: null }),
    expected: { code: 'not-a-batch', says: /It also touches figs/ },
  },
  'GWY-5 a batch that also deletes the default branch': {
    from: batch,
    change: it => {
      it.history.edit({ defaultBranch: 'feature' })
      it.moves.push({ name: 'refs/heads/feature', old: AT.feature, new: null })
    },
    expected: { code: 'not-a-batch', says: /It also touches feature/ },
  },
  'LND-4 a batch that deletes a head branch another open pull needs': {
    from: batch,
    change: it => it.history.pull(carol, { branch: 'release', head: { repo: it.history.uri, branch: 'pears' } }),
    expected: { code: 'not-a-batch', says: /It also touches pears/ },
  },
  'GWY-3 a lander that may not push only deletes': {
    from: batch,
    change: it => it.moves.shift(),
    expected: { code: 'not-a-batch', says: /It moves no branch forward, and only with one that it lands on may it delete others\.$/ },
  },
  'GWY-3 a lander that may not push makes a branch': {
    from: batch,
    change: it => {
      it.moves = [{ name: 'refs/heads/backdoor', old: null, new: SECOND }]
    },
    expected: { code: 'not-a-batch', says: /It makes the branch backdoor, and a batch lands on one that is there\.$/ },
  },
  'GWY-3 a lander that may not push deletes what is not there': {
    from: batch,
    change: it => {
      it.moves = [{ name: 'refs/heads/nowhere', old: null, new: null }]
    },
    expected: { code: 'not-a-batch', says: /It moves no branch forward/ },
  },
  'GWY-3 a lander that may not push makes a tag': {
    from: batch,
    change: it => {
      it.moves = [{ name: 'refs/tags/v2', old: null, new: SECOND }]
    },
    expected: { code: 'not-a-batch', says: /It also touches v2/ },
  },
  'GWY-3 a lander that may not push moves a tag': {
    from: batch,
    change: it => {
      it.moves = [{ name: 'refs/tags/v1', old: TIP, new: SECOND }]
    },
    expected: { code: 'not-a-batch', says: /It moves no branch forward/ },
  },
  'STO-11 a batch with a ref whose name git does not take': {
    from: batch,
    change: it => it.moves.push({ name: 'refs/heads/../../x', old: AT.pears, new: null }),
    expected: {
      code: 'not-allowed',
      says: /^Not landed: only branches and tags are kept here, and refs\/heads\/\.\.\/\.\.\/x is no name of either\./,
    },
  },
  'GWY-4 a batch that moves its branch twice': {
    from: batch,
    change: it => it.moves.push({ name: 'refs/heads/main', old: TIP, new: FIRST }),
    expected: { code: 'not-allowed', says: /^Not landed: main is named twice/ },
  },
}

const forced: Record<string, Attack> = {
  'GWY-5 a branch that moved meanwhile': {
    from: push,
    change: it => {
      it.branches.feature = HEAD
    },
    expected: { code: 'branch-moved', says: /^Not pushed: feature moved meanwhile, to 0000000\. Nothing is lost: fetch it/ },
  },
  'GWY-5 a branch that was deleted meanwhile': {
    from: push,
    change: it => {
      delete it.branches.feature
    },
    expected: { code: 'branch-moved', says: /^Not pushed: there is no feature any more\./ },
  },
  'GWY-5 a branch that was made meanwhile': {
    from: push,
    change: it => editMove(it, { old: null }),
    expected: { code: 'branch-moved', says: /^Not pushed: feature is there already, at 0000000\./ },
  },
  'GWY-5 a deletion that names another commit than the branch is at': {
    from: remove,
    change: it => editMove(it, { old: HEAD }),
    expected: { code: 'branch-moved', says: /^Not pushed: feature moved meanwhile/ },
  },
  'GWY-5 a deletion that names no commit': {
    from: remove,
    change: it => editMove(it, { old: null }),
    expected: { code: 'branch-moved', says: /^Not pushed: feature is there already/ },
  },
  'GWY-5 a deletion of what is not there': {
    from: remove,
    change: it => editMove(it, { name: 'refs/heads/nowhere', old: null }),
    expected: { code: 'branch-moved', says: /^Not pushed: there is no nowhere any more\./ },
  },
  'GWY-5 the default branch is forced': {
    from: force,
    change: it => it.history.edit({ defaultBranch: 'feature' }),
    expected: { code: 'force-refused', says: /^Not pushed: feature is the default branch, which is never forced here\. Put your commits/ },
  },
  'GWY-5 nothing is known of whether a push goes forward': {
    from: push,
    change: it => {
      it.history.edit({ defaultBranch: 'feature' })
      it.facts.clear()
    },
    expected: { code: 'force-refused', says: /feature is the default branch/ },
  },
  'GWY-5 the default branch is deleted': {
    from: remove,
    change: it => it.history.edit({ defaultBranch: 'feature' }),
    expected: {
      code: 'force-refused',
      says: /^Not pushed: feature is the default branch, which is never deleted here\. It stays as it is\.$/,
    },
  },
  'GWY-5 the owner forces the default branch': {
    from: force,
    change: it => {
      it.asked.caller = alice
      it.history.edit({ defaultBranch: 'feature' })
    },
    expected: { code: 'force-refused', says: /the default branch/ },
  },
  'GWY-5 a branch with a rule is forced': {
    from: force,
    change: it => it.history.edit({ protections: [{ branch: 'feature', queue: false, pinned: true }] }),
    expected: { code: 'force-refused', says: /^Not pushed: feature carries a rule, and such a branch is never forced here\./ },
  },
  'GWY-5 the owner deletes a queue-only branch': {
    from: remove,
    change: it => {
      it.asked.caller = alice
      it.history.edit({ protections: [{ branch: 'feature', queue: true }] })
    },
    expected: { code: 'force-refused', says: /feature carries a rule/ },
  },
  'GWY-5 the owner forces a queue-only branch': {
    from: force,
    change: it => {
      it.asked.caller = alice
      it.history.edit({ protections: [{ branch: 'feature', queue: true }] })
    },
    expected: { code: 'force-refused', says: /feature carries a rule/ },
  },
  'GWY-5 the target of an open pull is forced': {
    from: force,
    change: it => it.history.editPull(it.figs, { branch: 'feature' }),
    expected: {
      code: 'force-refused',
      says: /^Not pushed: feature is the target of open pulls \(Figs\), and such a branch is never forced here/,
    },
  },
  'GWY-5 the target of several open pulls is deleted': {
    from: remove,
    change: it => it.history.editPull(it.figs, { branch: 'feature' }).editPull(it.pears, { branch: 'feature' }),
    expected: { code: 'force-refused', says: /^Not pushed: feature is the target of open pulls \((Pears|Figs) and 1 more\), and such/ },
  },
  'GWY-5 the owner forces the target of an open pull': {
    from: force,
    change: it => {
      it.asked.caller = alice
      it.history.editPull(it.figs, { branch: 'feature' })
    },
    expected: { code: 'force-refused', says: /is the target of open pulls \(Figs\)/ },
  },
  'GWY-5 the branch of somebody else’s open pull is deleted': {
    from: remove,
    change: it => editMove(it, { name: 'refs/heads/figs', old: AT.figs }),
    expected: { code: 'force-refused', says: /^Not pushed: figs is the head of somebody else’s open pull \(Figs\), which needs it\./ },
  },
  'GWY-5 the branch of somebody else’s open pull is forced': {
    from: force,
    change: it => editMove(it, { name: 'refs/heads/figs', old: AT.figs }),
    expected: { code: 'force-refused', says: /figs is the head of somebody else’s open pull/ },
  },
  'GWY-5 the owner deletes the branch of somebody else’s open pull': {
    from: remove,
    change: it => {
      it.asked.caller = alice
      editMove(it, { name: 'refs/heads/figs', old: AT.figs })
    },
    expected: { code: 'force-refused', says: /figs is the head of somebody else’s open pull/ },
  },
  'GWY-5 one’s own branch that another’s open pull needs as well is deleted': {
    from: remove,
    change: it => {
      editMove(it, { name: 'refs/heads/pears', old: AT.pears })
      it.history.pull(carol, { title: 'Twin', branch: 'release', head: { repo: it.history.uri, branch: 'pears' } })
    },
    expected: { code: 'force-refused', says: /pears is the head of somebody else’s open pull \(Twin\)/ },
  },
  'GWY-5 a merge is forced': {
    from: merge,
    change: it => editFacts(it, { forward: false }),
    expected: { code: 'force-refused', says: /^Not merged: a landing is never forced/ },
  },
  'GWY-5 a collaborator moves a tag': {
    from: tag,
    change: it => editMove(it, { name: 'refs/tags/v1', old: TIP, new: HEAD }),
    expected: { code: 'force-refused', says: /^Not pushed: only alice\.test may move or delete the tag v1\. Make a new tag instead\.$/ },
  },
  'GWY-5 a collaborator moves a tag forward': {
    from: tag,
    change: it => {
      editMove(it, { name: 'refs/tags/v1', old: TIP, new: HEAD })
      it.facts.set('refs/tags/v1', { forward: true })
    },
    expected: { code: 'force-refused', says: /only alice\.test may move or delete the tag v1/ },
  },
  'GWY-5 a collaborator that lands moves a tag': {
    from: tag,
    change: it => {
      editMove(it, { name: 'refs/tags/v1', old: TIP, new: HEAD })
      it.history.edit({ runners: [{ did: bob }] })
    },
    expected: { code: 'force-refused', says: /only alice\.test may move or delete the tag v1/ },
  },
  'GWY-5 a collaborator deletes a tag': {
    from: tag,
    change: it => editMove(it, { name: 'refs/tags/v1', old: TIP, new: null }),
    expected: { code: 'force-refused', says: /only alice\.test may move or delete the tag v1/ },
  },
  'GWY-5 a tag is made that is there': {
    from: tag,
    change: it => editMove(it, { name: 'refs/tags/v1' }),
    expected: { code: 'branch-moved', says: /^Not pushed: v1 is there already, at/ },
  },
  'GWY-5 a ref that is neither branch nor tag': {
    from: tag,
    change: it => editMove(it, { name: 'refs/notes/commits' }),
    expected: { code: 'not-allowed', says: /^Not pushed: only branches and tags are kept here, and refs\/notes\/commits is no name/ },
  },
  'STO-11 a ref that climbs out of its folder': {
    from: push,
    change: it => editMove(it, { name: 'refs/heads/../../x', old: null }),
    expected: { code: 'not-allowed', says: /refs\/heads\/\.\.\/\.\.\/x is no name of either/ },
  },
  'STO-11 a deletion of HEAD': {
    from: remove,
    change: it => editMove(it, { name: 'HEAD' }),
    expected: { code: 'not-allowed', says: /HEAD is no name of either/ },
  },
  'GWY-5 a branch that is named twice': {
    from: push,
    change: it => it.moves.push({ name: 'refs/heads/feature', old: AT.feature, new: null }),
    expected: { code: 'not-allowed', says: /^Not pushed: feature is named twice, so which is meant cannot be told\./ },
  },
}

const landedByHand: Record<string, Attack> = {
  'LND-4 a commit that only names a pull does not do away with its branch': {
    from: byHand,
    change: it => editCommit(it, { tree: TREES.other }, 1),
    move: 2,
    expected: { code: 'force-refused', says: /plums is the head of somebody else’s open pull \(Plums\)/ },
  },
  'LND-4 a commit whose pull was not merged here to compare does not do away with its branch': {
    from: byHand,
    change: it => editCommit(it, { merged: undefined }, 1),
    move: 2,
    expected: { code: 'force-refused', says: /plums is the head of somebody else’s open pull/ },
  },
  'LND-4 a commit whose pull conflicts does not do away with its branch': {
    from: byHand,
    change: it => editCommit(it, { merged: { kind: 'conflict', files: [] } }, 1),
    move: 2,
    expected: { code: 'force-refused', says: /plums is the head of somebody else’s open pull/ },
  },
  'LND-4 a push that is refused does not do away with the branches that it would have landed': {
    from: byHand,
    change: it => {
      it.branches.main = HEAD
    },
    move: 1,
    expected: { code: 'force-refused', says: /pears is the head of somebody else’s open pull/ },
  },
  'LND-4 a pull that is onto another branch is not landed by its name': {
    from: byHand,
    change: it => it.history.editPull(it.plums, { branch: 'release' }),
    move: 2,
    expected: { code: 'force-refused', says: /plums is the head of somebody else’s open pull/ },
  },
  'LND-4 a pull of another repository is not landed by its name': {
    from: byHand,
    change: it => editCommit(it, { elsewhere: repoAt(dave) }, 1),
    move: 2,
    expected: { code: 'force-refused', says: /plums is the head of somebody else’s open pull/ },
  },
  'LND-4 a head branch that another open pull needs stays': {
    from: byHand,
    change: it => it.history.pull(carol, { title: 'Twin', branch: 'release', head: { repo: it.history.uri, branch: 'plums' } }),
    move: 2,
    expected: { code: 'force-refused', says: /plums is the head of somebody else’s open pull/ },
  },
  'LND-4 a head branch that moved since it was squashed stays': {
    from: byHand,
    change: it => {
      it.branches.plums = HEAD
    },
    move: 2,
    expected: { code: 'branch-moved', says: /^Not pushed: plums moved meanwhile/ },
  },
  'LND-4 a branch that is made lands nothing': {
    from: byHand,
    change: it => {
      delete it.branches.main
      editMove(it, { old: null })
    },
    move: 2,
    expected: { code: 'force-refused', says: /plums is the head of somebody else’s open pull/ },
  },
}

const merges: Record<string, Attack> = {
  'LND-14 a merge of a pull that is closed': {
    from: merge,
    change: it => it.history.closed(bob, it.pears),
    expected: it => ({ code: 'pull-not-open', says: /^Not merged: this pull was closed 1 min ago\./, ...members(it) }),
  },
  'LND-14 a merge of a pull whose author’s account is gone': {
    from: merge,
    change: it => it.history.gone.add(bob),
    expected: it => ({ code: 'pull-not-open', says: /^Not merged: this pull is closed\./, ...members(it) }),
  },
  'LND-14 a merge of a draft': {
    from: merge,
    change: it => it.history.editPull(it.pears, { draft: true }),
    expected: it => ({ code: 'draft', says: /^Not merged: this pull is a draft\./, ...members(it) }),
  },
  'LND-14 a merge of a pull that is onto another branch by now': {
    from: merge,
    change: it => it.history.editPull(it.pears, { branch: 'release' }),
    expected: it => ({ code: 'head-moved', says: /^Not merged: this pull is onto release now\./, ...members(it) }),
  },
  'LND-14 a merge of a pull that is not there': {
    from: merge,
    change: it => it.history.remove({ uri: it.pears }),
    expected: { code: 'pull-not-found', says: /^There is no such pull\./, commit: FIRST },
  },
  'LND-14 a merge of which nothing is known': {
    from: merge,
    change: it => editFacts(it, { chain: undefined }),
    expected: { code: 'upstream-failed', says: /^Not merged: what it brings could not be read\./ },
  },
  'LND-14 a merge of no commit': {
    from: merge,
    change: it => editFacts(it, { chain: 'none' }),
    expected: { code: 'upstream-failed', says: /^Not merged: what it brings/ },
  },
  'LND-14 a merge of two commits': {
    from: merge,
    change: it => {
      editFacts(it, { chain: [squash(it.pears), squash(it.plums, { id: SECOND, parents: [FIRST] })] })
    },
    expected: { code: 'upstream-failed', says: /^Not merged: what it brings/ },
  },
  'LND-14 a merge to another commit than was made': {
    from: merge,
    change: it => editMove(it, { new: SECOND }),
    expected: { code: 'upstream-failed', says: /^Not merged: what it brings/ },
  },
  'LND-14 a merge whose commit stands elsewhere': {
    from: merge,
    change: it => editCommit(it, { parents: [HEAD] }),
    expected: { code: 'upstream-failed', says: /^Not merged: what it brings/ },
  },
  'LND-14 a merge whose commit has two parents': {
    from: merge,
    change: it => editCommit(it, { parents: [TIP, AT.pears] }),
    expected: { code: 'upstream-failed', says: /^Not merged: what it brings/ },
  },
  'GWY-5 a merge onto a branch that moved': {
    from: merge,
    change: it => {
      it.branches.main = HEAD
    },
    expected: { code: 'branch-moved', says: /^Not merged: main moved meanwhile/ },
  },
}

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
