import type { LexValue } from '@atproto/lex-data'
import { lexParseJsonBytes } from '@atproto/lex-json'
import { type AccountSession, SessionGoneError } from './session.ts'
import { readRefusal, retryAfterOf } from './xrpc-read.ts'

/** How one request to the account's server went. */
export type PdsAnswer =
  | { kind: 'ok'; value: LexValue; date: string | null }
  /** The server says no, and has done nothing. */
  | { kind: 'refused'; status: number; error: string; message: string; retryAfter?: number; date: string | null }
  /** Logging in again is all that helps. */
  | { kind: 'session-gone' }
  /**
   * Done or not done: `answered` when the server itself said that it failed (nothing of it is under way any more), else no answer, a
   * broken one, or one of something in between; `slow` when the wait was over.
   */
  | { kind: 'lost'; answered: boolean; slow: boolean; detail: string; date: string | null }

export interface PdsCall {
  /** `/xrpc/…` */
  path: string
  method: 'GET' | 'POST'
  body?: { type: string; bytes: Uint8Array | string }
  timeoutMs: number
}

const MAX_ANSWER = 4 * 2 ** 20

/** One request in the name of the account, with a bounded wait and a bounded answer. Never throws. */
export async function callPds(session: Pick<AccountSession, 'fetchHandler'>, call: PdsCall): Promise<PdsAnswer> {
  const signal = AbortSignal.timeout(Math.ceil(call.timeoutMs))
  try {
    const response = await session.fetchHandler(call.path, {
      method: call.method,
      signal,
      redirect: 'manual',
      headers: { accept: 'application/json', ...(call.body && { 'content-type': call.body.type }) },
      ...(call.body && { body: typeof call.body.bytes === 'string' ? call.body.bytes : new Uint8Array(call.body.bytes) }),
    })
    return readResponse(response.status, response.headers, await bytesOf(response))
  } catch (error) {
    if (error instanceof SessionGoneError) return { kind: 'session-gone' }
    const slow = signal.aborted
    return { kind: 'lost', answered: false, slow, detail: slow ? 'no answer in time' : 'connection lost', date: null }
  }
}

function readResponse(status: number, headers: Headers, bytes: Uint8Array | undefined): PdsAnswer {
  const date = headers.get('date')
  const value = bytes && parse(bytes)
  if (status === 200) {
    return value === undefined
      ? { kind: 'lost', answered: false, slow: false, detail: 'no readable answer', date }
      : { kind: 'ok', value, date }
  }
  const { error, message } = readRefusal(status, value)
  // A server answers 401 as well to an account that is deactivated or taken down; logging in again does not help that.
  if (status === 401 && !error.startsWith('Account')) return { kind: 'session-gone' }
  if (status >= 400 && status < 500) return { kind: 'refused', status, error, message, date, ...retryAfterOf(headers) }
  return { kind: 'lost', answered: status === 500 && error !== '', slow: false, detail: `answered ${status}`, date }
}

function parse(bytes: Uint8Array): LexValue | undefined {
  try {
    return lexParseJsonBytes(bytes, { strict: false })
  } catch {
    return undefined
  }
}

/** The body, or undefined when it is over the bound. */
async function bytesOf(response: Response): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let taken = 0
  for await (const chunk of response.body) {
    taken += chunk.length
    if (taken > MAX_ANSWER) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
