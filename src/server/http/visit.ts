import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSession } from '../auth/sessions.ts'
import type { Context } from '../context.ts'

/** Who asks, as far as cookies say. */
export interface Visit {
  session?: WebSession | undefined
  /** The browser holds a session that has ended. */
  ended: boolean
  /** The token for this visit's forms; empty for a browser that holds nothing to bind it to. */
  csrf: string
  /** Whether a form's token belongs to this visit. */
  tokenMatches(token: unknown): boolean
}

const nobody: Visit = { ended: false, csrf: '', tokenMatches: () => false }
const visits = new WeakMap<FastifyRequest, Visit>()

/** The visit that a request belongs to. Requests outside `addVisits` are nobody's. */
export function visitOf(request: FastifyRequest): Visit {
  return visits.get(request) ?? nobody
}

/** From here on the request is nobody's: what is answered is the same for everybody. */
export function lookAsNobody(request: FastifyRequest): void {
  visits.set(request, nobody)
}

/** Whether a request brought nothing that says who asks, or is looked at as if it had not. */
export function isNobodys(request: FastifyRequest): boolean {
  return request.headers.cookie === undefined ? visitOf(request).csrf === '' : visits.get(request) === nobody
}

/** Reads the cookies of every request in this scope, before anything else looks at it. */
export function addVisits(app: FastifyInstance, ctx: Context): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // Most who ask bring none, and are not kept waiting for a promise.
    if (request.headers.cookie === undefined) return done()
    readVisit(ctx, request).then(visit => {
      visits.set(request, visit)
      done()
    }, done)
  })
}

async function readVisit(ctx: Context, request: FastifyRequest): Promise<Visit> {
  const id = secretOf(request.cookies[ctx.cookies.session])
  const session = id === undefined ? undefined : await ctx.sessions.find(id)
  const ended = id !== undefined && session === undefined
  const form = secretOf(request.cookies[ctx.cookies.form])
  if (session !== undefined && id !== undefined) return { session, ended, ...bound(ctx, { kind: 'session', secret: id }) }
  return form === undefined ? { ...nobody, ended } : { ended, ...bound(ctx, { kind: 'form', secret: form }) }
}

function bound(ctx: Context, bearer: { kind: 'session' | 'form'; secret: string }): Pick<Visit, 'csrf' | 'tokenMatches'> {
  return { csrf: ctx.formTokens.make(bearer), tokenMatches: token => ctx.formTokens.matches(token, bearer) }
}

/** A cookie's value, if it is one of ours by its look. */
function secretOf(value: string | undefined): string | undefined {
  return value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined
}

/** For a page with a form that signed-out people send: gives the browser something to bind the token to, where it has nothing yet. */
export function bindForms(ctx: Context, request: FastifyRequest, reply: FastifyReply): void {
  if (visitOf(request).csrf !== '') return
  const secret = ctx.ids.secret()
  reply.setCookie(ctx.cookies.form, secret, ctx.cookies.options)
  visits.set(request, { ...visitOf(request), ...bound(ctx, { kind: 'form', secret }) })
}

/** Logs a browser in: from here on the request is the session's. */
export function setSession(ctx: Context, reply: FastifyReply, begun: { id: string; session: WebSession }): void {
  reply.setCookie(ctx.cookies.session, begun.id, { ...ctx.cookies.options, expires: new Date(begun.session.expiresAt) })
}

/** Takes the session cookie away. */
export function clearSession(ctx: Context, reply: FastifyReply): void {
  reply.clearCookie(ctx.cookies.session, ctx.cookies.options)
}
