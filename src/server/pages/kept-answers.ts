import type { FastifyInstance } from 'fastify'
import { encodingFor, LEAST_COMPRESSED, type Packed } from '../http/compression.ts'
import { securityHeaders } from '../http/headers.ts'
import type { PageContext } from './context.ts'
import { pageHeaders } from './send.ts'

const strings = new WeakMap<Buffer, string>()

/** Of a string Node makes one write with the head before it, and of bytes two: with thousands of answers a tenth of their time. */
function inLatin1(bytes: Buffer): string {
  const text = strings.get(bytes) ?? bytes.toString('latin1')
  strings.set(bytes, text)
  return text
}

/**
 * Answers those who ask what changed on a page (`?have=`), bring no cookie and ask what was asked a moment ago, before anything else looks at them:
 * thousands of open pages ask the same at the same time. What they get is what the page's route made for the first of them. To be added before every
 * other hook. These are not counted against the bound on an address: to refuse one costs more than to answer it.
 */
export function answerKept(app: FastifyInstance, ctx: PageContext, packed: Packed): void {
  const { publicUrl, loopback } = ctx.config
  const host = new URL(publicUrl).host
  const head = Object.entries({ ...securityHeaders({ loopback }), ...pageHeaders, vary: `${pageHeaders.vary}, Accept-Encoding` }).flat()
  app.addHook('onRequest', (request, reply, done) => {
    const { url, headers, method } = request.raw
    if (method !== 'GET' || headers.cookie !== undefined || url === undefined || !url.includes('have=')) return done()
    // On loopback another name of this machine is led to the one that cookies belong to.
    if (loopback && headers.host !== host) return done()
    const page = ctx.pageCache.take(url)
    if (page === undefined || page.length === 0) return done()
    const encoding = page.length < LEAST_COMPRESSED ? undefined : encodingFor(headers['accept-encoding'])
    const bytes = encoding === undefined ? page : packed.of(page, encoding)
    if (!Buffer.isBuffer(bytes)) return done()
    reply.hijack()
    const coded = encoding === undefined ? head : [...head, 'content-encoding', encoding]
    reply.raw.writeHead(200, [...coded, 'content-length', String(bytes.length)])
    reply.raw.end(inLatin1(bytes), 'latin1')
  })
}
