import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The tokens in forms: each belongs to one session, or to one browser that is not logged in, and to no other. */
export interface FormTokens {
  /** A token for what a browser holds: the id in its session cookie, else the secret in its form cookie. Each is another, and all of them match. */
  make(bearer: { kind: 'session' | 'form'; secret: string }): string
  matches(token: unknown, bearer: { kind: 'session' | 'form'; secret: string }): boolean
}

/** Bytes of a digest, and of the mask before it. */
const LENGTH = 32

/**
 * Tokens are an HMAC over the cookie's value, so that nothing is kept and a page can be sent twice, under a mask that is another each time: of what
 * is the same in every page and compressed with it, the size of pages would tell (BREACH). `key` is 32 bytes or more.
 */
export function createFormTokens(key: Uint8Array, random: (bytes: number) => Buffer = randomBytes): FormTokens {
  const digest = (bearer: { kind: string; secret: string }) => createHmac('sha256', key).update(`${bearer.kind}:${bearer.secret}`).digest()
  return {
    make(bearer) {
      const mask = random(LENGTH)
      return Buffer.concat([mask, masked(digest(bearer), mask)]).toString('base64url')
    },
    matches(token, bearer) {
      if (typeof token !== 'string' || token.length > 128) return false
      const given = Buffer.from(token, 'base64url')
      if (given.length !== 2 * LENGTH) return false
      return timingSafeEqual(masked(given.subarray(LENGTH), given.subarray(0, LENGTH)), digest(bearer))
    },
  }
}

function masked(bytes: Buffer, mask: Buffer): Buffer {
  return Buffer.from(bytes.map((byte, at) => byte ^ (mask[at] ?? 0)))
}
