/** What is landed by hand, with head branches that go with it. */
import { carol, dave, HEAD, repoAt } from '../../queue/support.ts'
import { type Attacks, byHand, editCommit, editMove, TREES } from '../gateway-rules-support.ts'

export const landedByHand: Attacks = {
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
