/** Landing what passed (LND-1 to LND-12), and settling what an earlier landing left (LND-8). */
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { RunnerContext } from '../context.ts'
import type { Builder, Landing, Reads } from '../types.ts'
import type { Book } from './book.ts'
import { createFormer } from './former.ts'
import { createLand } from './land.ts'
import { createOpenLandings } from './open-landings.ts'
import { createRepair } from './repair.ts'

export interface LandingDeps {
  ctx: RunnerContext
  book: Book
  reads: Pick<Reads, 'again'>
  builder: Pick<Builder, 'bring'>
}

/** Puts landing together. Whatever a server does is a value; only what should not happen is thrown. */
export function createLanding(deps: LandingDeps): Landing {
  const open = createOpenLandings(deps.ctx.now)
  const repair = createRepair(deps, open, createFormer(deps.ctx))
  const land = createLand(deps, open, repair)
  return {
    async land(ground, batch) {
      try {
        return await land(ground, batch)
      } catch (error) {
        if (error instanceof UpstreamError) return { ok: false, why: 'trouble', said: error.message }
        throw error
      }
    },
    async repair(ground) {
      try {
        return await repair.all(ground)
      } catch (error) {
        if (error instanceof UpstreamError) return { ok: false, said: error.message }
        throw error
      }
    },
  }
}
