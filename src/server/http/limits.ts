import rateLimit from '@fastify/rate-limit'
import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { refusals } from '../words.ts'
import { RefusedRequest } from './errors.ts'

const MINUTE = 60_000
/** How many addresses are remembered, for each bound. */
const ADDRESSES = 10_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The tighter bound that the route shares with others of its kind; `none` for those who watch the process. */
    limit?: 'writes' | 'logIns' | 'none'
  }
}

/** Bounds on how often one address may ask: over everything, and tighter ones over all writes and all steps of logging in. */
export async function addLimits(app: FastifyInstance, ctx: Context): Promise<void> {
  await app.register(rateLimit, { global: false, cache: ADDRESSES })
  const { requests, writes, logIns } = ctx.config.limits
  const bound = (max: number) => app.createRateLimit({ max, timeWindow: MINUTE })
  const all = bound(requests)
  const groups = { writes: bound(writes), logIns: bound(logIns) }

  app.addHook('onRequest', async (request, reply) => {
    const group = request.routeOptions.config.limit
    if (group === 'none') return
    for (const check of group === undefined ? [all] : [all, groups[group]]) {
      const found = await check(request)
      if (found.isAllowed || !found.isExceeded) continue
      reply.header('retry-after', found.ttlInSeconds)
      throw new RefusedRequest(refusals.rateLimited(found.ttlInSeconds), 429)
    }
  })
}

/** Route options for a tighter bound, and what else the route says of itself. */
export function limited(
  limit: 'writes' | 'logIns',
  more: Pick<FastifyContextConfig, 'ownFormToken'> = {},
): { config: FastifyContextConfig } {
  return { config: { ...more, limit } }
}
