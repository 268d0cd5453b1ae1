import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeStatusAnswer } from '../../src/queue/answers/index.ts'
import type { Asking, DelegationState, GatewayFacts } from '../../src/queue/asking.ts'
import { mergeBox } from '../../src/queue/box.ts'
import { queueHealth } from '../../src/queue/health.ts'
import { standing } from '../../src/queue/standing.ts'
import { given, handle, judge, merges, text, verdict, withheld } from './asking-support.ts'
import { fileBatch } from './batch-support.ts'
import { type AtUri, alice, bob, commit, dave, History, MINUTE, mallory, rigby } from './support.ts'

function open(record: ConstructorParameters<typeof History>[0] = {}) {
  const history = new History(record)
  history.tip()
  const pull = history.pull(dave)
  merges(history, pull)
  return { history, pull }
}

function asking(history: History, more: Partial<Asking> = {}): Asking {
  const now = history.now + MINUTE
  return { now, caller: bob, lastSeen: new Map([[rigby, { at: now }]]), gateway: withheld, ...more }
}

function box(history: History, pull: AtUri, more: Partial<Asking> = {}) {
  const asked = asking(history, more)
  return mergeBox(history.view(asked.now), history.see(pull, asked.now), asked)
}

function lost(why: 'revoked' | 'expired' | 'moved', at: number): GatewayFacts {
  return { ...given, delegation: { state: 'lost', why, at } }
}

test('ADM-10 without a delegation nothing is queued where the queue is landed through this server; the owner is pointed at their settings', () => {
  const { history, pull } = open()
  assert.equal(verdict(judge.queue(history, pull, { caller: bob, gateway: given }), history), 'ok')
  assert.equal(
    verdict(judge.queue(history, pull, { caller: bob, gateway: withheld }), history),
    'not-delegated | Not queued: this server may not write for alice.test, as no delegation was given. | Ask alice.test to give the delegation in their settings (https://queue.example/settings#delegation).',
  )
  assert.match(
    verdict(judge.queue(history, pull, { caller: alice, gateway: withheld }), history),
    /^not-delegated \| Not queued: this server may not write for you, .* \| Give the delegation in your settings \(https:/,
  )
})

test('ADM-10 a delegation that was withdrawn or lost is told apart from one that never was', () => {
  const { history, pull } = open()
  const says = (delegation: DelegationState) =>
    verdict(judge.queue(history, pull, { caller: bob, gateway: { ...given, delegation } }), history).split(' | ')[1]
  const at = history.now - 4 * MINUTE
  assert.match(says({ state: 'withdrawn', at }) ?? '', /as the delegation was withdrawn 5 min ago\.$/)
  assert.match(says({ state: 'lost', at, why: 'revoked' }) ?? '', /revoked at the account’s server 5 min ago\.$/)
  assert.match(says({ state: 'lost', at, why: 'expired' }) ?? '', /ran out 5 min ago\.$/)
  assert.match(says({ state: 'lost', at, why: 'moved' }) ?? '', /moved to another server 5 min ago/)
})

test('WHO-4 an owner who lands their own queues needs no delegation, nor does a repository that names another gateway', () => {
  const own = open({ runners: [{ did: alice }] })
  assert.equal(verdict(judge.queue(own.history, own.pull, { caller: bob, gateway: withheld }), own.history), 'ok')
  const elsewhere = open({ gateway: 'did:web:other.example' })
  assert.equal(verdict(judge.queue(elsewhere.history, elsewhere.pull, { caller: bob, gateway: withheld }), elsewhere.history), 'ok')
  const here = open({ gateway: withheld.did })
  assert.match(verdict(judge.queue(here.history, here.pull, { caller: bob, gateway: withheld }), here.history), /^not-delegated/)
})

test('GWY-1 GWY-12 merging by hand goes through the server that is asked, and only with the owner’s delegation', () => {
  const { history, pull } = open({ runners: [] })
  const says = (gateway: GatewayFacts) => verdict(judge.merge(history, pull, { caller: bob, gateway }), history)
  assert.equal(says(given), 'ok')
  assert.match(says(withheld), /^not-delegated \| Not merged: this server may not write for alice\.test, as no delegation was given/)
  assert.match(says(lost('revoked', history.now)), /^not-delegated \| Not merged: /)
  history.edit({ gateway: 'did:web:other.example' })
  assert.match(says(given), /^wrong-gateway \| Not merged: alice\.test\/orchard shares writing through another server/)
  history.edit({ gateway: given.did })
  assert.equal(says(given), 'ok')
})

test('PRO-3 PRO-4 a queue-only branch is merged into by nobody, delegation or not', () => {
  const { history, pull } = open({ protections: [{ branch: 'main', queue: true }] })
  const says = (gateway: GatewayFacts) => verdict(judge.merge(history, pull, { caller: alice, gateway }), history).split(' ')[0]
  for (const gateway of [given, withheld]) assert.equal(says(gateway), 'queue-only')
  history.edit({ runners: [] })
  for (const gateway of [given, withheld]) assert.equal(says(gateway), 'no-runners')
})

test('ADM-10 the box of a pull that could be queued says that the owner has to delegate, to the owner otherwise than to others', () => {
  const { history, pull } = open()
  const at = history.now - 9 * MINUTE
  assert.equal(box(history, pull, { gateway: given }).key, 'ready')
  assert.equal(box(history, pull, { caller: alice }).key, 'gateway-owner')
  const other = box(history, pull, { gateway: { ...given, delegation: { state: 'withdrawn', at } } })
  assert.deepEqual([other.key, other.since], ['gateway-other', at])
  assert.equal(text(other.headline, history), 'This server may not land pulls for alice.test')
  for (const caller of [mallory, undefined]) assert.equal(box(history, pull, { caller }).key, 'gateway-other')
  history.check(rigby, { pull, status: 'failure' })
  assert.equal(box(history, pull).key, 'checks-failed', 'what the pull itself lacks comes first')
})

test('STA-4 a queue that cannot land for want of a delegation says so with since when, and so does what waits in it', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  const at = history.now - 9 * MINUTE
  const asked = asking(history, { gateway: { ...given, delegation: { state: 'lost', why: 'revoked', at } } })
  const view = history.view(asked.now)
  const branch = view.branches.get('main')
  assert(branch !== undefined)
  const health = queueHealth(view, branch, asked)
  assert.deepEqual([health.kind, health.since, health.label.word], ['not-delegated', at, 'Not delegated'])
  assert.match(
    text(health.says, history),
    /^this server may not write for alice\.test since \d\d:\d\d UTC, so it cannot land anything here\.$/,
  )
  const stands = standing(view, history.see(pull, asked.now), asked)
  assert.equal(text(stands.why, history), 'Waiting for alice.test to let this server write for them. It keeps its place.')
  assert.equal(queueHealth(view, branch, { ...asked, gateway: given }).kind, 'waiting')
})

test('STA-4 a batch being checked says that nothing lands it without a delegation', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  fileBatch(history, { tip: commit(0xa01), pulls: [pull], runs: { test: 'running' } })
  const asked = asking(history)
  const stands = standing(history.view(asked.now), history.see(pull, asked.now), asked)
  assert.equal(stands.kind, 'in-batch')
  assert.match(text(stands.why, history), /^Waiting for alice\.test to let this server write/)
})

test('ADM-10 the merge status names the gateway, whether it may write, and where the owner delegates', () => {
  const { history, pull } = open({ gateway: given.did })
  const ask = (gateway: GatewayFacts) => {
    const asked = asking(history, { gateway })
    const answer = mergeStatusAnswer(history.view(asked.now), pull, { ...asked, names: handle, version: 1 })
    assert(answer.ok)
    return answer.body
  }
  const { settingsUrl, did } = given
  assert.deepEqual(ask(given).gateway, { did, delegated: true, settingsUrl })
  const lacking = ask(withheld)
  assert.deepEqual(lacking.gateway, { did, delegated: false, settingsUrl })
  assert.equal(lacking.can.queue.refusal?.code, 'not-delegated')
  assert.equal(lacking.can.merge.refusal?.code, 'not-delegated')
  assert.equal(ask(given).can.merge.allowed, true)
})
