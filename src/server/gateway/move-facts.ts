/** What git says about moves: what only adds, and the commits of a landing beside what the gateway itself gets (GWY-4). */
import type { AtUri } from '../../atproto/ids.ts'
import { makeAtUri, parseAtUri } from '../../atproto/ids.ts'
import { firstParentChain } from '../../git/chain.ts'
import { type CommitObject, readCommits } from '../../git/commit-objects.ts'
import { areForward } from '../../git/forward.ts'
import { mergePairs, type PairOutcome } from '../../git/merge-pairs.ts'
import type { Mirror } from '../../git/mirror.ts'
import type { ObjectsPlace } from '../../git/objects.ts'
import { openQuarantine } from '../../git/quarantine.ts'
import { branchName } from '../../git/ref-names.ts'
import { isCleanCommit, lastLineOf } from '../../git/squash.ts'
import { gather } from '../../indexer/sources/gather.ts'
import { isOwn } from '../../queue/spent.ts'
import type { GatewayContext } from './context.ts'
import type { Ground } from './gather.ts'
import { bringMirror } from './mirror.ts'
import { MOST_IN_BATCH } from './rules/chain.ts'
import type { ChainCommit, MoveFacts, RefMove } from './types.ts'

/** Where the new objects of a push are found: a mirror, and the environment of the push's own quarantine. */
export interface PushPlace {
  mirror: Mirror
  env: Readonly<Record<string, string>>
}

/** Mirrors of forks brought up to date at the same time. */
const AT_ONCE = 4

/** Which moves only add. Of a ref that is not where its mover thinks nothing is asked: it is refused for that. */
export async function forwardFacts(place: PushPlace, ground: Ground, moves: readonly RefMove[]): Promise<Map<string, MoveFacts>> {
  const refs = new Map(ground.refs?.refs.map(row => [row.name, row.commit]))
  const steps = moves.flatMap(({ name, old, new: to }) =>
    branchName(name) !== undefined && old !== null && to !== null && refs.get(name) === old ? [{ name, from: old, to }] : [],
  )
  const forward = await areForward({ dir: place.mirror.dir, env: { ...place.env } }, steps)
  const known = new Map(steps.map(({ name }, at) => [name, forward[at] === true]))
  return new Map(moves.map(move => [move.name, { forward: known.get(move.name) ?? move.old === null }]))
}

/** The commits of a landing, as git has them. */
export interface Landing {
  move: RefMove
  commits: readonly CommitObject[]
  baseTree: string | undefined
  /** Addresses of pulls that they name, each once. */
  pulls: readonly AtUri[]
}

/** Reads the first-parent chain of a move; a chain that is none, or too long, as the rules are told of it. */
export async function readLanding(place: PushPlace, move: RefMove): Promise<Landing | 'too-long' | 'none'> {
  const { old, new: to } = move
  if (old === null || to === null) return 'none'
  const at: ObjectsPlace = { dir: place.mirror.dir, env: { ...place.env } }
  const chain = await firstParentChain(at, { from: old, to, most: MOST_IN_BATCH })
  if (!chain.ok) return chain.why
  const [base, ...read] = await readCommits(at, [old, ...chain.ids])
  const commits = read.filter(commit => commit !== undefined)
  if (commits.length < read.length) return 'none'
  const pulls = new Set(commits.flatMap(commit => pullUri(lastLineOf(commit.message)) ?? []))
  return { move, commits, baseTree: base?.tree, pulls: [...pulls] }
}

/** The facts of a landing: each commit beside what merging its pull's present head onto its parent gives here. */
export async function landingFacts(
  ctx: GatewayContext,
  place: PushPlace,
  ground: Ground,
  landing: Landing,
): Promise<Pick<MoveFacts, 'chain' | 'baseTree'>> {
  const wanted = landing.commits.map(commit => headFor(ground, commit))
  const sources = await gather([...new Set(wanted.flatMap(want => want?.source ?? []))], AT_ONCE, async repo => {
    const stored = ground.sources.get(repo)
    return [repo, await bringMirror(ctx, repo, stored)] as const
  })
  const mirrors = new Map(sources)
  const others = sources.flatMap(([, brought]) => (brought.ok ? [brought.mirror.objects] : []))
  const pushed = place.env.GIT_OBJECT_DIRECTORY
  const quarantine = await openQuarantine(place.mirror, [...(pushed === undefined ? [] : [pushed]), ...others])
  try {
    const pairs = wanted.flatMap((want, at) => {
      const onto = landing.commits[at]?.parents[0]
      return want?.head === undefined || onto === undefined ? [] : [{ at, onto, head: want.head }]
    })
    const merged = await mergePairs({ dir: place.mirror.dir, env: quarantine.env }, pairs)
    const outcomes = new Map(pairs.map(({ at }, n) => [at, merged.ok ? merged.outcomes[n] : undefined]))
    const chain = landing.commits.map((commit, at): ChainCommit => {
      const want = wanted[at]
      const brought = want?.source === undefined ? undefined : mirrors.get(want.source)
      const outcome = outcomes.get(at)
      return {
        ...shown(commit),
        elsewhere: want?.elsewhere,
        merged: want?.head === undefined ? undefined : mergedOf(outcome, brought?.ok === false ? brought.message : undefined),
      }
    })
    return { chain, baseTree: landing.baseTree }
  } finally {
    await quarantine.close()
  }
}

/** The head that a commit's pull has now, where it lies, and the repository that a pull of another one is onto. */
function headFor(ground: Ground, commit: CommitObject): { head?: string | undefined; source?: string; elsewhere?: string } | undefined {
  const uri = pullUri(lastLineOf(commit.message))
  if (uri === undefined) return undefined
  const record = ground.pulls.get(uri)
  if (record != null && !isOwn(ground.view, record.value.repo)) return { elsewhere: record.value.repo }
  const pull = ground.view.pulls.get(uri)
  if (pull === undefined) return undefined
  const { repo } = pull.pull.value.head
  return { head: pull.head, ...(isOwn(ground.view, repo) ? {} : { source: repo }) }
}

function shown(commit: CommitObject): Omit<ChainCommit, 'merged' | 'elsewhere'> {
  const { id, parents, tree, message } = commit
  return { id, parents, tree, lastLine: lastLineOf(message), clean: isCleanCommit(commit) }
}

function mergedOf(outcome: PairOutcome | undefined, unread: string | undefined): ChainCommit['merged'] {
  if (unread !== undefined) return { kind: 'unread', message: unread }
  if (outcome === undefined) return undefined
  if (outcome.applies === null) return { kind: 'unread', message: outcome.unread.message }
  return outcome.applies ? { kind: 'clean', tree: outcome.tree } : { kind: 'conflict', files: outcome.conflicts }
}

function pullUri(line: string): AtUri | undefined {
  const at = parseAtUri(line)
  return at?.collection === 'dev.knotless.pull' ? makeAtUri(at.did, at.collection, at.rkey) : undefined
}
