/** Stacks in the mirror, by plumbing alone: no worktree, no checkout, nothing of it seen by anybody before it is pushed. */
import { LRUCache } from 'lru-cache'
import type { Mirror } from '../../git/mirror.ts'
import { commitsNaming } from '../../git/named.ts'
import { type GitRefusal, refuse } from '../../git/refusal.ts'
import { openStack, type Stack, type Stacked, type StackHead } from '../../git/stack.ts'
import { words } from '../../git/words.ts'
import type { PullView } from '../../queue/view.ts'
import type { RunnerContext } from '../context.ts'
import type { LeftOut, Member } from '../planner/types.ts'
import type { Builder, Ground } from '../types.ts'
import { findHeads } from './heads.ts'
import { mergeHeads } from './merged.ts'
import { createBroughtMirrors } from './mirrors.ts'
import { reasonOf } from './reason.ts'
import { createChooser } from './workflows.ts'

export type BuilderContext = Pick<RunnerContext, 'mirrors' | 'reader' | 'identity' | 'did' | 'now' | 'log'>

/** The longest that the repository's own mirror may take, in milliseconds: its first time may bring a long history. */
const OWN_MS = 600_000
/** The longest that a build waits for a fork's. */
const FORK_MS = 30_000

type Order = Parameters<Builder['build']>[1]
type Candidate = Order['candidates'][number]
type Built = Awaited<ReturnType<Builder['build']>>

/** Makes the builder of a runner. `close` ends downloads and upkeep that are on their way; `patienceMs`: how long a build waits for one fork, by default 30 s. */
export function createBuilder(
  ctx: BuilderContext,
  { patienceMs = FORK_MS }: { patienceMs?: number } = {},
): Builder & { close(): Promise<void> } {
  const brought = createBroughtMirrors(ctx)
  const checked = new LRUCache<string, true>({ max: 20_000 })
  /** Commits of stacks that were made: none is ever a stack's tip again (CHK-10). */
  const made = new LRUCache<string, true>({ max: 20_000 })
  const choose = createChooser()
  const deps = { ctx, brought, checked, patienceMs }

  const bring: Builder['bring'] = ({ repo, stored }) => brought.bring(repo, stored, OWN_MS)

  /** What should not happen, such as a disk that is full, is said in the log and refused. */
  async function guarded<T>(ground: Ground, work: (mirror: Mirror) => Promise<T>): Promise<T | GitRefusal> {
    try {
      const own = await bring(ground)
      return own.ok ? await work(own.mirror) : own
    } catch (error) {
      ctx.log.error('git failed', { repository: ground.repo, why: reasonOf(error) })
      return refuse('failed', words.gitFailed('do what was asked'))
    }
  }

  async function build(ground: Ground, mirror: Mirror, order: Order): Promise<Built> {
    const stack = await openStack(mirror, {
      base: order.base,
      committer: ctx.did,
      time: Math.floor(ctx.now() / 1000),
      checked,
    })
    try {
      return await fill(ground, mirror, stack, order)
    } finally {
      await stack.close()
    }
  }

  /** Takes as many candidates at a time as there are places left, so that no more heads are fetched than are needed (BLD-7). */
  async function fill(ground: Ground, mirror: Mirror, stack: Stack, { base, candidates, most }: Order): Promise<Built> {
    const left = new Map<string, LeftOut>()
    const stacked: Candidate[] = []
    const empty: { candidate: Candidate; head: string }[] = []
    const waiting = candidates.flatMap(candidate => {
      const pull = ground.view.pulls.get(candidate.pull)
      return pull === undefined ? [] : [{ candidate, pull }]
    })
    for (let at = 0; stacked.length < most && at < waiting.length; ) {
      const some = waiting.slice(at, at + most - stacked.length)
      at += some.length
      const found = await findHeads(deps, { ground, mirror, base, pulls: some })
      const heads = some.flatMap(({ candidate, pull }, n): (StackHead & { candidate: Candidate })[] => {
        const one = found[n]
        if (one?.ok === false) left.set(candidate.key, one.left)
        return one?.ok === true ? [{ candidate, head: one.head, text: textOf(pull) }] : []
      })
      const added = await stack.add(heads, most)
      if (!added.ok) return added
      for (const [n, outcome] of added.outcomes.entries()) {
        const one = heads[n]
        if (one === undefined) continue
        const { candidate, head } = one
        if (outcome.in) stacked.push(candidate)
        else if (outcome.why === 'empty') empty.push(one)
        else {
          const why = leftOf(outcome, stacked, ground)
          if (why !== undefined) left.set(candidate.key, { ...why, head })
        }
      }
    }
    const named = await commitsNaming({ dir: mirror.dir }, { tip: base, pulls: empty.map(({ candidate }) => candidate.pull) })
    for (const { candidate, head } of empty) {
      const commit = named.get(candidate.pull)
      left.set(candidate.key, { why: 'empty', head, ...(commit === undefined ? {} : { commit }) })
    }
    const commits = await stack.finish(commit => made.has(commit))
    const members = commits.flatMap(({ head, commit, tree }, n): Member[] => {
      const candidate = stacked[n]
      return candidate === undefined ? [] : [{ ...candidate, head, commit, tree }]
    })
    for (const { commit } of members) made.set(commit, true)
    const tip = members.at(-1)
    return { ok: true, stack: tip === undefined ? null : { tip: tip.commit, tree: tip.tree, members }, left }
  }

  return {
    bring,
    build: (ground, order) => guarded(ground, mirror => build(ground, mirror, order)),
    async merged(ground, asked) {
      const outcomes = await guarded(ground, mirror => mergeHeads(deps, ground, mirror, asked))
      return 'ok' in outcomes ? asked.map(() => outcomes) : outcomes
    },
    workflows: (ground, asked) => guarded(ground, mirror => choose(mirror, asked)),
    close: () => brought.close(),
  }
}

function textOf({ pull }: PullView): StackHead['text'] {
  const { title, body, head } = pull.value
  return { title, body, branch: head.branch, pull: pull.uri }
}

/** Nothing for a pull that changes nothing on what is stacked before it: it is decided once that has landed, or has not. */
function leftOf(outcome: Exclude<Stacked, { in: true }>, stacked: readonly Candidate[], ground: Ground): LeftOut | undefined {
  if (outcome.why === 'bad') return { why: 'hostile', detail: outcome.fault.message }
  if (outcome.why !== 'conflict') return undefined
  const before = outcome.with.flatMap(place => {
    const pull = stacked[place]?.pull
    const branch = pull === undefined ? undefined : ground.view.pulls.get(pull)?.pull.value.head.branch
    return pull === undefined || branch === undefined ? [] : [{ pull, branch }]
  })
  return { why: 'conflict', files: outcome.files, more: outcome.more, with: before }
}
