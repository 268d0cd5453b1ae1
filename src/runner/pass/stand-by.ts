import { MAX_CLOCK_SKEW_MS } from '../../atproto/clock-skew.ts'
import type { StandBy } from '../planner/types.ts'
import type { Ground } from '../types.ts'
import type { Parts } from './parts.ts'

/** Why this runner lands nothing in the whole repository now; undefined when nothing keeps it. Takes or renews the lease (WHO-8, REC-8, GWY-8). */
export async function standingBy(parts: Parts, ground: Ground): Promise<StandBy | undefined> {
  const { ctx, book } = parts
  // Of this clock, as people think of it: positive when it is ahead.
  const skewMs = -(await parts.clockSkew())
  if (Math.abs(skewMs) > MAX_CLOCK_SKEW_MS) return { why: 'clock', skewMs }
  const may = parts.mayLand(ground.view, ground.view.record.value.defaultBranch)
  if (!may.lands) return { why: 'not-lander', first: may.first }
  if (ctx.settings.dryRun) return undefined
  const claimed = await book.claim(ground)
  if (!claimed.ok) {
    if ('until' in claimed) return { why: 'lease', until: claimed.until }
    // Nobody else has it, as far as is known, and without it nothing may land.
    throw new Error(`the lease could not be taken: ${claimed.said}`)
  }
  const straight = ctx.did === ground.owner
  if (!straight && (await ctx.appview.delegated(ground.repo)) === false) return { why: 'not-delegated', owner: ground.owner }
  return undefined
}
