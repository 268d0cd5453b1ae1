import type { ReplayMemory } from '../../atproto/replay-memory.ts'
import type { Context } from '../context.ts'
import { createReadBody, type ReadBody } from './body.ts'
import { createFailures, type Failures } from './failures.ts'
import { createFreshMirrors, type FreshMirrors } from './fresh-mirrors.ts'
import { createSlots, type Slots } from './slots.ts'
import { createUpkeep, type Upkeep } from './upkeep.ts'

/** What git over HTTP takes beside the server's context. */
export interface GitDoor {
  readonly ctx: Context
  readonly fresh: FreshMirrors
  /** Room for programs of clones and fetches. */
  readonly slots: Slots
  /** Room for pushes: fewer, since indexing a pack takes more. */
  readonly pushSlots: Slots
  readonly readBody: ReadBody
  /** Tokens of pushes that were used (GWY-10). */
  readonly replay: ReplayMemory
  readonly failures: Failures
  readonly upkeep: Upkeep
}

/** How long a client waits for room before it is sent away, in milliseconds. */
const waitMs = 10_000

export function createGitDoor(ctx: Context): GitDoor {
  const { processes, perAddress, idleMs } = ctx.config.git
  const pushes = Math.max(2, Math.ceil(processes / 4))
  return {
    ctx,
    fresh: createFreshMirrors(ctx),
    slots: createSlots({ total: processes, perAddress, waitMs }),
    pushSlots: createSlots({ total: pushes, perAddress: Math.ceil(pushes / 2), waitMs }),
    readBody: createReadBody({ ms: idleMs }),
    replay: ctx.replays,
    failures: createFailures({ now: ctx.now, most: ctx.config.limits.writes }),
    upkeep: createUpkeep({ now: ctx.now, failed: error => ctx.logger.error({ err: error }, 'upkeep of a mirror failed') }),
  }
}
