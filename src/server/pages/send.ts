import type { FastifyReply, FastifyRequest } from 'fastify'
import { isConcerned } from '../../queue/concerned.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { Words } from '../../views/models.ts'
import type { PageModels, PageParts } from '../../views/render.ts'
import { sendNotFound } from '../http/answers.ts'
import { isNobodys, lookAsNobody, visitOf } from '../http/visit.ts'
import type { PageContext } from './context.ts'
import { nearby } from './nearby.ts'
import type { PageOf } from './page-cache.ts'

/** Of every page: what it depends on, and that browsers do not keep it. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  vary: 'HX-Request, Cookie',
  'cache-control': 'no-store',
} as const

/**
 * Sends HTML that depends on who asks and on whether htmx does. Browsers do not keep it: a step back would show what is no longer so, and to whoever
 * sits there after a log-out.
 */
export function sendHtml(reply: FastifyReply, html: string | Buffer, status = html.length === 0 ? 204 : 200): FastifyReply {
  return reply
    .code(status)
    .headers({ ...pageHeaders })
    .send(html)
}

/**
 * Answers with the page that was made a moment ago for the same question, if nothing changed since: many ask the same again and again, and
 * looking for what it is about costs more than sending it. False when there is none.
 */
export function sendKept(ctx: PageContext, request: FastifyRequest, reply: FastifyReply): boolean {
  const page = isNobodys(request) ? ctx.pageCache.take(request.url) : undefined
  if (page !== undefined) sendHtml(reply, page)
  return page !== undefined
}

/**
 * The same for whoever is logged in and has nothing to do with the repository, where what changed is asked: its regions are for them as for nobody.
 * So many may watch a queue that rendering for each would take seconds. `authors`: of pulls on the page that the view may not have.
 */
export function sendKeptToStrangers(
  ctx: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { view, asked, authors = [] }: { view: RepositoryView; asked: { have?: string; mine?: string }; authors?: readonly string[] },
): boolean {
  const viewer = visitOf(request).session?.did
  if (viewer === undefined || asked.have === undefined || asked.mine !== undefined) return false
  if (isConcerned(view, viewer) || authors.includes(viewer)) return false
  lookAsNobody(request)
  return sendKept(ctx, request, reply)
}

/** Sends a page, and keeps it for those who ask the same within the moment. */
export function sendShared(
  ctx: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  html: string,
  ...of: readonly PageOf[]
): FastifyReply {
  return sendHtml(reply, isNobodys(request) ? ctx.pageCache.keep(request.url, html, of) : html)
}

/** For the query of a live page: what its regions are that the reader has. */
export const haveQuery = { have: { type: 'string', maxLength: 1_000 } } as const

/**
 * Sends a live page, or, where it asks what changed since it was made (`?have=`), the regions that differ: nothing where none does. `of` lets it be
 * kept for those who ask the same within the moment.
 */
export function sendLive<N extends keyof PageParts>(
  ctx: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  name: N,
  model: PageModels[N],
  { have, of }: { have?: string | undefined; of?: PageOf | readonly PageOf[] | undefined },
): FastifyReply {
  const html = have === undefined ? ctx.renderer.renderPage(name, model) : ctx.renderer.renderChanges(name, model, have)
  return of === undefined ? sendHtml(reply, html) : sendShared(ctx, request, reply, html, ...[of].flat())
}

/** A 404 page that says what was looked for. */
export function sendMissing(ctx: PageContext, request: FastifyRequest, reply: FastifyReply, says?: Words): FastifyReply {
  const text = says === undefined || typeof says === 'string' ? says : says.filter(part => typeof part === 'string').join('')
  return sendNotFound(ctx, request, reply, text, nearby(ctx, request))
}
