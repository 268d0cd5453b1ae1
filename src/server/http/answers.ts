import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorPageWords } from '../../queue/words/pages.ts'
import { plain } from '../../queue/words/phrase.ts'
import type { PageModels } from '../../views/render.ts'
import type { Context } from '../context.ts'
import { type Refusal, statusOf, xrpcName } from '../refusals.ts'
import { frameOf, isFragment } from './frame.ts'

/** Answers with a page. Where htmx asked for an action's answer, it takes the page's main part only. */
export function sendPage<N extends keyof PageModels>(
  ctx: Context,
  reply: FastifyReply,
  name: N,
  model: PageModels[N],
  status = 200,
): FastifyReply {
  if (isFragment(reply.request)) reply.headers({ 'hx-retarget': '#main', 'hx-reselect': '#main', 'hx-reswap': 'outerHTML' })
  return reply.code(status).type('text/html; charset=utf-8').header('vary', 'HX-Request').send(ctx.renderer.renderPage(name, model))
}

/** Whether the other side is a program that wants JSON. */
export function wantsJson(request: FastifyRequest): boolean {
  if (request.url.startsWith('/xrpc/')) return true
  const accept = request.headers.accept ?? ''
  return accept.includes('application/json') && !accept.includes('text/html')
}

/** A code as programs are told it: below /xrpc/ in the way of XRPC. */
function errorName(request: FastifyRequest, code: string): string {
  return request.url.startsWith('/xrpc/') ? xrpcName(code) : code
}

/** A refusal that has no form to come back into. */
export function sendRefusal(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  refused: Refusal,
  status = statusOf(refused.code),
): FastifyReply {
  reply.header('cache-control', 'no-store')
  if (wantsJson(request)) return reply.code(status).send({ error: errorName(request, refused.code), message: refused.message })
  const frame = frameOf(ctx, request, { title: 'Not done', description: refused.message })
  return sendPage(ctx, reply, 'refused', { frame, refused, back: { href: '/', name: 'All repositories' } }, status)
}

/** The page that says what was looked for and is not there, in one sentence where the address named it. */
export function sendNotFound(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  says?: string,
  near: Pick<PageModels['not-found'], 'repo' | 'near'> = {},
): FastifyReply {
  reply.header('cache-control', 'no-store')
  const message = says ?? plain(errorPageWords({ status: 404 }).says, ctx.now(), () => undefined)
  if (wantsJson(request)) return reply.code(404).send({ error: errorName(request, 'not-found'), message })
  const frame = frameOf(ctx, request, { title: 'Not found', description: message })
  return sendPage(ctx, reply, 'not-found', { frame, says, ...near }, 404)
}

/** The page that says that something broke, with the number that is in the log. */
export function sendBroken(ctx: Context, request: FastifyRequest, reply: FastifyReply, id: string): FastifyReply {
  reply.header('cache-control', 'no-store')
  if (wantsJson(request)) return reply.code(500).send({ error: 'internal', message: `Something broke on our side: ${id}` })
  const frame = frameOf(ctx, request, { title: 'Something broke', description: 'Something broke on our side.' })
  return sendPage(ctx, reply, 'error', { frame, id }, 500)
}
