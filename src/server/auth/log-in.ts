import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { sendPage } from '../http/answers.ts'
import { frameOf } from '../http/frame.ts'
import { limited } from '../http/limits.ts'
import { samePath } from '../http/paths.ts'
import { bindForms, clearSession, visitOf } from '../http/visit.ts'
import { type Refusal, statusOf } from '../refusals.ts'
import { door, refusals } from '../words.ts'
import { findAccount } from './find-account.ts'
import { nameOfPath } from './next-name.ts'

const typed = { type: 'string', maxLength: 2_048 } as const
const path = { type: 'string', maxLength: 1_024 } as const
const formQuery = { type: 'object', properties: { handle: typed, next: path } } as const
const formBody = { type: 'object', properties: { ...formQuery.properties, _csrf: { type: 'string', maxLength: 128 } } } as const

export interface LogInForm {
  handle?: string | undefined
  next?: string | undefined
}

/** The door: its form, and the page before a person goes on to their own server. */
export function addLogIn(app: FastifyInstance, ctx: Context): void {
  app.get<{ Querystring: LogInForm }>('/login', { schema: { querystring: formQuery } }, (request, reply) => {
    const next = samePath(request.query.next)
    const visit = visitOf(request)
    if (visit.session !== undefined) return reply.redirect(next, 303)
    if (visit.ended) clearSession(ctx, reply)
    return sendForm(ctx, request, reply, { ...request.query, next }, visit.ended ? door.again() : undefined)
  })

  const post = { schema: { body: formBody }, ...limited('logIns', { ownFormToken: true }) }
  app.post<{ Body: LogInForm & { _csrf?: string } }>('/login', post, async (request, reply) => {
    const form = { handle: request.body.handle ?? '', next: samePath(request.body.next) }
    if (!visitOf(request).tokenMatches(request.body._csrf)) return sendForm(ctx, request, reply, form, refusals.formExpired(), 403)
    const found = await findAccount(ctx, form.handle)
    if (!found.ok) return sendForm(ctx, request, reply, form, found.refusal)
    return reply.redirect(
      `/login/continue?${new URLSearchParams({ handle: found.account.handle ?? found.account.did, next: form.next })}`,
      303,
    )
  })

  app.get<{ Querystring: LogInForm }>(
    '/login/continue',
    { schema: { querystring: formQuery }, ...limited('logIns') },
    async (request, reply) => {
      const form = { handle: request.query.handle ?? '', next: samePath(request.query.next) }
      const found = await findAccount(ctx, form.handle)
      if (!found.ok) return sendForm(ctx, request, reply, form, found.refusal)
      const { did, handle, host } = found.account
      const frame = {
        ...frameOf(ctx, request, { title: 'Log in: continue', description: 'Continue at your own server.' }),
        path: form.next,
      }
      const href = `/login/start?${new URLSearchParams({ handle: did, next: form.next })}`
      return sendPage(ctx, reply, 'login-continue', { frame, account: { did, handle }, host, href, next: form.next })
    },
  )
}

/** The form, with what was typed and, where it led nowhere, why. */
export function sendForm(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  form: { handle?: string | undefined; next: string },
  refused?: Refusal,
  status = refused === undefined || refused.code === 'signed-out' ? 200 : formStatus(refused),
): FastifyReply {
  bindForms(ctx, request, reply)
  const frame = { ...frameOf(ctx, request, { title: 'Log in', description: 'Log in with your own account.' }), path: form.next }
  reply.header('cache-control', 'no-store')
  const { next, handle } = form
  return sendPage(ctx, reply, 'login', { frame, next, nextName: nameOfPath(next), handle: handle || undefined, refused }, status)
}

/** A form that comes back is 4xx even where another server is at fault: a proxy in front may put its own page in the place of a 502. */
function formStatus(refused: Refusal): number {
  const status = statusOf(refused.code)
  return status < 500 ? status : 422
}
