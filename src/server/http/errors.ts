import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import type { Refusal } from '../refusals.ts'
import { refusals } from '../words.ts'
import { sendBroken, sendNotFound, sendRefusal } from './answers.ts'
import { securityHeaders } from './headers.ts'

/** A refusal that a hook or a plugin can only throw; the error handler carries it to the person. */
export class RefusedRequest extends Error {
  readonly refusal: Refusal
  readonly statusCode: number
  constructor(refusal: Refusal, statusCode: number) {
    super(refusal.message)
    this.refusal = refusal
    this.statusCode = statusCode
  }
}

/**
 * The one place where what was thrown becomes an answer. What the other side did wrong is a refusal in words; everything else is logged under an
 * id, and the id is all that the person sees of it.
 */
export function handleErrors(app: FastifyInstance, ctx: Context): void {
  app.setErrorHandler((error: FastifyError | RefusedRequest, request, reply) => {
    const refusal = refusalOf(error)
    if (refusal !== undefined) return sendRefusal(ctx, request, reply, refusal, error.statusCode ?? 400)
    return broken(ctx, error, request, reply)
  })
}

/**
 * Answers an address that cannot be decoded, or has a part that is too long. It reaches no hook and no error handler, so that it gets here what
 * every answer has from them.
 */
export function answerBadAddress(ctx: Context, fault: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({ ...securityHeaders(ctx.config) })
  try {
    return sendRefusal(ctx, request, reply, refusalOf(fault) ?? refusals.badRequest(), fault.statusCode ?? 400)
  } catch (error) {
    return broken(ctx, error, request, reply)
  }
}

/** The answer to addresses that lead nowhere, with the scope's hooks before it: the page says who is logged in. */
export function handleNotFound(app: FastifyInstance, ctx: Context): void {
  app.setNotFoundHandler((request, reply) => sendNotFound(ctx, request, reply))
}

/** Logs what should not have happened and answers with its id. A page that cannot be made is said in plain text. */
function broken(ctx: Context, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const id = ctx.ids.error()
  request.log.error({ err: error, errorId: id }, 'unexpected error')
  try {
    return sendBroken(ctx, request, reply, id)
  } catch (second) {
    request.log.error({ err: second, errorId: id }, 'the error page could not be made')
    return reply.code(500).type('text/plain; charset=utf-8').send(`Something broke on our side: ${id}`)
  }
}

/** What a thrown thing says about the request, when it is the request that is at fault. */
function refusalOf(error: FastifyError | RefusedRequest): Refusal | undefined {
  if (error instanceof RefusedRequest) return error.refusal
  const status = error.statusCode
  if (status === undefined || status < 400 || status >= 500) return undefined
  if (status === 413 || status === 414 || status === 431) return refusals.tooLarge()
  if (status === 415) return refusals.unsupportedType()
  if (status === 405) return refusals.methodNotAllowed()
  return refusals.badRequest(error.validation?.[0]?.instancePath.slice(1) || undefined)
}
