/** Landings that were begun and not ended: carried out where their push was made, given up where it was not (LND-8, LND-11). */
import { parseTid } from '../../atproto/ids.ts'
import { keysToExceed } from '../../queue/keys-to-exceed.ts'
import type { Ground } from '../types.ts'
import { whereIs } from './branch-now.ts'
import type { Former } from './former.ts'
import { closingsOf, entryKeys, nextClosings } from './intent.ts'
import { closingsFor, leftAfter, openIssues } from './issues.ts'
import { keyAbove } from './keys.ts'
import type { Intent } from './lander-record.ts'
import type { LandingDeps } from './landing.ts'
import { isYoung, type OpenLandings } from './open-landings.ts'
import { recordLanding } from './record.ts'
import { readStack } from './stack.ts'
import { words } from './words.ts'

export type Repaired = { ok: true; landed: readonly string[] } | { ok: false; said: string }

export interface Repair {
  /** Settles every landing that is open, this account's and those of landers before it. */
  all(ground: Ground): Promise<Repaired>
  /**
   * Settles what this account's own record holds; issues over the bounds of one call take as many rounds. `left`: what has to stay there, since its push
   * may still be under way.
   */
  own(ground: Ground, rounds: number): Promise<Repaired & { left?: Intent | undefined }>
}

export function createRepair(deps: LandingDeps, open: OpenLandings, former: Former): Repair {
  const { ctx, book, builder } = deps
  const nothing: Repaired = { ok: true, landed: [] }

  /** Writes what an intent asks for whose push was made. Issues over the bounds stay in its place, for the next pass. */
  async function carryOut(ground: Ground, intent: Intent): Promise<Repaired> {
    const { repo, view } = ground
    const brought = await builder.bring(ground)
    if (!brought.ok) return { ok: false, said: brought.message }
    const stack = { base: intent.base, tip: intent.tip, members: intent.pulls.map(({ pull, commit }) => ({ pull, commit })) }
    const read = await readStack({ dir: brought.mirror.dir }, stack)
    if (!read.ok) {
      // Its commits are not those of its pulls: nothing may be concluded from it.
      ctx.log.error(words.dropped, { repo, branch: intent.branch, tip: intent.tip, said: read.said })
      return await giveUp(ground, intent)
    }
    const skip = new Set(intent.pulls.filter(({ pull }) => view.pulls.get(pull)?.state === 'merged').map(({ pull }) => String(pull)))
    const known = await openIssues(ctx, repo)
    for (const { issue } of intent.issues ?? []) if (known?.includes(issue) === false) skip.add(issue)
    const closings = await closingsFor(ctx, { repo, view, branch: intent.branch, messages: read.messages })
    const next = nextClosings(await leftAfter(ctx, intent, closings))
    const issues = closingsOf(ctx, next.now)
    const following = issues.length === 0 ? undefined : { ...intent, issues }
    const done = await recordLanding(ctx, book, { repo, intent, next: following, skip, fresh: false })
    if (!done.ok) return done
    open.remove(repo, intent.tip)
    ctx.log.info(words.repaired, { repo, branch: intent.branch, tip: intent.tip, pulls: intent.pulls.length })
    return { ok: true, landed: entryKeys(intent) }
  }

  async function giveUp({ repo }: Ground, intent: Intent): Promise<Repaired> {
    open.remove(repo, intent.tip)
    if (book.held(repo, 0)?.value.intent?.tip !== intent.tip) return nothing
    const done = await book.intend(repo, undefined)
    return done.ok ? nothing : { ok: false, said: done.said }
  }

  /** `stays`: its push may still be under way, and it is left as it is. */
  async function settle(ground: Ground, intent: Intent): Promise<Repaired & { stays?: boolean }> {
    const where = await whereIs(builder, ground, intent)
    if (where.at === 'unknown') return { ok: false, said: where.said }
    if (where.at === 'landed') return await carryOut(ground, intent)
    if (where.at === 'at-base' && isYoung(intent, ctx.now())) return { ...nothing, stays: true }
    ctx.log.info(words.dropped, { repo: ground.repo, branch: intent.branch, tip: intent.tip })
    return await giveUp(ground, intent)
  }

  async function own(ground: Ground, rounds: number): Promise<Repaired & { left?: Intent | undefined }> {
    const landed: string[] = []
    for (let round = 0; round < rounds; round++) {
      const intent = book.held(ground.repo, 0)?.value.intent
      if (intent === undefined) break
      const done = await settle(ground, intent)
      if (!done.ok) return done
      landed.push(...done.landed)
      if (done.stays === true) return { ok: true, landed, left: intent }
    }
    return { ok: true, landed: [...new Set(landed)] }
  }

  /** What another lander left becomes this account's own, under keys of its own: of its pulls those that nobody recorded as merged. */
  function adopted(ground: Ground, intent: Intent): Intent | undefined {
    const pulls = intent.pulls.flatMap(one => {
      const pull = ground.view.pulls.get(one.pull)
      if (pull === undefined || pull.state === 'merged') return []
      const state = parseTid(keyAbove(ctx, keysToExceed(ground.view, one.pull)))
      return state === undefined ? [] : [{ ...one, state }]
    })
    if (pulls.length === 0) return undefined
    // Whoever left it wrote nothing of it, since it is one call: all of its pulls are there, or it is none of ours.
    const issues = closingsOf(ctx, intent.issues ?? [])
    const { issues: _, ...rest } = intent
    return { ...rest, pulls, ...(issues.length === 0 ? {} : { issues }) }
  }

  async function ofFormer(ground: Ground, intent: Intent): Promise<Repaired> {
    const where = await whereIs(builder, ground, intent)
    if (where.at === 'unknown') return { ok: false, said: where.said }
    if (where.at !== 'landed') return nothing
    const brought = await builder.bring(ground)
    if (!brought.ok) return { ok: false, said: brought.message }
    const stack = { base: intent.base, tip: intent.tip, members: intent.pulls.map(({ pull, commit }) => ({ pull, commit })) }
    const read = await readStack({ dir: brought.mirror.dir }, stack)
    const mine = read.ok ? adopted(ground, intent) : undefined
    if (mine === undefined) return nothing
    const done = await recordLanding(ctx, book, { repo: ground.repo, intent: mine, fresh: true })
    if (!done.ok) return done
    ctx.log.info(words.repaired, { repo: ground.repo, branch: intent.branch, tip: intent.tip, pulls: mine.pulls.length })
    return { ok: true, landed: entryKeys(mine) }
  }

  return {
    own,
    async all(ground) {
      const landed: string[] = []
      const mine = await own(ground, 1)
      if (!mine.ok) return mine
      landed.push(...mine.landed)
      for (const intent of open.of(ground.repo)) {
        const done = await settle(ground, intent)
        if (!done.ok) return done
        landed.push(...done.landed)
      }
      const before = await former.look(ground, book.taken(ground.repo))
      for (const intent of before.intents) {
        const done = await ofFormer(ground, intent)
        if (!done.ok) return done
        landed.push(...done.landed)
      }
      before.settled()
      return { ok: true, landed: [...new Set(landed)] }
    },
  }
}
