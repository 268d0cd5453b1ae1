import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopbackHost } from '../../config/values.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import type { Context } from '../context.ts'
import { refusals } from '../words.ts'
import { RefusedRequest } from './errors.ts'
import { withoutEndSlash } from './paths.ts'
import { isSafe, isSameSite } from './same-site.ts'
import { visitOf } from './visit.ts'

/** The longest address that is looked at, in characters. */
const MAX_URL = 4_096

/**
 * What stands between a request and the pages: a bound on the address, the one host on loopback, and for what changes something that it comes
 * from our own pages with the token of its visit, in the form (`_csrf`) or, by script, in `x-csrf-token`.
 */
export function guardPages(app: FastifyInstance, ctx: Context): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.url.length > MAX_URL) return done(new RefusedRequest(refusals.tooLarge(), 414))
    if (isSafe(request.method)) {
      const elsewhere = otherLoopbackHost(ctx, request)
      if (elsewhere !== undefined) return void reply.redirect(elsewhere, 307)
      // No page's address ends in a slash; one that was typed or linked with one is meant without.
      const bare = request.url.startsWith('/static/') ? undefined : withoutEndSlash(request.url)
      if (bare !== undefined) return void reply.redirect(bare, 301)
      return done()
    }
    if (!isSameSite(request.headers, ctx.config.publicUrl)) return done(new RefusedRequest(refusals.crossSite(ctx.config.publicUrl), 403))
    done()
  })
  app.addHook('preHandler', async (request, reply) => {
    if (isSafe(request.method) || request.is404 || request.routeOptions.config.ownFormToken === true) return
    const visit = visitOf(request)
    if (visit.tokenMatches(tokenOf(request))) return
    // Without a session no form but the door's can be sent: it was another session's, and that has ended.
    if (visit.session === undefined) return sendToLogIn(ctx.config.publicUrl, request, reply)
    throw new RefusedRequest(refusals.formExpired(), 403)
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route looks at its form's token itself, so that nothing typed is lost. */
    ownFormToken?: boolean
  }
}

/** Cookies and log-in belong to the public address; a page asked for at another name of this machine is found there. */
function otherLoopbackHost(ctx: Context, request: FastifyRequest): string | undefined {
  if (!ctx.config.loopback || request.headers.host === undefined) return undefined
  if (ctx.config.publicUrl.endsWith(`//${request.headers.host}`)) return undefined
  const asked = URL.parse(`http://${request.headers.host}`)
  if (asked === null || asked.host === new URL(ctx.config.publicUrl).host || !isLoopbackHost(asked.hostname)) return undefined
  return `${ctx.config.publicUrl}${request.url}`
}

function tokenOf(request: FastifyRequest): unknown {
  const header = request.headers['x-csrf-token']
  if (header !== undefined) return header
  const { body } = request
  return typeof body === 'object' && body !== null && '_csrf' in body ? body._csrf : undefined
}
