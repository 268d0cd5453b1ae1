import { pipeline, Readable } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { encodingFor } from './compression.ts'

/** Answers that are sent at once, and how long one whose reader takes nothing is waited for, in milliseconds. */
const MOST = 64
const IDLE_MS = 60_000

/** Answers of any length: each holds a piece of its text, and what compresses it, for as long as its reader takes to read it. */
export interface LongAnswers {
  /**
   * Sends a text as it is made, compressed on its way where the reader takes that. A reader that takes nothing any more is left. False when as many are
   * being sent as may be, and nothing is done then.
   */
  send(reply: FastifyReply, text: AsyncIterable<string>): boolean
}

export function createLongAnswers({ most = MOST, idleMs = IDLE_MS }: { most?: number; idleMs?: number } = {}): LongAnswers {
  let open = 0

  return {
    send(reply, text) {
      if (open >= most) return false
      const { raw } = reply
      if (!raw.destroyed) {
        open += 1
        raw.once('close', () => {
          open -= 1
        })
        raw.setTimeout(idleMs, () => raw.destroy())
      }
      const source = Readable.from(text)
      const encoding = encodingFor(reply.request.headers['accept-encoding'])
      if (encoding === undefined) {
        reply.send(source)
        return true
      }
      // A copy that cannot be read on, or a reader that leaves, ends both.
      const packed = encoding === 'br' ? createBrotliCompress({ params: brotli }) : createGzip({ level: 3 })
      pipeline(source, packed, () => undefined)
      reply.header('content-encoding', encoding).send(packed)
      return true
    },
  }
}

/** Quickly, and looking back over 256 KB, not over 4 MB that would be held for each. */
const brotli = { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: 18 }
