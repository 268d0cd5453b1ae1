import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { samePath } from '../http/paths.ts'
import { furtherRights } from './client-metadata.ts'

/** What a log-in remembers while the person is at their own server. It lies here, encrypted; the browser carries only its number. */
export interface LogInState {
  /** Where to go afterwards. */
  next: string
  /** What was typed, for the form in case that it comes back. */
  handle: string
  /** SHA-256 of the secret in the browser's cookie. */
  browser: string
  /** Set when an account that is logged in was asked for a further right. */
  asks?: (typeof furtherRights)[number] | undefined
}

const shape = z.object({ next: z.string(), handle: z.string(), browser: z.string(), asks: z.enum(furtherRights).optional() })

/** Binds a log-in to the browser that began it: an answer brought by another one logs nobody in. */
export function writeState({ secret, ...log }: Omit<LogInState, 'browser'> & { secret: string }): string {
  return JSON.stringify({ ...log, browser: digest(secret).toString('base64url') } satisfies LogInState)
}

export function readState(text: string | undefined): LogInState | undefined {
  if (text === undefined) return undefined
  try {
    const state = shape.parse(JSON.parse(text))
    return { ...state, next: samePath(state.next) }
  } catch {
    return undefined
  }
}

/** Whether a state was begun by the browser that holds this secret. */
export function isBrowsersOwn(state: LogInState | undefined, secret: string | undefined): boolean {
  if (state === undefined || secret === undefined) return false
  const wanted = Buffer.from(state.browser, 'base64url')
  const given = digest(secret)
  return wanted.length === given.length && timingSafeEqual(wanted, given)
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
