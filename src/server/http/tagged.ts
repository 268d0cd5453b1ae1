import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What is sent, and for how many seconds it may be shown without asking again. */
export interface Tagged {
  text: string
  type: string
  seconds: number
}

/** Sends what is the same for everybody, and nothing but a 304 to those who have it already. */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, { text, type, seconds }: Tagged): FastifyReply {
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  reply.headers({ etag: tag, 'cache-control': seconds === 0 ? 'public, no-cache' : `public, max-age=${seconds}` })
  if (reply.statusCode === 200 && matches(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type(type).send(text)
}

/** Whether a list of tags, some of them weak, holds this one. */
function matches(asked: string | undefined, tag: string): boolean {
  if (asked === undefined) return false
  return asked === '*' || asked.split(',').some(each => each.trim().replace(/^W\//, '') === tag)
}
