import type { AtUri, Did } from '../../atproto/ids.ts'
import type { Refusal } from '../../queue/words/refusals.ts'
import { notAlone } from '../../queue/words/writing.ts'
import type { GatewayContext } from './context.ts'
import { type Gathered, type Ground, gatherGround } from './gather.ts'
import { askedOf, auditEntry, judge, type Wish } from './judge.ts'
import { landingChecks } from './landing-checks.ts'
import { bringMirror } from './mirror.ts'
import { forwardFacts, landingFacts, type PushPlace, readLanding } from './move-facts.ts'
import { type Asked, actOf, turnedAway } from './rules/asked.ts'
import { isDone } from './rules/done.ts'
import { needsChain, needsChecks, needsForward } from './rules/needs.ts'
import { roleOf } from './rules/roles.ts'
import { inTurn } from './turn.ts'
import type { Gateway, GatewayVerdict, Look, MoveFacts, MoveVerdict, RefMove, RefOutcome } from './types.ts'
import { writeRefs } from './write.ts'
import { gatherRefusal, noteUnread } from './write-refusal.ts'

type Pushed = Awaited<ReturnType<Gateway['push']>>

type PushAsked = Parameters<Gateway['push']>[0]

/** What was read longer ago than this, in milliseconds, is read again. */
const LOOK_MS = 1_000
/** Who waits no longer than this for its turn, in milliseconds, waited for nobody. */
const AT_ONCE_MS = 5
const nothing = { whole: false, pulls: [] }

/** Begins to read a repository; what it gives is for `pushMoves`. */
export function beginLook(ctx: GatewayContext, repo: AtUri): Look {
  const look: Look = { repo }
  const gathered = gatherGround(ctx, { repo, ...nothing })
  // Whoever turns the push away before it gets here does not ask how this went.
  gathered.catch(() => undefined)
  ctx.looks.set(look, { at: performance.now(), gathered })
  return look
}

/** A repository as it is now, or was when somebody began to look at it a moment ago. */
function readGround(ctx: GatewayContext, { repo, look }: Pick<PushAsked, 'repo' | 'look'>): Promise<Gathered> {
  const begun = look === undefined || look.repo !== repo ? undefined : ctx.looks.get(look)
  return begun !== undefined && performance.now() - begun.at < LOOK_MS ? begun.gathered : gatherGround(ctx, { repo, ...nothing })
}

/** Judges moves and writes those that may be made, in one put; one push of a repository after the other. */
export function pushMoves(ctx: GatewayContext, asked: PushAsked): Promise<Pushed> {
  const at = performance.now()
  // Who had to wait for another push looked at what that has changed.
  return inTurn(ctx, asked, () => push(ctx, performance.now() - at < AT_ONCE_MS ? asked : { ...asked, look: undefined }))
}

async function push(ctx: GatewayContext, input: PushAsked): Promise<Pushed> {
  const judged = await judgePush(ctx, input)
  if (!judged.ok) {
    noteUnread(ctx, input, judged.refusal)
    return judged
  }
  const { ground, asked, verdicts, place } = judged
  const { caller, door, moves } = input
  const wish: Wish = { door, caller, moves }
  const act = actOf(asked, roleOf(ground.view, caller))
  const held = input.atomic && verdicts.some(verdict => !verdict.ok)
  const outcomes = new Map<RefMove, RefOutcome>()
  const passed: { move: RefMove; verdict: MoveVerdict }[] = []
  const refused: { move: RefMove; verdict: MoveVerdict; beside: boolean }[] = []
  for (const [at, move] of moves.entries()) {
    const verdict = verdicts[at]
    if (verdict === undefined) continue
    if (isDone(asked.refs, move) && turnedAway(asked) === undefined) outcomes.set(move, { name: move.name, ok: true })
    else if (verdict.ok && !held) passed.push({ move, verdict })
    else refused.push({ move, verdict: verdict.ok ? { ok: false, refusal: notAlone(act) } : verdict, beside: verdict.ok })
  }
  ctx.audit.refused(refused.map(({ move, verdict }) => auditEntry(ctx, ground, wish, move, verdict)))
  for (const { move, verdict, beside } of refused) {
    if (!verdict.ok) outcomes.set(move, { name: move.name, ok: false, refusal: verdict.refusal, pull: verdict.pull, beside })
  }
  if (passed.length > 0) {
    const done = await writeRefs(ctx, {
      act,
      caller,
      ground,
      mirror: place.mirror,
      env: place.env,
      commits: input.commits,
      updates: passed.map(({ move }) => ({ name: move.name, commit: move.new, old: move.old, force: true })),
      along: [],
      entries: passed.map(({ move, verdict }) => auditEntry(ctx, ground, wish, move, verdict)),
      mayStill: () => stillMay(ctx, input, new Set(passed.map(({ move }) => move))),
    })
    for (const { move } of passed) {
      outcomes.set(move, done.ok ? { name: move.name, ok: true } : { name: move.name, ok: false, refusal: done.refusal })
    }
  }
  return { ok: true, refs: moves.flatMap(move => outcomes.get(move) ?? []) }
}

interface Judged {
  ok: true
  ground: Ground
  asked: Asked
  verdicts: GatewayVerdict
  place: PushPlace
}

/** Reads what is so now and asks the rules: nothing of git, pulls and checks that they do not need. */
async function judgePush(ctx: GatewayContext, input: PushAsked): Promise<Judged | { ok: false; refusal: Refusal }> {
  const { repo, caller, door, moves, env = {} } = input
  const wish: Wish = { door, caller, moves }
  const gathered = await readGround(ctx, input)
  if (!gathered.ok) return { ok: false, refusal: gatherRefusal('push', repo, gathered) }
  let { ground } = gathered
  let asked = askedOf(ctx, ground, wish)
  const place: PushPlace = { mirror: await ctx.mirrors.of(ground.repo), env }
  const forward = moves.filter(move => needsForward(asked, move))
  // What everybody had before has to be here, so that git can tell what is new; where a mirror cannot be brought up to date, nothing counts as forward.
  if (forward.length > 0) await bringMirror(ctx, ground.repo, ground.found.record)
  const facts = await forwardFacts(place, ground, forward)
  const landing = moves.find(move => needsChain(asked, move))
  if (landing !== undefined) {
    const read = await readLanding(place, landing)
    if (typeof read === 'string') facts.set(landing.name, { forward: facts.get(landing.name)?.forward ?? false, chain: read })
    else {
      const again = await gatherGround(ctx, { repo: ground.repo, whole: false, pulls: read.pulls, queued: true })
      if (!again.ok) return { ok: false, refusal: gatherRefusal('land', repo, again) }
      ground = again.ground
      asked = askedOf(ctx, ground, wish)
      const [chain, checks] = await Promise.all([
        landingFacts(ctx, place, ground, read),
        needsChecks(asked, landing) ? checksOf(ctx, { ground, caller, place, move: landing, tree: read.commits.at(-1)?.tree }) : undefined,
      ])
      facts.set(landing.name, { forward: facts.get(landing.name)?.forward ?? false, ...chain, checks })
    }
  }
  return { ok: true, ground, asked, verdicts: judge(asked, facts), place }
}

/** GWY-11. */
async function checksOf(
  ctx: GatewayContext,
  at: { ground: Ground; caller: Did; place: PushPlace; move: RefMove; tree: string | undefined },
): Promise<MoveFacts['checks']> {
  const { ground, caller, place, move, tree } = at
  const row = ground.refs?.refs.find(ref => ref.name === move.name)
  if (row === undefined || move.old === null || move.new === null || tree === undefined) return undefined
  return await landingChecks(ctx, {
    repo: ground.repo,
    lander: caller,
    branch: move.name.replace('refs/heads/', ''),
    generation: row.generation,
    base: move.old,
    tip: move.new,
    tree,
    place: { dir: place.mirror.dir, env: { ...place.env } },
  })
}

/** Everything is read and judged again after a lost write: the first of the moves that may not be made any more refuses it. */
async function stillMay(ctx: GatewayContext, input: PushAsked, moves: ReadonlySet<RefMove>): Promise<Refusal | undefined> {
  const again = await judgePush(ctx, { ...input, look: undefined })
  if (!again.ok) return again.refusal
  for (const [at, move] of input.moves.entries()) {
    const verdict = again.verdicts[at]
    if (moves.has(move) && verdict?.ok === false && !isDone(again.asked.refs, move)) return verdict.refusal
  }
  return undefined
}
