import type { GuardedFetch } from './guarded-fetch.ts'

/**
 * The guarded fetch in the shape of the platform's, for libraries that take one (identity, OAuth). Bodies are read whole, both ways. The first
 * byte of an answer to an upload comes when the upload is through: a session that uploads needs a `firstByteMs` to match.
 */
export function asWebFetch(
  fetch: GuardedFetch,
  bounds: { maxBytes: number; firstByteMs?: number; totalMs?: number },
): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
    const answer = await fetch(request.url, {
      ...bounds,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      signal: request.signal,
      ...(request.redirect === 'follow' ? {} : { maxRedirects: 0 }),
      ...(body === undefined ? {} : { body }),
    })
    const bytes = await answer.bytes()
    const bodiless = answer.status === 204 || answer.status === 304 || request.method === 'HEAD'
    return new Response(bodiless ? null : new Uint8Array(bytes), { status: answer.status, headers: answer.headers })
  }
}
