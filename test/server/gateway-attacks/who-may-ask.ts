/** Who may ask at all, and while what stands. */
import { alice, bob, dave, did, MINUTE, mallory, repoAt, rigby, rocky } from '../../queue/support.ts'
import { type Attacks, batch, create, merge, push } from '../gateway-rules-support.ts'

export const whoMayAsk: Attacks = {
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
