/** One landing: everything read again, what is intended put on record, one push, and what it did put on record (LND-1 to LND-12). */
import { setTimeout as sleep } from 'node:timers/promises'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { Mirror } from '../../git/mirror.ts'
import { type SpentBranch, spentBranches } from '../../queue/spent.ts'
import type { NotLanded } from '../planner/types.ts'
import type { Ground, Landing } from '../types.ts'
import { readRefsNow, type Where, whereIs } from './branch-now.ts'
import { type GatewayDoor, openGateway, pushThrough } from './gateway-push.ts'
import { closingsOf, makeIntent, nextClosings } from './intent.ts'
import { closingsFor } from './issues.ts'
import { type Batch, judge } from './judge.ts'
import type { Intent } from './lander-record.ts'
import type { LandingDeps } from './landing.ts'
import type { OpenLandings } from './open-landings.ts'
import { pushStraight } from './owner-push.ts'
import { notLanded } from './push-answer.ts'
import { recordLanding } from './record.ts'
import type { Repair } from './repair.ts'
import { readStack } from './stack.ts'
import { words } from './words.ts'

/** So much of the lease has to be left for a landing, in milliseconds: the longest push, and some. */
const LEASE_LEFT_MS = 60_000
/** A landing waits while what one before it left is closed, a hundred issues at a time, so often. */
const ROUNDS = 5

type Landed = Awaited<ReturnType<Landing['land']>>
type Door = Awaited<ReturnType<typeof openGateway>>

/** Where a push ended: the branch moved, it did not and why, or neither is known. `sent`: the push may be under way. */
type Pushed = { moved: true } | { moved: false; why: NotLanded; sent: boolean }

interface Push {
  ground: Ground
  mirror: Mirror
  batch: Batch
  spent: readonly SpentBranch[]
  door: GatewayDoor | undefined
}

export function createLand(deps: LandingDeps, open: OpenLandings, repair: Repair): Landing['land'] {
  const { ctx, book, reads, builder } = deps

  const not = (why: NotLanded): Landed => ({ ok: false, ...why })
  const trouble = (said: string): NotLanded => ({ why: 'trouble', said })

  async function land(ground: Ground, batch: Batch): Promise<Landed> {
    const begun = performance.now()
    const { repo } = ground
    const ready = await makeReady(ground, batch)
    if ('why' in ready) return not(ready)
    const mirror = await ctx.mirrors.of(repo)
    const pulls = batch.members.map(member => member.pull)
    const opening = ctx.did === ground.owner ? undefined : openGateway(ctx, ground)
    const reading = readStack({ dir: mirror.dir }, batch)
    const closing = reading.then(stack =>
      closingsFor(ctx, { repo, view: ground.view, branch: batch.branch, messages: stack.ok ? stack.messages : [] }),
    )
    const [now, stack, closings, opened] = await Promise.all([reads.again(ground, pulls), reading, closing, opening])
    if (!stack.ok) return not(stack.missing ? { why: 'branch-moved' } : { why: 'not-a-batch', said: stack.said })
    const judged = judge(ctx.did, batch, now)
    if (!judged.may) {
      const { may: _, ...why } = judged
      return not(why)
    }
    const door = await doorNow(opened, ground, now.ground)
    if (door !== undefined && !door.ok) return not(trouble(door.said))

    const first = nextClosings(closings)
    const planned = { ...batch, members: batch.members }
    const intent = makeIntent(ctx, now.ground.view, planned, { closings: first.now, kept: ready.kept })
    if (intent === undefined) return not(trouble(words.noKey))
    const intended = await book.intend(repo, intent)
    if (!intended.ok) return not(intended.lost ? { why: 'not-lander' } : trouble(intended.said))

    const spent = spentBranches(now.ground.view, batch.members)
    if (!judged.there) {
      const pushed = await push({ ground: now.ground, mirror, batch, spent, door: door?.door })
      if (!pushed.moved) {
        ctx.log.info(words.refused, { repo, branch: batch.branch, tip: batch.tip, ...pushed.why })
        // What may be under way stays on record, and so does what an earlier try may have left so.
        if (!pushed.sent && ready.kept === undefined) await book.intend(repo, undefined)
        return not(pushed.why)
      }
    }
    ctx.log.info(words.landed, {
      repo,
      branch: batch.branch,
      tip: batch.tip,
      pulls: pulls.length,
      ms: Math.round(performance.now() - begun),
    })
    const taken = new Set(first.now.map(one => one.issue))
    const rest = [...closings.now, ...closings.later].filter(one => !taken.has(one.issue))
    await record(now.ground, intent, rest)
    return { ok: true, moved: await movedGround(now.ground, pulls) }
  }

  /** The lease for long enough, and room in the record. `kept`: an earlier try's intent for this very tip. */
  async function makeReady(ground: Ground, batch: Batch): Promise<{ kept?: Intent | undefined } | NotLanded> {
    const { repo } = ground
    if (book.held(repo, LEASE_LEFT_MS) === undefined) {
      const claimed = await book.claim(ground)
      if (!claimed.ok) return 'until' in claimed ? { why: 'not-lander' } : trouble(claimed.said)
      if (book.held(repo, LEASE_LEFT_MS) === undefined) return trouble(words.noLease)
    }
    const before = book.held(repo, 0)?.value.intent
    if (before?.tip === batch.tip) return { kept: before }
    if (before !== undefined) {
      const settled = await repair.own(ground, ROUNDS)
      if (!settled.ok) return trouble(settled.said)
      if (settled.left !== undefined) open.add(repo, settled.left)
    }
    return { kept: open.of(repo).find(one => one.tip === batch.tip) }
  }

  /** Whoever was asked for a token is the gateway still, or the other one is asked. */
  async function doorNow(opened: Door | undefined, before: Ground, now: Ground): Promise<Door | undefined> {
    const same = before.view.record.value.gateway === now.view.record.value.gateway
    return opened === undefined || same ? opened : await openGateway(ctx, now)
  }

  async function push({ ground, mirror, batch, spent, door }: Push): Promise<Pushed> {
    const { branch, base, tip } = batch
    const at = { branch, base, tip, spent }
    if (door === undefined) {
      const done = await pushStraight(ctx, ground, { ...at, mirror, commits: batch.members.map(member => member.commit) })
      if (done.outcome === 'done') return { moved: true }
      if (done.outcome === 'unknown') return await look(ground, batch, { why: trouble(done.said), sent: true })
      if (done.as.why !== 'branch-moved') return { moved: false, why: done.as, sent: false }
      return await look(ground, batch, { why: { why: 'head-moved', keys: [] }, sent: false })
    }
    const done = await pushThrough(ctx, door, { ...at, gitDir: mirror.dir })
    const pullOf = (name: string) => spent.find(one => one.branch === name)?.pull
    const keyOf = (pull: string) => batch.members.find(member => member.pull === pull)?.key
    switch (done.outcome) {
      case 'done':
        return { moved: true }
      case 'refused': {
        const why = notLanded(done, { mine: ctx.git, keyOf, pullOf })
        if (why.why !== 'branch-moved') return { moved: false, why, sent: false }
        return await look(ground, batch, { why: trouble(words.gatewaySaid(done.said)), sent: false })
      }
      case 'stale': {
        const keys = done.refs.flatMap(ref => keyOf(pullOf(ref.replace('refs/heads/', '')) ?? '') ?? [])
        const why: NotLanded = keys.length === 0 ? trouble(words.stillThere) : { why: 'head-moved', keys }
        return await look(ground, batch, { why, sent: false })
      }
      case 'unknown': {
        const said = done.said === undefined ? words.noAnswer(door.host) : words.gatewaySaid(done.said)
        return await look(ground, batch, { why: trouble(said), sent: true })
      }
    }
  }

  /** LND-11: what became of a push is read off the branch. `still`: what it means that the branch is where it was. */
  async function look(ground: Ground, batch: Batch, still: { why: NotLanded; sent: boolean }): Promise<Pushed> {
    const read = await readRefsNow(ctx, ground.repo)
    if (!read.ok) return { moved: false, why: trouble(read.said), sent: true }
    const where: Where = await whereIs(builder, { ...ground, refs: read.refs, stored: read.stored }, batch)
    switch (where.at) {
      case 'landed':
        return { moved: true }
      case 'at-base':
        return { moved: false, ...still }
      case 'elsewhere':
        return { moved: false, why: { why: 'branch-moved' }, sent: false }
      case 'unknown':
        return { moved: false, why: trouble(where.said), sent: true }
    }
  }

  /** It has landed, whatever becomes of this: what cannot be written now is written by the next pass, from the intent. */
  async function record(ground: Ground, intent: Intent, rest: readonly { issue: string; pull: string }[]): Promise<void> {
    const next = nextClosings({ now: [...rest], later: [] }).now
    if (rest.length > 0) ctx.log.info(words.issuesLeft, { repo: ground.repo, branch: intent.branch, tip: intent.tip, left: rest.length })
    const following = next.length === 0 ? undefined : { ...intent, issues: closingsOf(ctx, next) }
    const merged = intent.pulls.filter(({ pull }) => ground.view.pulls.get(pull)?.state === 'merged')
    const skip = new Set(merged.map(({ pull }) => String(pull)))
    const done = await recordLanding(ctx, book, { repo: ground.repo, intent, next: following, skip, fresh: true })
    if (done.ok) open.remove(ground.repo, intent.tip)
    else ctx.log.warn(words.notRecorded, { repo: ground.repo, branch: intent.branch, tip: intent.tip, said: done.said })
  }

  /** The repository as it is afterwards. It has landed, so that a server that does not answer now is asked again, and for less. */
  async function movedGround(ground: Ground, pulls: readonly string[]): Promise<Ground> {
    const ways = [async () => (await reads.again(ground, pulls)).ground, async () => (await reads.again(ground, [])).ground]
    for (const [tried, way] of [...ways, ...ways].entries()) {
      try {
        if (tried >= ways.length) await sleep(1_000)
        return await way()
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
      }
    }
    throw new UpstreamError('timeout', ground.owner, words.landedUnread)
  }

  return land
}
