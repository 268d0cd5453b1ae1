import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseDid } from '../../atproto/ids.ts'
import { withQuery } from '../../views/paths.ts'
import type { Context } from '../context.ts'
import { limited } from '../http/limits.ts'
import { samePath } from '../http/paths.ts'
import { clearSession, setSession, visitOf } from '../http/visit.ts'
import type { Refusal } from '../refusals.ts'
import { door } from '../words.ts'
import { furtherRights, furtherScopes } from './client-metadata.ts'
import { endSession } from './end-session.ts'
import { type FoundAccount, findAccount } from './find-account.ts'
import { type LogInForm, sendForm } from './log-in.ts'
import { isBrowsersOwn, type LogInState, readState, writeState } from './log-in-state.ts'
import type { Finished } from './oauth.ts'

const HOUR_SECONDS = 60 * 60

const startQuery = {
  type: 'object',
  properties: {
    handle: { type: 'string', maxLength: 2_048 },
    next: { type: 'string', maxLength: 1_024 },
    asks: { type: 'string', enum: furtherRights },
  },
} as const
const callbackQuery = { type: 'object', additionalProperties: { type: 'string', maxLength: 2_048 }, maxProperties: 12 } as const

/** The way to the account's own server and back, and the way out. */
export function addCallback(app: FastifyInstance, ctx: Context): void {
  app.get<{ Querystring: LogInForm & { asks?: LogInState['asks'] } }>(
    '/login/start',
    { schema: { querystring: startQuery }, ...limited('logIns') },
    async (request, reply) => {
      const form = { handle: request.query.handle ?? '', next: samePath(request.query.next) }
      const found = await findAccount(ctx, form.handle)
      if (!found.ok) return sendForm(ctx, request, reply, form, found.refusal)
      return start(ctx, request, reply, found.account, { next: form.next, asks: request.query.asks })
    },
  )

  app.get('/oauth/callback', { schema: { querystring: callbackQuery }, ...limited('logIns') }, async (request, reply) => {
    const params = new URLSearchParams(request.url.split('?')[1] ?? '')
    const secret = request.cookies[ctx.cookies.logIn]
    const finished = await ctx.oauth.finish(params, state => isBrowsersOwn(readState(state), secret))
    if (!finished.ok) return comeBack(ctx, request, reply, finished)
    const state = readState(finished.state)
    const account = await findAccount(ctx, finished.did)
    const handle = account.ok ? account.account.handle : undefined
    const before = visitOf(request).session
    // A further right of whoever is logged in: the forms of the session stay good.
    if (state?.asks !== undefined && before?.did === finished.did) return leadBack(reply, state.next)
    const begun = await ctx.sessions.begin(
      { did: finished.did, ...(handle === undefined ? {} : { handle }) },
      request.headers['user-agent'],
    )
    if (before !== undefined) await endSession(ctx, before.did, before.name)
    setSession(ctx, reply, begun)
    return leadBack(reply, state?.next ?? '/')
  })

  app.post('/logout', async (request, reply) => {
    const { session } = visitOf(request)
    if (session !== undefined) await endSession(ctx, session.did, session.name)
    clearSession(ctx, reply)
    return reply.header('cache-control', 'no-store').redirect('/', 303)
  })
}

async function start(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  account: FoundAccount,
  { next, asks }: Pick<LogInState, 'next' | 'asks'>,
): Promise<FastifyReply> {
  const secret = request.cookies[ctx.cookies.logIn] ?? ctx.ids.secret()
  const handle = account.handle ?? account.did
  const did = parseDid(account.did)
  const begun = did && (await ctx.oauth.begin(did, writeState({ next, handle, secret, asks }), asks && furtherScopes[asks]))
  if (begun === undefined || !begun.ok) {
    request.log.info({ err: begun?.cause, host: account.host }, 'a log-in could not be begun')
    return sendForm(ctx, request, reply, { handle, next }, door.serverDown(account.host))
  }
  reply.setCookie(ctx.cookies.logIn, secret, { ...ctx.cookies.options, maxAge: HOUR_SECONDS })
  return reply.header('cache-control', 'no-store').redirect(begun.href, 303)
}

/** Back in the form, with why, what was typed, and where it was to lead. */
function comeBack(ctx: Context, request: FastifyRequest, reply: FastifyReply, finished: Extract<Finished, { ok: false }>): FastifyReply {
  if (finished.why === 'failed') request.log.info({ err: finished.cause }, 'a log-in failed')
  const state = readState(finished.state)
  // Whoever was asked for a further right is logged in still: the page that asked says what came of it.
  if (state?.asks !== undefined && visitOf(request).session !== undefined) {
    return leadBack(reply, withQuery(state.next, { right: finished.why }))
  }
  return sendForm(ctx, request, reply, { handle: state?.handle, next: state?.next ?? '/' }, refusalOf(finished.why))
}

function leadBack(reply: FastifyReply, path: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(path, 303)
}

function refusalOf(why: Extract<Finished, { ok: false }>['why']): Refusal {
  if (why === 'denied') return door.denied()
  if (why === 'stale') return door.stale()
  return why === 'too-little' ? door.tooLittle() : door.failed()
}
