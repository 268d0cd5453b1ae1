import { type AtUri, type Did, makeAtUri, parseAtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { loadPullFacts, mayPass } from '../../indexer/read.ts'
import { readPullAt } from '../../indexer/sources/read-records.ts'
import { headRepoOf, judgeMerge, peopleOf, repoOf } from '../../queue/admission.ts'
import { spentBranches } from '../../queue/spent.ts'
import type { PullView } from '../../queue/view.ts'
import { refMoved } from '../../queue/words/gateway.ts'
import type { Refusal } from '../../queue/words/refusals.ts'
import * as refusals from '../../queue/words/refusals.ts'
import { type Landed, landedBefore } from './again.ts'
import type { GatewayContext } from './context.ts'
import { type Ground, gatherGround } from './gather.ts'
import { askedOf, auditEntry, gatewayFacts, judge, type Wish } from './judge.ts'
import { type KeptKeys, landedRecords } from './landed-records.ts'
import { roleOf } from './rules/roles.ts'
import { type Squashed, squashPull } from './squash-pull.ts'
import { inTurn, isNamed } from './turn.ts'
import type { Gateway, MoveFacts, RefMove } from './types.ts'
import { writeRefs } from './write.ts'
import { gatherRefusal, noteUnread, sourceFailed } from './write-refusal.ts'

type Merged = Awaited<ReturnType<Gateway['mergePull']>>
type Refused = Extract<Merged, { ok: false }>
/** `again`: the branch, or what is to land on it, is not what it was; `head`: what was to land. */
type Tried = Merged | { ok: 'again'; refusal: Refusal; head: string }

interface MergeAsked {
  pull: AtUri
  caller: Did
  head?: string | undefined
}

/** How often a merge is made anew, since something moved in between. */
const TRIES = 5

/**
 * Lands one pull, as a batch of one would: squashed onto the tip, its spent head branch deleted, merged state and closed issues in the same commit
 * (LND-14). Whether it is queued, and whether anybody lands here, makes no difference.
 */
export async function mergePull(ctx: GatewayContext, asked: MergeAsked): Promise<Merged> {
  const repo = await repoOfPull(ctx, asked.pull)
  if (typeof repo !== 'string') return { ok: false, refusal: repo }
  const turned = isNamed(ctx, repo, asked.caller) ? undefined : await turnAway(ctx, repo, asked)
  return turned ?? (await inTurn(ctx, { repo, caller: asked.caller }, () => mergeOnto(ctx, repo, asked)))
}

/** Whom the record, read now, does not name costs one reading of it: not those of everybody it does name. */
async function turnAway(ctx: GatewayContext, repo: AtUri, { pull, caller }: MergeAsked): Promise<Refused | undefined> {
  const gathered = await gatherGround(ctx, { repo, whole: false, pulls: [] })
  if (!gathered.ok) return { ok: false, refusal: gatherRefusal('merge', repo, gathered) }
  const { ground } = gathered
  if (roleOf(ground.view, caller) !== 'stranger') return undefined
  return refuse(ctx, { ground, pull: ground.view.pulls.get(pull), caller }, refusals.notAllowed('merge', peopleOf(ground.view)))
}

/** The repository that a pull is onto, as the index has it, else as its author does. */
async function repoOfPull(ctx: GatewayContext, pull: AtUri): Promise<AtUri | Refusal> {
  try {
    const known = loadPullFacts(ctx.database, pull)?.facts.pulls[0] ?? (await readPullAt(ctx.reader, pull, ctx.now()))
    const at = parseAtUri(known?.value.repo)
    return at === undefined ? refusals.pullNotFound() : makeAtUri(at.did, at.collection, at.rkey)
  } catch (error) {
    if (error instanceof UpstreamError) return sourceFailed('merge', error)
    throw error
  }
}

async function mergeOnto(ctx: GatewayContext, repo: AtUri, asked: MergeAsked): Promise<Merged> {
  const keys: KeptKeys = new Map()
  let judged = asked
  for (let tried = 1; ; tried++) {
    const done = await tryMerge(ctx, repo, { asked, judged, keys })
    if (done.ok !== 'again') return done
    // What was judged is one head: another that landed meanwhile is not what was asked for.
    judged = { ...asked, head: done.head }
    if (tried === TRIES) return (await landedMeanwhile(ctx, repo, judged, done.refusal)) ?? { ok: false, refusal: done.refusal }
  }
}

/** One try over fresh reads: everything is read, judged, merged and written, or nothing is. `judged`: with the head of the try before, where there was one. */
async function tryMerge(
  ctx: GatewayContext,
  repo: AtUri,
  { asked, judged, keys }: { asked: MergeAsked; judged: MergeAsked; keys: KeptKeys },
): Promise<Tried> {
  const gathered = await gatherGround(ctx, { repo, whole: true, pulls: [asked.pull] })
  if (!gathered.ok) {
    const refusal = gatherRefusal('merge', repo, gathered)
    noteUnread(ctx, { repo, door: 'merge', caller: asked.caller, moves: [{ name: '', old: null, new: null }] }, refusal)
    return { ok: false, refusal }
  }
  const { ground } = gathered
  const landed = await landedIn(ctx, ground, judged)
  if (landed !== undefined) return { ok: true, ...landed }
  const { caller } = asked
  const pull = ground.view.pulls.get(asked.pull)
  const ready = readyToMerge(ctx, ground, asked)
  if ('code' in ready) {
    const isSettled = ready.code === 'pull-not-open' && pull?.state !== 'merged'
    const meanwhile = isSettled ? undefined : await landedMeanwhile(ctx, repo, judged, ready)
    return meanwhile ?? refuse(ctx, { ground, pull, caller }, ready)
  }
  const now = { ...asked, head: ready.head }
  const squashed = await squashPull(ctx, { ground, caller, ...ready })
  if (!squashed.ok)
    return (await landedMeanwhile(ctx, repo, now, squashed.refusal)) ?? refuse(ctx, { ground, pull, caller }, squashed.refusal)
  try {
    const done = await land(ctx, { ground, squashed, keys, asked, ...ready })
    return (done.ok === false ? await landedMeanwhile(ctx, repo, now, done.refusal) : undefined) ?? done
  } finally {
    await squashed.close()
  }
}

/** How the pull landed, where it landed as was asked (GWY-15). */
async function landedIn(ctx: GatewayContext, ground: Ground, asked: MergeAsked): Promise<Landed | undefined> {
  const pull = ground.view.pulls.get(asked.pull)
  return pull?.state === 'merged' ? await landedBefore(ctx, { ground, ...asked, pull }) : undefined
}

/** Refusals that a landing in between can be the reason of. */
const byLanding: ReadonlySet<Refusal['code']> = new Set([
  'pull-not-open',
  'branch-moved',
  'branch-not-found',
  'head-moved',
  'nothing-to-land',
  'conflict',
])

/**
 * The same merge may be under way through another server (GWY-15). Branch and states are read side by side, so that its landing may have been seen in
 * one of them only, or it came while this one wrote: whoever is refused for what it changed is told how it landed.
 */
async function landedMeanwhile(ctx: GatewayContext, repo: AtUri, asked: MergeAsked, refusal: Refusal): Promise<Merged | undefined> {
  if (!byLanding.has(refusal.code)) return undefined
  const gathered = await gatherGround(ctx, { repo, whole: false, pulls: [asked.pull] })
  const landed = gathered.ok ? await landedIn(ctx, gathered.ground, asked) : undefined
  return landed && { ok: true, ...landed }
}

interface Ready {
  pull: PullView
  tip: string
  head: string
}

/** What records and refs have against a merge, before git is asked. */
function readyToMerge(ctx: GatewayContext, ground: Ground, { pull: uri, caller, head: seen }: MergeAsked): Ready | Refusal {
  const { view } = ground
  const judged = judgeMerge({ view, pull: uri, caller, gateway: gatewayFacts(ctx, ground.owner) })
  if (!judged.ok) return judged.refusal
  const pull = view.pulls.get(uri)
  if (pull === undefined) return refusals.pullNotFound()
  const tip = ground.refs?.refs.find(row => row.name === `refs/heads/${pull.branch}`)?.commit
  const fault = ground.fault ?? (pull.fault?.of === 'merge' ? undefined : pull.fault)
  const of = ground.fault === undefined ? 'head' : 'target'
  const at = { branch: pull.branch, repo: of === 'head' ? headRepoOf(view, pull) : repoOf(view) }
  if (fault !== undefined) return refusals.notMergeable('merge', { ...fault, of, passing: mayPass(fault.code) }, at)
  if (tip === undefined) return refusals.branchNotFound(repoOf(view), pull.branch, [...(view.present ?? [])])
  if (pull.head === undefined) return refusals.headGone('merge', pull.pull.value.head.branch, headRepoOf(view, pull))
  return seen === undefined || seen === pull.head ? { pull, tip, head: pull.head } : refusals.headMoved('merge', pull.head)
}

/** The rules over the commit that was made, then the write. */
async function land(
  ctx: GatewayContext,
  made: Ready & { ground: Ground; squashed: Squashed; keys: KeptKeys; asked: MergeAsked },
): Promise<Tried> {
  const { ground, squashed, asked, pull, tip, head } = made
  const { commit, baseTree, message, mirror, env } = squashed
  const name = `refs/heads/${pull.branch}`
  const spent = spentBranches(ground.view, [{ pull: asked.pull, head }])
  const moves: RefMove[] = [
    { name, old: tip, new: commit.id },
    ...spent.map(({ branch, at }) => ({ name: `refs/heads/${branch}`, old: at, new: null })),
  ]
  const wish: Wish = { door: 'merge', caller: asked.caller, moves }
  const facts = new Map<string, MoveFacts>([[name, { forward: true, chain: [commit], baseTree }]])
  const verdicts = judge(askedOf(ctx, ground, wish), facts)
  const entries = moves.flatMap((move, at) => {
    const verdict = verdicts[at]
    return verdict === undefined ? [] : [auditEntry(ctx, ground, wish, move, verdict)]
  })
  const refused = verdicts.find(verdict => !verdict.ok)
  if (refused?.ok === false) {
    ctx.audit.refused(entries)
    return { ok: false, refusal: refused.refusal }
  }
  const along = landedRecords(ctx, { ground, pull: asked.pull, branch: pull.branch, commit: commit.id, message, keys: made.keys })
  const [merged] = along
  const done = await writeRefs(ctx, {
    ...{ act: 'merge', caller: asked.caller, ground, mirror, env, along, entries, commits: new Set([commit.id]) },
    updates: moves.map(move => ({ name: move.name, commit: move.new, old: move.old, force: true })),
    mayStill: () => stillReady(ctx, ground.repo, asked, { pull, tip, head }),
  })
  if (!done.ok) {
    const isMoved = done.moved || done.refusal.code === 'branch-moved'
    return isMoved ? { ok: 'again', refusal: done.refusal, head } : { ok: false, refusal: done.refusal }
  }
  // Somebody else landed the very same commit: theirs is the state that stands.
  if (!done.ours || merged === undefined) return { ok: 'again', refusal: refMoved('merge', name, { old: tip, now: commit.id }), head }
  return { ok: true, commit: commit.id, uri: makeAtUri(ground.owner, merged.collection, merged.rkey) }
}

/** After a lost write: whether the same merge may still be made, by what is so now. */
async function stillReady(ctx: GatewayContext, repo: AtUri, asked: MergeAsked, before: Ready): Promise<Refusal | undefined> {
  const again = await gatherGround(ctx, { repo, whole: false, pulls: [asked.pull] })
  if (!again.ok) return gatherRefusal('merge', repo, again)
  const ready = readyToMerge(ctx, again.ground, asked)
  if ('code' in ready) return ready
  const isSame = ready.tip === before.tip && ready.head === before.head && ready.pull.branch === before.pull.branch
  return isSame ? undefined : refMoved('merge', `refs/heads/${before.pull.branch}`, { old: before.tip, now: ready.tip })
}

/** A refusal that no write stands behind, with its line in the log. */
function refuse(
  ctx: GatewayContext,
  at: { ground: Ground; pull: PullView | undefined } & Pick<MergeAsked, 'caller'>,
  refusal: Refusal,
): Refused {
  const { ground, pull, caller } = at
  const name = pull === undefined ? '' : `refs/heads/${pull.branch}`
  const move = { name, old: ground.refs?.refs.find(row => row.name === name)?.commit ?? null, new: null }
  ctx.audit.refused([auditEntry(ctx, ground, { door: 'merge', caller, moves: [move] }, move, { ok: false, refusal })])
  return { ok: false, refusal }
}
