/** Merges of one pull. */
import { bob, HEAD, TIP } from '../../queue/support.ts'
import { AT, type Attacks, editCommit, editFacts, editMove, FIRST, members, merge, SECOND, squash } from '../gateway-rules-support.ts'

export const merges: Attacks = {
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
