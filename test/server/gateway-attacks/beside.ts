/** Refs that a batch may not touch beside its branch. */
import { carol, TIP } from '../../queue/support.ts'
import { AT, type Attacks, batch, FIRST, SECOND } from '../gateway-rules-support.ts'

export const beside: Attacks = {
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
