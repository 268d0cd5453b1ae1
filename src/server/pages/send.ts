import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Words } from '../../views/models.ts'
import type { PageModels, PageParts } from '../../views/render.ts'
import { sendNotFound } from '../http/answers.ts'
import { visitOf } from '../http/visit.ts'
import type { PageContext } from './context.ts'

/** Sends HTML that depends on who asks and on whether htmx does. */
export function sendHtml(reply: FastifyReply, html: string, status = 200): FastifyReply {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .headers({ vary: 'HX-Request, Cookie', 'cache-control': 'private, no-cache' })
    .send(html)
}

/**
 * Sends a live page, or the one region of it that `part` names. What is asked without any cookie is the same for everybody and is rendered
 * once per version and second.
 */
export function sendLive<N extends keyof PageParts>(
  ctx: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  page: { name: N; version: number; part?: PageParts[N] | undefined; model: () => PageModels[N] },
): FastifyReply {
  const { name, part, model } = page
  const make = () => (part === undefined ? ctx.renderer.renderPage(name, model()) : ctx.renderer.renderPart(name, part, model()))
  const shared = request.headers.cookie === undefined && visitOf(request).csrf === ''
  return sendHtml(reply, shared ? ctx.pageCache.get(request.url, page.version, make) : make())
}

/** A 404 page that says what was looked for. */
export function sendMissing(ctx: PageContext, request: FastifyRequest, reply: FastifyReply, says: Words): FastifyReply {
  return sendNotFound(ctx, request, reply, typeof says === 'string' ? says : says.filter(part => typeof part === 'string').join(''))
}
