/** Questions to the gateway that are let through, for tests to change one thing in. */
import assert from 'node:assert/strict'
import { join, plain } from '../../src/queue/words/index.ts'
import type { RefusalCode } from '../../src/queue/words/refusals.ts'
import { judgeGateway } from '../../src/server/gateway/rules/judge.ts'
import type { ChainCommit, GatewayQuestion, GatewayVerdict, MoveFacts, MoveVerdict, RefMove } from '../../src/server/gateway/types.ts'
import { type AtUri, alice, bob, carol, commit, type Did, dave, History, mallory, rigby, rocky, TIP } from '../queue/support.ts'

export const SERVER: Did = 'did:plc:serveraaaaaaaaaaaaaaaaaa'
export const SETTINGS = 'https://queue.example/settings'
/** Where the branches beside main are. */
export const AT = { pears: commit(0xa), plums: commit(0xb), figs: commit(0xc), release: commit(0xd), feature: commit(0xe) }
/** The commits of the batch, and the trees that merging gives. */
export const FIRST = commit(0x11)
export const SECOND = commit(0x12)
export const TREES = { base: commit(0x20), first: commit(0x21), second: commit(0x22), other: commit(0x2f) }

const names = new Map<string, string>([
  [alice, 'alice.test'],
  [bob, 'bob.test'],
  [carol, 'carol.test'],
  [dave, 'dave.test'],
  [rigby, 'rigby.test'],
  [rocky, 'rocky.test'],
  [mallory, 'mallory.test'],
])

/** What a test may change before it asks: everything. */
export interface Case {
  history: History
  /** Addresses of the two pulls of the batch: bob's from pears, dave's from plums. */
  pears: AtUri
  plums: AtUri
  /** Carol's, open from figs onto release and not queued. */
  figs: AtUri
  branches: Record<string, string>
  tags: Record<string, string>
  moves: RefMove[]
  facts: Map<string, MoveFacts>
  asked: Pick<GatewayQuestion, 'door' | 'caller' | 'server' | 'settingsUrl' | 'delegation' | 'fromIndex'>
}

/** Alice's repository: main takes pulls through the queue alone, rigby lands, bob and carol are collaborators, two pulls are queued. */
function orchard(): Case {
  const history = new History({ protections: [{ branch: 'main', queue: true }], gateway: SERVER })
  const branches = { main: TIP, ...AT }
  history.refsOf(alice, 'orchard', branches)
  const pears = history.pull(bob, { title: 'Pears', head: { repo: history.uri, branch: 'pears' } })
  const plums = history.pull(dave, { title: 'Plums', head: { repo: history.uri, branch: 'plums' } })
  const figs = history.pull(carol, { title: 'Figs', branch: 'release', head: { repo: history.uri, branch: 'figs' } })
  history.queued(carol, pears, { head: AT.pears, branch: 'main' })
  history.queued(carol, plums, { head: AT.plums, branch: 'main' })
  const asked = { door: 'push', caller: rigby, server: SERVER, settingsUrl: SETTINGS, fromIndex: [] } as const
  const delegation = { state: 'given', since: 0 } as const
  return { history, pears, plums, figs, branches, tags: { v1: TIP }, moves: [], facts: new Map(), asked: { ...asked, delegation } }
}

/** One commit of the batch. */
export function squash(pull: string, more: Partial<ChainCommit> = {}): ChainCommit {
  const tree = more.tree ?? TREES.first
  return { id: FIRST, parents: [TIP], tree, lastLine: pull, clean: true, merged: { kind: 'clean', tree }, ...more }
}

/** Rigby lands both pulls and deletes their head branches. */
export function batch(): Case {
  const it = orchard()
  it.moves = [
    { name: 'refs/heads/main', old: TIP, new: SECOND },
    { name: 'refs/heads/pears', old: AT.pears, new: null },
    { name: 'refs/heads/plums', old: AT.plums, new: null },
  ]
  const chain = [squash(it.pears), squash(it.plums, { id: SECOND, parents: [FIRST], tree: TREES.second })]
  it.facts.set('refs/heads/main', { forward: true, chain, baseTree: TREES.base, checks: { missing: [] } })
  return it
}

/** Bob pushes a commit onto a branch without a rule. */
export function push(): Case {
  return moved(orchard(), bob, { name: 'refs/heads/feature', old: AT.feature, new: commit(0x31) }, { forward: true })
}

/** Bob forces a branch that nobody needs. */
export function force(): Case {
  return moved(orchard(), bob, { name: 'refs/heads/feature', old: AT.feature, new: commit(0x31) }, { forward: false })
}

/** Bob deletes a branch that nobody needs. */
export function remove(): Case {
  return moved(orchard(), bob, { name: 'refs/heads/feature', old: AT.feature, new: null })
}

/** Bob makes a tag. */
export function tag(): Case {
  return moved(orchard(), bob, { name: 'refs/tags/v2', old: null, new: TIP })
}

/** Carol merges bob's pull, which is onto a branch without a rule here, by the page. */
export function merge(): Case {
  const it = orchard()
  it.history.edit({ protections: [] })
  moved(it, carol, { name: 'refs/heads/main', old: TIP, new: FIRST }, { forward: true, chain: [squash(it.pears, { merged: undefined })] })
  it.moves.push({ name: 'refs/heads/pears', old: AT.pears, new: null })
  it.asked.door = 'merge'
  return it
}

/** Bob commits by createCommit onto a branch without a rule. */
export function create(): Case {
  const it = push()
  it.asked.door = 'commit'
  return it
}

/** Carol lands bob's and dave's pulls by hand on main, which carries no rule here, and deletes their branches. */
export function byHand(): Case {
  const it = batch()
  it.history.edit({ protections: [] })
  it.asked.caller = carol
  return it
}

function moved(it: Case, caller: Did, move: RefMove, facts?: MoveFacts): Case {
  it.asked.caller = caller
  it.moves = [move]
  if (facts !== undefined) it.facts.set(move.name, facts)
  return it
}

/** The question as it stands. Branches and tags are the record's, and so the view's. */
export function question(it: Case): GatewayQuestion {
  it.history.refsOf(it.history.repo.did, 'orchard', it.branches)
  const { moves, facts, asked } = it
  const refs = new Map([
    ...Object.entries(it.branches).map(([name, at]) => [`refs/heads/${name}`, at] as const),
    ...Object.entries(it.tags).map(([name, at]) => [`refs/tags/${name}`, at] as const),
  ])
  return { ...asked, view: it.history.view(), refs, moves, facts }
}

export function judge(it: Case): GatewayVerdict {
  return judgeGateway(question(it))
}

/** The verdict on the first move. */
export function first(it: Case): MoveVerdict {
  const [verdict] = judge(it)
  assert.ok(verdict !== undefined)
  return verdict
}

/** Changes the first commit, or another one, of the first move's chain. */
export function editCommit(it: Case, change: Partial<ChainCommit>, at = 0): void {
  const facts = firstFacts(it)
  assert.ok(typeof facts.chain === 'object')
  const chain = facts.chain.map((one, i) => (i === at ? { ...one, ...change } : one))
  editFacts(it, { chain })
}

export function editFacts(it: Case, change: Partial<MoveFacts>): void {
  it.facts.set(it.moves[0]?.name ?? '', { ...firstFacts(it), ...change })
}

export function editMove(it: Case, change: Partial<RefMove>, at = 0): void {
  const move = it.moves[at]
  assert.ok(move !== undefined)
  it.moves[at] = { ...move, ...change }
  if (at === 0 && change.name !== undefined) it.facts.set(change.name, it.facts.get(move.name) ?? { forward: false })
}

function firstFacts(it: Case): MoveFacts {
  const facts = it.facts.get(it.moves[0]?.name ?? '')
  assert.ok(facts !== undefined)
  return facts
}

export interface Expected {
  code: RefusalCode
  /** Message and advice, as plain text. */
  says: RegExp
  commit?: string | undefined
  pull?: string | undefined
}

/** That a verdict is a refusal of this code, in these words, of this commit and pull. */
export function assertRefused(verdict: MoveVerdict | undefined, expected: Expected, now: number): void {
  assert.ok(verdict !== undefined && !verdict.ok, 'it was let through')
  const { code, message, advice } = verdict.refusal
  const text = plain(join(message, advice), now, did => names.get(did))
  assert.deepEqual(
    { code, commit: verdict.commit, pull: verdict.pull },
    { code: expected.code, commit: expected.commit, pull: expected.pull },
    text,
  )
  assert.match(text, expected.says)
}

/** A change of a question that is let through, and what is said to it. */
export interface Attack {
  from: () => Case
  change: (it: Case) => void
  /** Which move is looked at; the first. */
  move?: number
  expected: Expected | ((it: Case) => Expected)
}

/** Attacks by what they are called. */
export type Attacks = Readonly<Record<string, Attack>>

/** The first commit of the batch, and the pull that it lands. */
export const members = (it: Case) => ({ commit: FIRST, pull: it.pears })
