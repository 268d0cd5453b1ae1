import { createServer, InternalServerError, XRPCError } from '@atproto/xrpc-server'
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { RefusedRequest } from '../http/errors.ts'
import { xrpcName } from '../refusals.ts'
import { createFront } from './front.ts'
import { addMethods } from './methods.ts'

/** The largest input of a procedure, in bytes. */
const INPUT_BYTES = 256 * 1024
/** The longest address, in characters. */
const MAX_URL = 4_096

const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, retry-after',
  'cross-origin-resource-policy': 'cross-origin',
} as const
const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'authorization, content-type, if-none-match, atproto-accept-labelers, atproto-proxy',
  'access-control-max-age': '86400',
} as const

/**
 * Mounts the XRPC methods. @atproto/xrpc-server is an Express app and wants the request unread: the answer is taken out of Fastify's hands here,
 * with the headers set so far, and this scope has no parsers. No cookie is read, so that answers may be had from any origin.
 */
export function mountXrpc(app: FastifyInstance, ctx: Context): void {
  const xrpc = createServer(undefined, {
    // Answers are made here from types that the lexicons gave; tests hold them against the lexicons.
    validateResponse: false,
    payload: { jsonLimit: INPUT_BYTES, textLimit: INPUT_BYTES, blobLimit: INPUT_BYTES },
    errorParser: error => errorOf(ctx, error),
  })

  xrpc.router.disable('x-powered-by')
  const front = createFront()
  addMethods(xrpc, ctx, front)

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(corsHeaders)
    done(request.url.length > MAX_URL ? new RefusedRequest({ code: 'too-large', message: 'The address is too long.' }, 414) : undefined)
  })
  app.setErrorHandler((error: FastifyError | RefusedRequest, request, reply) => answerError(ctx, error, request, reply))
  app.options('/xrpc/*', (_request, reply) => reply.code(204).headers(preflightHeaders).send())
  app.route({
    method: ['GET', 'POST'],
    url: '/xrpc/*',
    async handler(request, reply) {
      if (await front.answer(request, reply)) return reply
      reply.hijack()
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) reply.raw.setHeader(name, value)
      }
      Object.assign(request.raw, { log: quietLog(request.log) })
      xrpc.router(request.raw, reply.raw)
    },
  })
}

/** What went wrong inside a method, as the answer says it: an error with a name, or an id that is in the log. */
function errorOf(ctx: Context, error: unknown): XRPCError {
  const known = XRPCError.fromError(error)
  if (known.statusCode !== 500) return known
  const id = ctx.ids.error()
  ctx.metrics.unexpected.inc()
  ctx.logger.error({ err: error, errorId: id }, 'unexpected error')
  return new BrokenError(id)
}

class BrokenError extends InternalServerError {
  readonly id: string
  constructor(id: string) {
    super()
    this.id = id
  }
  override get payload() {
    return { error: 'InternalServerError', message: `Something broke on our side: ${this.id}` }
  }
}

/** xrpc-server writes every refusal into the log as an error; here refusals are no news, and faults were logged with their id. */
function quietLog(log: FastifyBaseLogger) {
  return { error: (fields: unknown, message: string) => log.debug(fields, message) }
}

/** Refusals from before a method is reached: limits and bounds. */
function answerError(ctx: Context, error: FastifyError | RefusedRequest, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Limits come before this scope's own hooks.
  reply.headers(corsHeaders)
  if (error instanceof RefusedRequest) {
    const { code, message, advice } = error.refusal
    return reply.code(error.statusCode).send({ error: xrpcName(code), message: advice === undefined ? message : `${message} ${advice}` })
  }
  const status = error.statusCode ?? 500
  if (status < 500) return reply.code(status).send({ error: 'InvalidRequest', message: 'The request cannot be read.' })
  const id = ctx.ids.error()
  ctx.metrics.unexpected.inc()
  request.log.error({ err: error, errorId: id }, 'unexpected error')
  return reply.code(500).send({ error: 'InternalServerError', message: `Something broke on our side: ${id}` })
}
