import { createGatewayContext, type GatewayOptions, goOn } from './context.ts'
import { createCommit } from './create-commit.ts'
import { mergePull } from './merge-pull.ts'
import { beginLook, pushMoves } from './push.ts'
import { settleOpen } from './settle.ts'
import type { Gateway } from './types.ts'

/** The gateway with what the program around it needs. */
export interface RunningGateway extends Gateway {
  /** Looks at what an earlier run left open, and goes on looking until nothing is. */
  start(): void
  /** Waits for work beside requests. */
  stop(): Promise<void>
}

/** How often what is open is looked at again, in milliseconds. */
const LOOK_EVERY = 5_000

/** The server that writes for owners who delegated to it: one way to judge and one way to write, whichever door was used. */
export function createGateway(options: GatewayOptions): RunningGateway {
  const ctx = createGatewayContext(options)
  let looking: NodeJS.Timeout | undefined
  let busy = false

  function look(): void {
    if (busy) return
    busy = true
    goOn(ctx, async () => {
      try {
        await settleOpen(ctx)
      } finally {
        busy = false
      }
    })
  }

  return {
    look: repo => beginLook(ctx, repo),
    push: asked => pushMoves(ctx, asked),
    mergePull: asked => mergePull(ctx, asked),
    createCommit: asked => createCommit(ctx, asked),
    start() {
      look()
      looking ??= setInterval(look, LOOK_EVERY)
      looking.unref()
    },
    async stop() {
      clearInterval(looking)
      looking = undefined
      await Promise.allSettled(ctx.background)
    },
  }
}
