/** A branch that takes pulls only through the queue. */
import { alice, bob, carol } from '../../queue/support.ts'
import { type Attacks, byHand, create, editMove, force, merge, push, remove } from '../gateway-rules-support.ts'

export const queueOnlyMain: Attacks = {
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
