import { XRPCError } from '@atproto/xrpc-server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Encoded } from './answer-cache.ts'

type Ask = () => Promise<Encoded<object>>

/**
 * Questions that were understood before, by their address as it is written. Many ask the same again and again, signed in as nobody; reading
 * and routing it each time costs more than the answer.
 */
export interface Front {
  /** Keeps how a question is answered. */
  remember(url: string, ask: Ask): void
  /** Answers a question that is kept; false for one that is not, or whose answer is a refusal now. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<boolean>
}

const QUESTIONS = 5_000

export const answerHeaders = { 'cache-control': 'private, max-age=0, must-revalidate', vary: 'authorization' } as const

export function createFront(): Front {
  const kept = new LRUCache<string, Ask>({ max: QUESTIONS })

  async function find(request: FastifyRequest): Promise<Encoded<object> | undefined> {
    if (request.method !== 'GET' || request.headers.authorization !== undefined) return undefined
    try {
      return await kept.get(request.url)?.()
    } catch (error) {
      // The refusal is made anew where all refusals are.
      if (error instanceof XRPCError) return undefined
      throw error
    }
  }

  return {
    remember: (url, ask) => void kept.set(url, ask),
    async answer(request, reply) {
      const found = await find(request)
      if (found === undefined) return false
      reply.headers({ ...answerHeaders, etag: found.etag })
      if (request.headers['if-none-match'] === found.etag) reply.code(304).send()
      else reply.type('application/json; charset=utf-8').send(found.bytes)
      return true
    },
  }
}
