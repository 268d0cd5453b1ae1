import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { endSession } from '../auth/end-session.ts'
import type { WebSession } from '../auth/sessions.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import type { Context } from '../context.ts'
import { isFragment } from '../http/frame.ts'
import { limited } from '../http/limits.ts'
import { clearSession, visitOf } from '../http/visit.ts'
import { addAuditExports } from './settings-audit.ts'
import { addDelegation } from './settings-delegation.ts'
import { sendSettings } from './settings-view.ts'

/** Of a session by its name. */
export const endParams = {
  type: 'object',
  properties: { name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,32}$' } },
  required: ['name'],
} as const

const settingsQuery = {
  type: 'object',
  properties: { before: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
} as const

/** The account's page: its delegation, the browsers that are logged in and how to end each, and what was written for it. */
export function addSettings(app: FastifyInstance, ctx: Context): void {
  addDelegation(app, ctx)
  addAuditExports(app, ctx)

  app.get<{ Querystring: { before?: number } }>('/settings', { schema: { querystring: settingsQuery } }, async (request, reply) => {
    const { session } = visitOf(request)
    if (session === undefined) return sendToLogIn(ctx.config.publicUrl, request, reply)
    return sendSettings(ctx, request, reply, session, { before: request.query.before })
  })

  app.post<{ Params: { name: string } }>(
    '/settings/sessions/:name/end',
    { schema: { params: endParams }, ...limited('writes') },
    async (request, reply) => {
      const { session } = visitOf(request)
      if (session === undefined) return sendToLogIn(ctx.config.publicUrl, request, reply, '/settings')
      await endSession(ctx, session.did, request.params.name)
      if (request.params.name !== session.name) return done(ctx, request, reply, session)
      clearSession(ctx, reply)
      return reply.redirect('/', 303)
    },
  )

  app.post('/settings/sessions/end-others', limited('writes'), async (request, reply) => {
    const { session } = visitOf(request)
    if (session === undefined) return sendToLogIn(ctx.config.publicUrl, request, reply, '/settings')
    await ctx.sessions.endAll(session.did, { except: session.name })
    return done(ctx, request, reply, session)
  })
}

/** After an action: the page again, by a new request without script. */
async function done(ctx: Context, request: FastifyRequest, reply: FastifyReply, session: WebSession): Promise<FastifyReply> {
  return isFragment(request) ? sendSettings(ctx, request, reply, session) : reply.redirect('/settings', 303)
}
