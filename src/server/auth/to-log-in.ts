import type { FastifyReply, FastifyRequest } from 'fastify'
import { loginPath } from '../../views/paths.ts'
import { isFragment } from '../http/frame.ts'
import { samePath } from '../http/paths.ts'
import { isSafe } from '../http/same-site.ts'

/**
 * Sends a person to the log-in and, afterwards, back to the page they were on (`next` where that is another). htmx is told to go there, since it
 * would put the log-in page into the box.
 */
export function sendToLogIn(
  publicUrl: string,
  request: FastifyRequest,
  reply: FastifyReply,
  next = pageOf(publicUrl, request),
): FastifyReply {
  const path = loginPath(next)
  reply.header('cache-control', 'no-store')
  if (isFragment(request)) return reply.code(401).header('hx-redirect', path).type('text/plain; charset=utf-8').send('Log in first.')
  return reply.redirect(path, 303)
}

/** The page that a request belongs to: its own address, or for a form the page it was sent from. */
function pageOf(publicUrl: string, request: FastifyRequest): string {
  if (isSafe(request.method) && !isFragment(request)) return samePath(request.url)
  const from = request.headers['hx-current-url'] ?? request.headers.referer
  const url = typeof from === 'string' ? URL.parse(from) : null
  return url !== null && url.origin === publicUrl ? samePath(`${url.pathname}${url.search}`) : '/'
}
