import { l } from '@atproto/lex'
import type { LexValue } from '@atproto/lex-data'
import { type Did, parseDid } from './ids.ts'
import { callPds, type PdsAnswer } from './pds-call.ts'
import { type AccountSession, SessionGoneError } from './session.ts'
import { quoted } from './write-outcome.ts'

/** What has to be kept to go on with a session later. Both tokens are secrets. */
export interface PasswordTokens {
  did: Did
  /** Address of the account's server. */
  pds: string
  accessJwt: string
  refreshJwt: string
}

export interface PasswordSession extends AccountSession {
  readonly pds: string
  /** Ends the session at the server; whether that was reached or not, it is not used any more here. */
  logOut(): Promise<void>
}

export interface LoginFailure {
  ok: false
  code: 'wrong-password' | 'rate-limited' | 'refused' | 'upstream-failed'
  message: string
  retryAfter?: number
}

export interface PasswordContext {
  fetch: typeof globalThis.fetch
  /** Called after each change, before the new tokens are used, so that they can be kept; undefined when the session has ended. */
  onChange?: (tokens: PasswordTokens | undefined) => void | Promise<void>
  timeoutMs?: number
}

const sessionAnswer = l.object({ did: l.string({ format: 'did' }), accessJwt: l.string(), refreshJwt: l.string() })

/** Logs in at the account's server with a handle or DID and a password or app password. */
export async function logIn(
  ctx: PasswordContext,
  login: { pds: string; identifier: string; password: string },
): Promise<{ ok: true; session: PasswordSession } | LoginFailure> {
  const plain = { fetchHandler: (path: string, init?: RequestInit) => ctx.fetch(new URL(path, login.pds), init) }
  const answer = await callPds(plain, {
    path: '/xrpc/com.atproto.server.createSession',
    method: 'POST',
    body: { type: 'application/json', bytes: JSON.stringify({ identifier: login.identifier, password: login.password }) },
    timeoutMs: ctx.timeoutMs ?? 10_000,
  })
  const tokens = answer.kind === 'ok' ? readTokens(answer.value, login.pds) : undefined
  if (tokens === undefined) return loginFailure(answer)
  await ctx.onChange?.(tokens)
  return { ok: true, session: resumeSession(ctx, tokens) }
}

/** Goes on with a session that was kept. Nothing is asked of the server before the first request. */
export function resumeSession(ctx: PasswordContext, kept: PasswordTokens): PasswordSession {
  let tokens: PasswordTokens | undefined = kept
  let refreshing: Promise<PasswordTokens> | undefined
  const timeoutMs = ctx.timeoutMs ?? 10_000

  function send(path: string, init: RequestInit | undefined, token: string): Promise<Response> {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${token}`)
    return ctx.fetch(new URL(path, kept.pds), { ...init, headers })
  }

  /** New tokens for the old ones, once for all who wait: a refresh token is good for one use. */
  async function refresh(old: PasswordTokens): Promise<PasswordTokens> {
    const asOld = { fetchHandler: (path: string, init?: RequestInit) => send(path, init, old.refreshJwt) }
    const answer = await callPds(asOld, { path: '/xrpc/com.atproto.server.refreshSession', method: 'POST', timeoutMs })
    const fresh = answer.kind === 'ok' ? readTokens(answer.value, kept.pds) : undefined
    if (fresh?.did === kept.did) {
      await ctx.onChange?.(fresh)
      tokens = fresh
      return fresh
    }
    if (answer.kind === 'lost' || (answer.kind === 'refused' && answer.status === 429))
      throw new Error('the session could not be refreshed now')
    tokens = undefined
    await ctx.onChange?.(undefined)
    throw new SessionGoneError('the session has ended')
  }

  async function fetchHandler(path: string, init?: RequestInit): Promise<Response> {
    if (tokens === undefined) throw new SessionGoneError('the session has ended')
    const used = await (refreshing ?? tokens)
    const response = await send(path, init, used.accessJwt)
    if (!(await isExpired(response))) return response
    if (tokens === used) {
      refreshing ??= refresh(used).finally(() => {
        refreshing = undefined
      })
    }
    const fresh = await (refreshing ?? tokens)
    if (fresh === undefined) throw new SessionGoneError('the session has ended')
    return await send(path, init, fresh.accessJwt)
  }

  async function logOut(): Promise<void> {
    const last = tokens
    tokens = undefined
    await ctx.onChange?.(undefined)
    if (last === undefined) return
    const asLast = { fetchHandler: (path: string, init?: RequestInit) => send(path, init, last.refreshJwt) }
    await callPds(asLast, { path: '/xrpc/com.atproto.server.deleteSession', method: 'POST', timeoutMs })
  }

  return { did: kept.did, pds: kept.pds, fetchHandler, logOut }
}

/** True of the answer to an access token whose time is over; any other answer is left unread. */
async function isExpired(response: Response): Promise<boolean> {
  if (response.status !== 400 && response.status !== 401) return false
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  return typeof body === 'object' && body !== null && 'error' in body && body.error === 'ExpiredToken'
}

function readTokens(value: LexValue, pds: string): PasswordTokens | undefined {
  const parsed = sessionAnswer.safeParse(value)
  const did = parsed.success ? parseDid(parsed.value.did) : undefined
  return parsed.success && did !== undefined
    ? { did, pds, accessJwt: parsed.value.accessJwt, refreshJwt: parsed.value.refreshJwt }
    : undefined
}

function loginFailure(answer: PdsAnswer): LoginFailure {
  if (answer.kind === 'session-gone') return { ok: false, code: 'wrong-password', message: 'wrong handle or password' }
  if (answer.kind === 'refused') {
    const code = answer.status === 429 ? 'rate-limited' : 'refused'
    const wait = answer.retryAfter === undefined ? {} : { retryAfter: answer.retryAfter }
    return { ok: false, code, message: `the account's server answered ${answer.status}: ${quoted(answer.message)}`, ...wait }
  }
  const detail = answer.kind === 'lost' ? answer.detail : 'no readable answer'
  return { ok: false, code: 'upstream-failed', message: `the account's server: ${detail}` }
}
