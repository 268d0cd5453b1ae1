import { createHmac, timingSafeEqual } from 'node:crypto'

/** The tokens in forms: each belongs to one session, or to one browser that is not logged in, and to no other. */
export interface FormTokens {
  /** The token for what a browser holds: the id in its session cookie, else the secret in its form cookie. */
  make(bearer: { kind: 'session' | 'form'; secret: string }): string
  matches(token: unknown, bearer: { kind: 'session' | 'form'; secret: string }): boolean
}

/** Tokens are an HMAC over the cookie's value, so that nothing is kept and a page can be sent twice. `key` is 32 bytes or more. */
export function createFormTokens(key: Uint8Array): FormTokens {
  const digest = (bearer: { kind: string; secret: string }) => createHmac('sha256', key).update(`${bearer.kind}:${bearer.secret}`).digest()
  return {
    make: bearer => digest(bearer).toString('base64url'),
    matches(token, bearer) {
      if (typeof token !== 'string' || token.length > 64) return false
      const given = Buffer.from(token, 'base64url')
      const wanted = digest(bearer)
      return given.length === wanted.length && timingSafeEqual(given, wanted)
    },
  }
}
