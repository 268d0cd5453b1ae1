/** What is no batch of queued pulls. */
import { bob, carol, commit, dave, HEAD, mallory, repoAt, rigby, TIP } from '../../queue/support.ts'
import { AT, type Attacks, batch, editCommit, editFacts, editMove, FIRST, members, SECOND, TREES } from '../gateway-rules-support.ts'

export const batches: Attacks = {
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
