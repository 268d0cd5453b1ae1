import { randomBytes, randomInt } from 'node:crypto'

/** Makers of names that nobody can guess or that only have to differ. Tests give their own. */
export interface Ids {
  /** 256 random bits, as base64url: session ids and form cookies. */
  secret(): string
  /** The number that a person sees when something broke, such as `e-7f3a-19c2`. */
  error(): string
  /** 0 to 1023: keeps the record keys of two programs of one account apart (REC-7). */
  clock(): number
  /** Of a request, for the log. */
  request(): string
}

export function createIds(): Ids {
  let requests = 0
  const start = randomBytes(3).toString('hex')
  return {
    secret: () => randomBytes(32).toString('base64url'),
    error: () => `e-${randomBytes(2).toString('hex')}-${randomBytes(2).toString('hex')}`,
    clock: () => randomInt(1024),
    request: () => `${start}-${++requests}`,
  }
}
