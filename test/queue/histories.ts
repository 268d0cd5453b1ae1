/** Generated histories: everything that writers allowed, former and strange may do to a few pulls, in any order of keys. */
import fc from 'fast-check'
import type { RepositoryFacts, Stored } from '../../src/queue/facts.ts'
import { tidAt } from '../../src/queue/tid.ts'
import type { RepositoryView } from '../../src/queue/view.ts'
import { type AtUri, alice, bob, carol, commit, type Did, dave, did, History, MINUTE, mallory, rigby, rocky, START } from './support.ts'

export const erin = did('erin')
/** Every account that may be named. Mallory never is. */
export const NAMED: readonly Did[] = [alice, bob, carol, dave, erin, rigby, rocky]
/** Keys are made of the first so many minutes; the reader's clock stands at some minute of them. */
const SPAN = 40
export const ON_BRANCH = commit(7)
export const NOT_ON_BRANCH = commit(8)

export interface Act {
  deed: 'queued' | 'left' | 'ejected' | 'open' | 'closed' | 'merged' | 'paused'
  by: Did
  pull: number
  minute: number
  /** Of a removal: which queue record written so far it names; none when negative, something that is none at 99. */
  ends: number
  commit: string | undefined
  late: boolean
}

export interface Plan {
  acts: Act[]
  collaborators: Did[]
  runners: Did[]
  former: { did: Did; role: 'collaborator' | 'runner'; minute: number }[]
  transfer: { to: Did; minute: number; keep: boolean } | undefined
  drafts: boolean[]
  retargeted: boolean[]
  gone: Did[]
  deleted: number[]
  now: number
}

const someone = fc.constantFrom(...NAMED)
const minute = fc.integer({ min: 1, max: SPAN })
const anyDeed = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Act['deed']>('queued') },
  { weight: 5, arbitrary: fc.constantFrom<Act['deed']>('left', 'ejected') },
  { weight: 4, arbitrary: fc.constantFrom<Act['deed']>('open', 'closed') },
  { weight: 1, arbitrary: fc.constantFrom<Act['deed']>('merged', 'paused') },
)
/** Deeds of a pull's life after it was merged. */
export const lateDeeds = fc.constantFrom<Act['deed']>('queued', 'queued', 'merged', 'open', 'open', 'left', 'closed')

export function acts(by: fc.Arbitrary<Did>, maxLength: number, deed: fc.Arbitrary<Act['deed']> = anyDeed): fc.Arbitrary<Act[]> {
  const act = fc.record({
    deed,
    by,
    pull: fc.constantFrom(0, 0, 0, 1, 2),
    minute,
    ends: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 8 }), fc.constant(99)),
    commit: fc.constantFrom(undefined, ON_BRANCH, NOT_ON_BRANCH, NOT_ON_BRANCH, NOT_ON_BRANCH, commit(9)),
    late: fc.boolean(),
  })
  return fc.array(act, { maxLength, size: 'max' })
}

const flags = fc.array(fc.boolean(), { minLength: 3, maxLength: 3 })
const role = fc.constantFrom<'collaborator' | 'runner'>('collaborator', 'runner')
const sometimes = <T>(usual: T, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary })

/** Histories whose acts are of these deeds, by accounts that are named now, were once, or never. */
export function plansOf(deed: fc.Arbitrary<Act['deed']> = anyDeed): fc.Arbitrary<Plan> {
  return fc.record({
    acts: acts(fc.constantFrom(...NAMED, ...NAMED, mallory), 24, deed),
    collaborators: fc.uniqueArray(someone, { minLength: 1, maxLength: 4 }),
    runners: fc.uniqueArray(someone, { maxLength: 2 }),
    former: fc.array(fc.record({ did: someone, role, minute }), { maxLength: 2 }),
    transfer: fc.option(fc.record({ to: fc.constantFrom(bob, erin), minute, keep: fc.boolean() }), { nil: undefined, freq: 3 }),
    drafts: sometimes([false, false, false], flags),
    retargeted: sometimes([false, false, false], flags),
    gone: sometimes<Did[]>([], fc.subarray<Did>([bob, dave])),
    deleted: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 2 }),
    now: fc.integer({ min: SPAN - 15, max: SPAN + 5 }).map(n => START + n * MINUTE),
  })
}

/** The history of a plan. Whatever its writers did lies in it, counting or not. */
export function play(plan: Plan): History {
  const history = new History({
    collaborators: plan.collaborators.map(account => ({ did: account })),
    runners: plan.runners.map(account => ({ did: account })),
    former: plan.former.map(({ did: account, role, minute: until }) => ({ did: account, role, until: keyOf(until) })),
  })
  history.tip({
    contains: new Map([
      [ON_BRANCH, true],
      [NOT_ON_BRANCH, false],
    ]),
  })
  const pulls = [dave, bob, erin].map((author, n) =>
    history.pull(author, { at: START, key: tidAt(START, n), branch: plan.retargeted[n] ? 'next' : 'main', draft: plan.drafts[n] ?? false }),
  )
  for (const account of plan.gone) history.gone.add(account)
  for (const act of plan.acts) carryOut(history, act, pulls[act.pull])
  for (const n of plan.deleted) {
    const record = [...history.queue, ...history.states][n]
    if (record !== undefined) history.remove(record)
  }
  if (plan.transfer !== undefined) {
    history.now = START + (plan.transfer.minute - 1) * MINUTE
    history.transfer(plan.transfer.to, plan.transfer.keep ? {} : { collaborators: [], runners: [] })
    history.tip({ contains: history.tips.get('main')?.contains ?? new Map() })
  }
  return history
}

export function carryOut(history: History, act: Act, pull: AtUri | undefined): void {
  if (pull === undefined) return
  const at = START + act.minute * MINUTE
  const written = { at, ...(act.late ? { seenAt: at + 20 * MINUTE } : {}) }
  const state = { ...written, ...(act.commit === undefined || act.deed !== 'merged' ? {} : { commit: act.commit }) }
  if (act.deed === 'open' || act.deed === 'closed' || act.deed === 'merged') history.state(act.by, pull, act.deed, state)
  else history.change(act.by, pull, act.deed, { ...written, ...ends(history, act) })
}

function ends(history: History, act: Act): { ends?: AtUri } {
  if (act.deed === 'queued' || act.ends < 0) return {}
  const named = history.queue.filter(record => record.value.state === 'queued')[act.ends]
  if (named !== undefined) return { ends: `at://did:plc:${named.did.slice(8)}/dev.knotless.queue/${named.rkey}` }
  return act.ends === 99 ? { ends: `at://${mallory}/dev.knotless.queue/nothing` } : {}
}

export function keyOf(at: number): string {
  return tidAt(START + at * MINUTE)
}

/** A view as plain data, to compare. */
export function plain(view: RepositoryView) {
  const { roles, checksOf, pulls, branches, ...rest } = view
  const { owner, collaborators, runners } = roles
  const checks = [...pulls.keys()].map(checksOf)
  return { ...rest, pulls: [...pulls], branches: [...branches], owner, collaborators, runners, checks }
}

/** The same facts with their records in another order and some of them twice. */
export function shuffled(facts: RepositoryFacts): fc.Arbitrary<RepositoryFacts> {
  const mixed = <T>(records: readonly Stored<T>[]) =>
    fc
      .tuple(fc.subarray([...records]), fc.constant(records))
      .chain(([twice, all]) => fc.shuffledSubarray([...all, ...twice], { minLength: all.length + twice.length }))
  return fc
    .record({
      queue: mixed(facts.queue),
      states: mixed(facts.states),
      pulls: mixed(facts.pulls),
      checks: mixed(facts.checks),
      landers: mixed(facts.landers),
    })
    .map(lists => ({ ...facts, ...lists }))
}

/** Pulls that have a place, held as drafts or not. */
export function placed(view: RepositoryView): Set<string> {
  return new Set(
    [...view.pulls.values()].filter(pull => pull.entry !== undefined || pull.heldEntry !== undefined).map(pull => pull.pull.uri),
  )
}
