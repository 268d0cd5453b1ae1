import type { Context } from '../context.ts'
import { createReadBody, type ReadBody } from './body.ts'
import { createFreshMirrors, type FreshMirrors } from './fresh-mirrors.ts'
import { createSlots, type Slots } from './slots.ts'

/** What git over HTTP takes beside the server's context. */
export interface GitDoor {
  readonly ctx: Context
  readonly fresh: FreshMirrors
  readonly slots: Slots
  readonly readBody: ReadBody
}

/** How long a client waits for room before it is sent away, in milliseconds. */
const waitMs = 10_000

export function createGitDoor(ctx: Context): GitDoor {
  const { processes, perAddress, idleMs } = ctx.config.git
  return {
    ctx,
    fresh: createFreshMirrors(ctx),
    slots: createSlots({ total: processes, perAddress, waitMs }),
    readBody: createReadBody({ ms: idleMs }),
  }
}
