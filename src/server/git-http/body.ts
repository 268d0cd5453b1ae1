import { PassThrough } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { words } from './words.ts'

export type Body = { ok: true; bytes: Buffer } | { ok: false; status: 400 | 408 | 413 | 503; says: string }

/** Reads requests of fetches. */
export type ReadBody = (request: FastifyRequest) => Promise<Body>

/** Bytes of a request for a fetch, as sent and as unpacked: thousands of wants and haves. */
const mostBytes = 8 * 2 ** 20
/** Bytes of such requests that are held at once, over all clients. */
const heldBytes = 256 * 2 ** 20
/** How long one may take to come, in milliseconds. */
const mostMs = 30_000
const comeAgainMs = 10_000

/**
 * Makes the reader of the requests of fetches: each whole and unpacked, with bounds on its bytes, before and after unpacking, and on its time.
 * Nothing is started for a client that has not said what it wants.
 */
export function createReadBody(bounds: { ms: number } = { ms: mostMs }): ReadBody {
  let held = 0

  return async request => {
    const { raw } = request
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (!/^(x-)?gzip$|^identity$/.test(encoding)) return { ok: false, status: 400, says: words.requestUnreadable() }
    const bytes = encoding === 'identity' ? new PassThrough() : createGunzip()
    const late = setTimeout(() => bytes.destroy(new TooSlow()), Math.min(bounds.ms, mostMs))
    let sent = 0
    const count = (chunk: Buffer) => {
      sent += chunk.length
      if (sent > mostBytes) bytes.destroy(new TooLarge())
    }
    const gone = () => {
      if (!raw.readableEnded) bytes.destroy(new Error('the client went'))
    }
    raw.on('data', count).once('error', gone).once('close', gone).pipe(bytes)
    const kept: Buffer[] = []
    let size = 0
    try {
      for await (const chunk of bytes) {
        size += chunk.length
        held += chunk.length
        kept.push(chunk)
        if (size > mostBytes) throw new TooLarge()
        if (held > heldBytes) return { ok: false, status: 503, says: words.busy(comeAgainMs) }
      }
      return { ok: true, bytes: Buffer.concat(kept) }
    } catch (error) {
      if (error instanceof TooLarge) return { ok: false, status: 413, says: words.requestTooLarge(mostBytes) }
      if (error instanceof TooSlow) return { ok: false, status: 408, says: words.requestSlow() }
      return { ok: false, status: 400, says: words.requestUnreadable() }
    } finally {
      held -= size
      clearTimeout(late)
      raw.off('data', count).off('error', gone).off('close', gone).unpipe(bytes)
    }
  }
}

class TooLarge extends Error {}
class TooSlow extends Error {}
