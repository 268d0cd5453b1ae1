import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { foldRepository } from '../../src/queue/fold.ts'
import { judgeGateway } from '../../src/server/gateway/rules/judge.ts'
import { roleOf } from '../../src/server/gateway/rules/roles.ts'
import type { ChainCommit, Delegation, GatewayQuestion, MoveFacts, RefMove } from '../../src/server/gateway/types.ts'
import { shuffled } from '../queue/histories.ts'
import { alice, bob, carol, commit, type Did, dave, HEAD, MINUTE, mallory, repoAt, rigby, rocky, TIP } from '../queue/support.ts'
import {
  AT,
  batch,
  byHand,
  type Case,
  editCommit,
  editMove,
  FIRST,
  judge,
  merge,
  push,
  question,
  SECOND,
  SERVER,
  TREES,
} from './gateway-rules-support.ts'

const RUNS = { numRuns: 1000 }

const branch = fc.constantFrom('main', 'feature', 'pears', 'plums', 'figs', 'release')
const someone = fc.constantFrom<Did>(alice, bob, carol, dave, mallory, rigby, rocky)
const id = fc.constantFrom(TIP, HEAD, FIRST, SECOND, ...Object.values(AT))
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const tree = fc.constantFrom(...Object.values(TREES))
const lists = <T>(arbitrary: fc.Arbitrary<T>, maxLength: number) => fc.array(arbitrary, { maxLength })

const move: fc.Arbitrary<RefMove> = fc.record({
  name: fc.oneof(
    { weight: 6, arbitrary: branch.map(name => `refs/heads/${name}`) },
    { weight: 1, arbitrary: fc.constantFrom('refs/tags/v1', 'refs/tags/v2', 'refs/notes/x', 'refs/heads/../x', 'HEAD') },
  ),
  old: maybe(id),
  new: maybe(id),
})

const chainCommit = fc.record({
  id,
  parents: lists(id, 2),
  tree,
  pull: fc.nat(4),
  clean: fc.boolean(),
  elsewhere: fc.option(fc.constant(repoAt(dave)), { nil: undefined, freq: 1 }),
  merged: fc.option(
    fc.oneof(
      tree.map(tree => ({ kind: 'clean' as const, tree })),
      fc.constant({ kind: 'conflict' as const, files: ['a'] }),
      fc.constant({ kind: 'unread' as const, message: 'Not there.' }),
    ),
    { nil: undefined },
  ),
})

const facts = fc.record({
  forward: fc.boolean(),
  chain: fc.option(fc.oneof(fc.constantFrom('none' as const, 'too-long' as const), lists(chainCommit, 3)), { nil: undefined }),
  baseTree: fc.option(tree, { nil: undefined }),
  checks: fc.option(fc.constantFrom({ missing: [] }, { missing: [{ workflow: 'test', status: 'none' }] }), { nil: undefined }),
})

const delegation = fc.constantFrom<Delegation>({ state: 'given', since: 0 }, { state: 'never' }, { state: 'withdrawn', at: 0 })

/** One time in six; so that some questions stay near to what is let through. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof<fc.MaybeWeightedArbitrary<T | undefined>[]>(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: arbitrary.map((value): T | undefined => value) },
  )
const few = <T>(arbitrary: fc.Arbitrary<T>, maxLength: number) => rarely(lists(arbitrary, maxLength)).map(list => list ?? [])

/** What is changed of a question that is let through. */
const changes = fc.record({
  base: fc.constantFrom(batch, batch, push, merge, byHand),
  caller: rarely(someone),
  door: rarely(fc.constantFrom('push' as const, 'merge' as const, 'commit' as const)),
  delegation: rarely(delegation),
  gateway: rarely(fc.constantFrom(SERVER, rocky)),
  runners: rarely(fc.subarray<Did>([rigby, rocky, bob, alice])),
  collaborators: rarely(fc.subarray<Did>([bob, carol])),
  protections: rarely(lists(fc.record({ branch, queue: fc.boolean(), pinned: fc.boolean() }), 3)),
  defaultBranch: rarely(branch),
  moves: rarely(lists(move, 4)),
  more: few(move, 2),
  facts: few(fc.tuple(branch, facts), 3),
  edits: few(fc.tuple(fc.nat(1), fc.record({ parents: lists(id, 2), tree, clean: fc.boolean() }, { requiredKeys: [] })), 2),
  deeds: few(fc.tuple(fc.nat(2), fc.constantFrom('ejected' as const, 'left' as const, 'queued' as const), someone), 2),
  draft: rarely(fc.nat(2)),
  retargeted: rarely(fc.tuple(fc.nat(2), branch)),
})
type Changes = typeof changes extends fc.Arbitrary<infer T> ? T : never

function play(made: Changes): Case {
  const it = made.base()
  const pulls = [it.pears, it.plums, it.figs] as const
  const pullAt = (n: number) => pulls[n % 3] ?? it.pears
  it.asked.caller = made.caller ?? it.asked.caller
  it.asked.door = made.door ?? it.asked.door
  it.asked.delegation = made.delegation ?? it.asked.delegation
  const { gateway, defaultBranch, protections } = made
  if (gateway !== undefined) it.history.edit({ gateway })
  if (defaultBranch !== undefined) it.history.edit({ defaultBranch })
  if (protections !== undefined) it.history.edit({ protections })
  if (made.runners !== undefined) it.history.edit({ runners: made.runners.map(did => ({ did })) })
  if (made.collaborators !== undefined) it.history.edit({ collaborators: made.collaborators.map(did => ({ did })) })
  for (const [at, edit] of made.edits) editCommits(it, at, edit)
  if (made.moves !== undefined) it.moves = made.moves
  it.moves.push(...made.more)
  for (const [name, about] of made.facts) {
    const chain = typeof about.chain === 'object' ? about.chain.map(one => named(one, pulls)) : about.chain
    it.facts.set(`refs/heads/${name}`, { ...about, chain })
  }
  for (const [pull, deed, by] of made.deeds) it.history.change(by, pullAt(pull), deed)
  if (made.draft !== undefined) it.history.editPull(pullAt(made.draft), { draft: true })
  if (made.retargeted !== undefined) it.history.editPull(pullAt(made.retargeted[0]), { branch: made.retargeted[1] })
  return it
}

/** A commit of the batch, where there is one at this place. */
function editCommits(it: Case, at: number, edit: Partial<ChainCommit>): void {
  const about = it.facts.get('refs/heads/main')
  if (typeof about?.chain === 'object' && about.chain.length > at) editCommit(it, edit, at)
}

function named({ pull, ...one }: Omit<ChainCommit, 'lastLine'> & { pull: number }, pulls: readonly string[]): ChainCommit {
  return { ...one, lastLine: pulls[pull] ?? 'No pull.' }
}

/** Asks, and gives each move with its verdict. */
function ask(made: Changes) {
  const it = play(made)
  const asked = question(it)
  const verdicts = judgeGateway(asked)
  assert.equal(verdicts.length, asked.moves.length)
  return { it, asked, role: roleOf(asked.view, asked.caller), pairs: asked.moves.map((one, i) => ({ move: one, verdict: verdicts[i] })) }
}

function isQueueOnly({ view }: GatewayQuestion, ref: string): boolean {
  return view.record.value.protections?.some(rule => rule.queue && `refs/heads/${rule.branch}` === ref) ?? false
}

test('HON-2 GWY-3 a stranger, and a runner that does not land, is never let through', () => {
  let strange = 0
  fc.assert(
    fc.property(changes, made => {
      const { role, pairs } = ask(made)
      if (role !== 'stranger' && role !== 'runner') return
      strange++
      for (const { verdict } of pairs) assert.equal(verdict?.ok, false)
    }),
    RUNS,
  )
  assert.ok(strange > 100)
})

test('GWY-1 GWY-12 nothing is let through without a delegation, or for another gateway', () => {
  fc.assert(
    fc.property(changes, made => {
      const { asked, pairs } = ask(made)
      const { gateway } = asked.view.record.value
      if (asked.delegation.state === 'given' && (gateway === undefined || gateway === asked.server)) return
      for (const { verdict } of pairs) assert.equal(verdict?.ok, false)
    }),
    RUNS,
  )
})

test('GWY-2 PRO-3 nobody but owner and lander moves a queue-only branch, and nobody forces or deletes it or merges into it', () => {
  let through = 0
  fc.assert(
    fc.property(changes, made => {
      const { asked, role, pairs } = ask(made)
      for (const { move: one, verdict } of pairs) {
        if (verdict?.ok !== true || !isQueueOnly(asked, one.name)) continue
        through++
        assert.ok(role === 'owner' || role === 'lander' || role === 'lander-collaborator', role)
        assert.notEqual(asked.door, 'merge')
        assert.notEqual(one.new, null)
        assert.ok(one.old === null || asked.facts.get(one.name)?.forward === true)
        assert.deepEqual(verdict.as, { owner: 'owner', lander: 'batch', 'lander-collaborator': 'lander' }[role])
      }
    }),
    { numRuns: 3000 },
  )

  assert.ok(through > 50, `${through}`)
})

test('GWY-5 what is let through names where the ref is, by a name that git takes', () => {
  fc.assert(
    fc.property(changes, made => {
      const { asked, pairs } = ask(made)
      for (const { move: one, verdict } of pairs) {
        if (verdict?.ok !== true) continue
        assert.equal(one.old, asked.refs.get(one.name) ?? null)
        assert.match(one.name, /^refs\/(heads|tags)\/\w+$/)
      }
    }),
    RUNS,
  )
})

test('GWY-3 GWY-4 a lander that may not push is let through with batches alone, every commit as this server merges it', () => {
  let through = 0
  fc.assert(
    fc.property(changes, made => {
      const { asked, role, pairs } = ask(made)
      if (role !== 'lander') return
      const passed = pairs.filter(({ verdict }) => verdict?.ok === true)
      assert.ok(passed.length === 0 || passed.length === pairs.length)
      const landings = passed.filter(({ move: one }) => one.new !== null)
      assert.ok(passed.length === 0 || landings.length === 1)
      for (const { move: one } of landings) {
        through++
        assert.equal(asked.door, 'push')
        const about: MoveFacts | undefined = asked.facts.get(one.name)
        assert.ok(typeof about?.chain === 'object' && about.chain.length > 0)
        const expected = [one.old, ...about.chain.map(each => each.id)]
        for (const [i, each] of about.chain.entries()) {
          assert.deepEqual(each.parents, [expected[i]])
          assert.deepEqual(each.merged, { kind: 'clean', tree: each.tree })
          const pull = asked.view.pulls.get(each.lastLine)
          assert.ok(pull?.entry !== undefined && `refs/heads/${pull.branch}` === one.name)
        }
        assert.equal(about.chain.at(-1)?.id, one.new)
        assert.deepEqual(about.checks, { missing: [] })
      }
    }),
    { numRuns: 3000 },
  )

  assert.ok(through > 30, `${through}`)
})

test('GWY-4 LND-9 a batch with a single tree that differs never passes, whichever it is', () => {
  const byte = fc.tuple(fc.nat(1), fc.nat(39), fc.constantFrom(...'0123456789abcdef'))
  fc.assert(
    fc.property(byte, ([which, at, digit]) => {
      const it = batch()
      const trees = [TREES.first, TREES.second]
      const right = trees[which] ?? ''
      const wrong = right.slice(0, at) + digit + right.slice(at + 1)
      editCommit(it, { tree: wrong, merged: { kind: 'clean', tree: right } }, which)
      for (const verdict of judge(it)) assert.equal(verdict.ok, wrong === right)
    }),
    RUNS,
  )
})

test('GWY-4 a batch on anything but the tip never passes', () => {
  fc.assert(
    fc.property(id, id, (tip, old) => {
      const it = batch()
      it.branches.main = tip
      editMove(it, { old })
      for (const verdict of judge(it)) assert.equal(verdict.ok, tip === TIP && old === TIP)
    }),
    RUNS,
  )
})

test('HON-7 verdicts do not depend on the order in which records came, nor on how often', () => {
  const cases = changes.chain(made => {
    const it = play(made)
    const asked = question(it)
    return shuffled(it.history.facts()).map(other => ({ asked, other, now: it.history.now + MINUTE }))
  })
  fc.assert(
    fc.property(cases, ({ asked, other, now }) => {
      assert.deepEqual(judgeGateway({ ...asked, view: foldRepository(other, now) }), judgeGateway(asked))
    }),
    RUNS,
  )
})

test('GWY-4 the verdict on a push does not depend on the order of its moves', () => {
  fc.assert(
    fc.property(
      changes.chain(made => {
        const asked = question(play(made))
        return fc.shuffledSubarray([...asked.moves], { minLength: asked.moves.length }).map(moves => ({ asked, moves }))
      }),
      ({ asked, moves }) => {
        const by = (one: GatewayQuestion) => new Map(judgeGateway(one).map((verdict, i) => [one.moves[i], verdict.ok]))
        const before = by(asked)
        for (const [one, ok] of by({ ...asked, moves })) assert.equal(ok, before.get(one))
      },
    ),
    RUNS,
  )
})

test('GWY-3 what a stranger writes changes no verdict', () => {
  fc.assert(
    fc.property(
      changes,
      lists(fc.tuple(fc.nat(2), fc.constantFrom('queued' as const, 'left' as const, 'ejected' as const)), 4),
      (made, deeds) => {
        const it = play(made)
        const before = judge(it)
        for (const [pull, deed] of deeds) it.history.change(mallory, [it.pears, it.plums, it.figs][pull] ?? it.pears, deed)
        it.history.lander(mallory)
        it.history.check(mallory, { commit: SECOND, baseCommit: TIP, batch: [{ pull: it.pears, head: commit(1), commit: FIRST }], of: 1 })
        assert.deepEqual(
          judge(it).map(verdict => verdict.ok),
          before.map(verdict => verdict.ok),
        )
      },
    ),
    RUNS,
  )
})
