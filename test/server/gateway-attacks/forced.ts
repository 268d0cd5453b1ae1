/** What may be neither forced nor deleted. */
import { alice, bob, carol, HEAD, TIP } from '../../queue/support.ts'
import { AT, type Attacks, editFacts, editMove, force, merge, push, remove, tag } from '../gateway-rules-support.ts'

export const forced: Attacks = {
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
