import type { IncomingMessage } from 'node:http'
import { UpstreamError } from './upstream-error.ts'

/** An answer whose body is read at most once and never past its bound. Reading throws UpstreamError. */
export interface GuardedAnswer {
  status: number
  headers: Headers
  /** Host and port that answered. */
  host: string
  /** The body as it comes. Leaving the loop early closes the connection. */
  body: AsyncIterable<Uint8Array>
  /** The whole body. */
  bytes(): Promise<Uint8Array>
  /** The whole body as JSON; what is no JSON is a `bad-answer`. */
  json(): Promise<unknown>
  /** Lets the body go unread. */
  cancel(): void
}

/** Wraps an HTTP answer with its bounds; gives the refusal when its length is announced to be over them. */
export function readAnswer(
  incoming: IncomingMessage,
  bounds: { host: string; maxBytes: number; signal: AbortSignal | undefined },
): GuardedAnswer | UpstreamError {
  const { host, maxBytes } = bounds
  // An error after the last look at the body concerns nobody, and must not end the program.
  incoming.on('error', () => undefined)
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return tooLarge(host)

  async function* body(): AsyncGenerator<Uint8Array> {
    let taken = 0
    try {
      for await (const chunk of incoming) {
        if (!(chunk instanceof Uint8Array)) throw new UpstreamError('bad-answer', host, 'not bytes')
        taken += chunk.length
        if (taken > maxBytes) throw tooLarge(host)
        yield chunk
      }
    } catch (error) {
      if (error instanceof UpstreamError || bounds.signal?.aborted) throw error
      throw new UpstreamError('refused', host, 'connection lost', { cause: error })
    }
  }

  const stream = body()
  async function bytes(): Promise<Uint8Array> {
    const chunks: Uint8Array[] = []
    for await (const chunk of stream) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  return {
    status: incoming.statusCode ?? 0,
    headers: headersOf(incoming),
    host,
    body: stream,
    bytes,
    async json() {
      const text = new TextDecoder().decode(await bytes())
      try {
        return JSON.parse(text)
      } catch (error) {
        throw new UpstreamError('bad-answer', host, 'no JSON', { cause: error })
      }
    },
    cancel() {
      incoming.destroy()
    },
  }
}

function headersOf(incoming: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headersDistinct)) {
    for (const one of value ?? []) headers.append(name, one)
  }
  return headers
}

function tooLarge(host: string): UpstreamError {
  return new UpstreamError('too-large', host, 'more bytes than allowed')
}
