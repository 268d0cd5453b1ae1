import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import type { Context } from '../context.ts'
import { refusals } from '../words.ts'
import { RefusedRequest } from './errors.ts'

const MINUTE = 60_000
/** How many addresses are remembered. */
const ADDRESSES = 10_000

/** A bound on how often one address may ask, over all pages and methods. */
export async function addLimits(app: FastifyInstance, ctx: Context): Promise<void> {
  await app.register(rateLimit, {
    max: ctx.config.limits.requests,
    timeWindow: MINUTE,
    cache: ADDRESSES,
    addHeadersOnExceeding: { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false },
    addHeaders: { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false, 'retry-after': true },
    errorResponseBuilder: (_request, { ttl }) => new RefusedRequest(refusals.rateLimited(Math.ceil(ttl / 1000)), 429),
  })
}

/** Route options with a tighter bound of their own, shared by all routes of the group. */
export function limited(ctx: Context, group: 'writes' | 'logIns'): Pick<RouteShorthandOptions, 'config'> {
  return { config: { rateLimit: { max: ctx.config.limits[group], timeWindow: MINUTE, groupId: group } } }
}
