import type { FastifyRequest } from 'fastify'
import type { Frame } from '../../views/models.ts'
import type { Context } from '../context.ts'
import { visitOf } from './visit.ts'

/** What every page takes, for this request. */
export function frameOf(
  ctx: Context,
  request: FastifyRequest,
  page: Pick<Frame, 'title' | 'description'> & Partial<Pick<Frame, 'alternateJson' | 'feed' | 'live' | 'every'>>,
): Frame {
  const { session, csrf } = visitOf(request)
  return {
    ...page,
    viewer: session && { did: session.did, handle: session.handle },
    csrf,
    now: ctx.now(),
    path: comesBackTo(request.url),
    url: `${ctx.config.publicUrl}${comesBackTo(request.url).replace(/\?.*$/s, '')}`,
    version: ctx.version,
  }
}

/**
 * Where a log-in from this page comes back to; never into a log-in, whose addresses hold what is good once. It begins with one slash: with two it
 * would be another host.
 */
function comesBackTo(url: string): string {
  const path = url.replace(/^[/\\]+/, '/')
  return /^\/(login|oauth|logout)(\/|\?|$)/.test(path) ? '/' : path
}

/** Whether htmx asks, for a part of a page. */
export function isFragment(request: FastifyRequest): boolean {
  return request.headers['hx-request'] === 'true'
}
