import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { endSession } from '../auth/end-session.ts'
import { findAccount } from '../auth/find-account.ts'
import type { WebSession } from '../auth/sessions.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import { nameUserAgent } from '../auth/user-agent.ts'
import type { Context } from '../context.ts'
import { sendPage } from '../http/answers.ts'
import { frameOf, isFragment } from '../http/frame.ts'
import { limited } from '../http/limits.ts'
import { clearSession, visitOf } from '../http/visit.ts'

const endParams = {
  type: 'object',
  properties: { name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,32}$' } },
  required: ['name'],
} as const

/** The account's page: the browsers that are logged in, and how to end each. */
export function addSettings(app: FastifyInstance, ctx: Context): void {
  app.get('/settings', async (request, reply) => {
    const { session } = visitOf(request)
    return session === undefined ? sendToLogIn(ctx.config.publicUrl, request, reply) : sendSettings(ctx, request, reply, session)
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

async function sendSettings(ctx: Context, request: FastifyRequest, reply: FastifyReply, session: WebSession): Promise<FastifyReply> {
  const found = await findAccount(ctx, session.did)
  const sessions = await ctx.sessions.list(session.did)
  const frame = frameOf(ctx, request, { title: 'Settings', description: 'The sessions of your account.' })
  reply.header('cache-control', 'no-store')
  return sendPage(ctx, reply, 'settings', {
    frame: { ...frame, viewer: { did: session.did, handle: session.handle } },
    host: found.ok ? found.account.host : undefined,
    sessions: sessions.map(one => ({
      id: one.name,
      name: nameUserAgent(one.userAgent),
      since: one.createdAt,
      usedAt: one.usedAt,
      current: one.name === session.name,
    })),
  })
}
