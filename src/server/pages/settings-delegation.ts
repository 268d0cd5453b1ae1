import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Did, parseDid } from '../../atproto/ids.ts'
import { delegationSays } from '../../queue/words/delegation.ts'
import { isGivingBy, isGivingOf, writeGiving } from '../auth/delegation-state.ts'
import { findAccount } from '../auth/find-account.ts'
import type { Finished } from '../auth/oauth.ts'
import type { WebSession } from '../auth/sessions.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import type { Context } from '../context.ts'
import { delegationCallbackPath } from '../gateway/delegations.ts'
import { delegationPath } from '../gateway/facts.ts'
import { sendPage } from '../http/answers.ts'
import { frameOf, isFragment } from '../http/frame.ts'
import { limited } from '../http/limits.ts'
import { visitOf } from '../http/visit.ts'
import type { Refusal } from '../refusals.ts'
import { delegationRefusals, door } from '../words.ts'
import { sendSettings } from './settings-view.ts'

const HOUR_SECONDS = 60 * 60
const callbackQuery = { type: 'object', additionalProperties: { type: 'string', maxLength: 2_048 }, maxProperties: 12 } as const

type Owner = WebSession & { did: Did }

/**
 * Giving a delegation and taking it back (GWY-7). The form leads to a page with a link, since a form may not be redirected to another server; the
 * link works only in the browser that sent the form. What comes back must be of that browser and of the account that is logged in.
 */
export function addDelegation(app: FastifyInstance, ctx: Context): void {
  app.post('/settings/delegation/give', limited('logIns'), async (request, reply) => {
    const owner = ownerOf(request)
    if (owner === undefined) return toLogIn(ctx, request, reply)
    reply.setCookie(ctx.cookies.delegation, ctx.ids.secret(), { ...ctx.cookies.options, maxAge: HOUR_SECONDS })
    return go(reply, '/settings/delegation/continue')
  })

  app.get('/settings/delegation/continue', limited('logIns'), async (request, reply) => {
    const owner = ownerOf(request)
    if (owner === undefined) return toLogIn(ctx, request, reply)
    const found = await findAccount(ctx, owner.did)
    if (!found.ok) return refuse(ctx, request, reply, owner, found.refusal)
    const { did, handle, host } = found.account
    const frame = frameOf(ctx, request, { title: 'Give delegation: continue', description: 'Continue at your own server.' })
    reply.header('cache-control', 'no-store')
    return sendPage(ctx, reply, 'login-continue', {
      frame: { ...frame, path: '/settings' },
      account: { did, handle },
      host,
      href: '/settings/delegation/start',
      next: '/settings',
      asks: { says: delegationSays.asks(host), back: { href: delegationPath, name: 'Back to settings' } },
    })
  })

  app.get('/settings/delegation/start', limited('logIns'), async (request, reply) => {
    const owner = ownerOf(request)
    if (owner === undefined) return toLogIn(ctx, request, reply)
    const secret = request.cookies[ctx.cookies.delegation]
    if (secret === undefined) return refuse(ctx, request, reply, owner, delegationRefusals.stale())
    const begun = await ctx.delegations.oauth.begin(owner.did, writeGiving(owner.did, secret))
    if (begun.ok) return go(reply, begun.href)
    const found = await findAccount(ctx, owner.did)
    request.log.info({ err: begun.cause }, 'a delegation could not be begun')
    return refuse(ctx, request, reply, owner, found.ok ? door.serverDown(found.account.host) : found.refusal)
  })

  app.get(delegationCallbackPath, { schema: { querystring: callbackQuery }, ...limited('logIns') }, async (request, reply) => {
    const owner = ownerOf(request)
    if (owner === undefined) return toLogIn(ctx, request, reply)
    const params = new URLSearchParams(request.url.split('?')[1] ?? '')
    const secret = request.cookies[ctx.cookies.delegation]
    const finished = await ctx.delegations.oauth.finish(
      params,
      state => isGivingOf(state, secret),
      (did, state) => did === owner.did && isGivingBy(state, owner.did),
    )
    if (!finished.ok) {
      if (finished.why === 'failed') request.log.info({ err: finished.cause }, 'a delegation could not be finished')
      return refuse(ctx, request, reply, owner, refusalOf(finished.why, owner.handle))
    }
    ctx.delegations.given(finished.did)
    reply.clearCookie(ctx.cookies.delegation, ctx.cookies.options)
    return go(reply, delegationPath)
  })

  app.post('/settings/delegation/withdraw', limited('writes'), async (request, reply) => {
    const owner = ownerOf(request)
    if (owner === undefined) return toLogIn(ctx, request, reply)
    const told = await ctx.delegations.withdraw(owner.did)
    if (told && !isFragment(request)) return go(reply, delegationPath)
    const found = told ? undefined : await findAccount(ctx, owner.did)
    const notice = found && delegationRefusals.notTold(found.ok ? found.account.host : undefined)
    return sendSettings(ctx, request, reply, owner, { notice })
  })
}

function ownerOf(request: FastifyRequest): Owner | undefined {
  const { session } = visitOf(request)
  const did = parseDid(session?.did)
  return session === undefined || did === undefined ? undefined : { ...session, did }
}

function toLogIn(ctx: Context, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendToLogIn(ctx.config.publicUrl, request, reply, '/settings')
}

function go(reply: FastifyReply, path: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(path, 303)
}

/** The page again, with why. It is 422 even where another server is at fault: a proxy in front may put its own page in the place of a 502. */
function refuse(ctx: Context, request: FastifyRequest, reply: FastifyReply, owner: Owner, refused: Refusal): Promise<FastifyReply> {
  return sendSettings(ctx, request, reply, owner, { refused }, 422)
}

function refusalOf(why: Extract<Finished, { ok: false }>['why'], handle: string | undefined): Refusal {
  switch (why) {
    case 'denied':
      return delegationRefusals.denied()
    case 'stale':
      return delegationRefusals.stale()
    case 'too-little':
      return delegationRefusals.tooLittle()
    case 'not-taken':
      return delegationRefusals.otherAccount(handle)
    case 'failed':
      return delegationRefusals.failed()
  }
}
