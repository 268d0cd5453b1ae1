import { l } from '@atproto/lex'
import type { LexValue } from '@atproto/lex-data'
import { lexParseJsonBytes } from '@atproto/lex-json'
import type { GuardedAnswer } from './guarded-answer.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import type { Nsid } from './ids.ts'
import { UpstreamError } from './upstream-error.ts'

/** What an XRPC server says when it says no. Both are theirs: for comparing, not for showing. */
export interface XrpcRefusal {
  status: number
  error: string
  message: string
}

export type XrpcParams = Record<string, string | number | boolean | undefined>

export interface XrpcRequest {
  maxBytes: number
  totalMs?: number
  signal?: AbortSignal
  /** `application/json` where nothing else is said. */
  accept?: string
}

/** What was answered; with `refusal` the body has been read already. */
export interface XrpcAnswer {
  answer: GuardedAnswer
  refusal?: XrpcRefusal
}

const refusalSchema = l.object({ error: l.string(), message: l.optional(l.string()) })

/** The address of a method at a service. */
export function xrpcUrl(service: string, method: Nsid, params: XrpcParams): string {
  return new URL(xrpcPath(method, params), service).href
}

/** The path and query of a method; parameters that are undefined are left out. */
export function xrpcPath(method: Nsid, params: XrpcParams): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? `/xrpc/${method}` : `/xrpc/${method}?${query}`
}

/** A query, up to its status line. Gives the answer, or the server's refusal when it is one of the caller's making (4xx but for 429). Throws UpstreamError. */
export async function xrpcGet(fetch: GuardedFetch, url: string, request: XrpcRequest): Promise<XrpcAnswer> {
  const { accept = 'application/json', ...bounds } = request
  const answer = await fetch(url, { ...bounds, headers: { accept } })
  if (answer.status === 200) return { answer }
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) {
    return { answer, refusal: readRefusal(answer.status, await answer.json().catch(() => undefined)) }
  }
  answer.cancel()
  throw new UpstreamError('status', answer.host, `answered ${answer.status}`, { status: answer.status, ...retryAfterOf(answer.headers) })
}

/** An XRPC error body; what is none of that shape reads as an error without a name. */
export function readRefusal(status: number, body: unknown): XrpcRefusal {
  const parsed = refusalSchema.safeParse(body)
  return parsed.success ? { status, error: parsed.value.error, message: parsed.value.message ?? '' } : { status, error: '', message: '' }
}

/** The refusals by which servers say that a record, blob or account is not there; some have a name, some only a sentence. */
export function isNotThere({ status, error, message }: XrpcRefusal): boolean {
  if (status === 404) return true
  if (/^(Record|Blob|Repo)NotFound$|^Repo(Takendown|Deactivated|Suspended)$|^Account(NotFound|Takedown|Deactivated)$/.test(error))
    return true
  return status === 400 && /^(could not locate record|blob not found|could not find repo)/i.test(message)
}

/** The seconds that `retry-after` or `ratelimit-reset` (a point in time) ask to wait, at most an hour. */
export function retryAfterOf(headers: Headers, now: number = Date.now()): { retryAfter?: number } {
  const after = Number.parseInt(headers.get('retry-after') ?? '', 10)
  const reset = Number.parseInt(headers.get('ratelimit-reset') ?? '', 10) - Math.floor(now / 1000)
  const seconds = Number.isNaN(after) ? reset : after
  return Number.isNaN(seconds) ? {} : { retryAfter: Math.min(3600, Math.max(1, seconds)) }
}

/** The body in atproto's data model: links are CIDs, bytes are bytes. Throws UpstreamError `bad-answer`. */
export async function lexOf(answer: GuardedAnswer): Promise<LexValue> {
  const bytes = await answer.bytes()
  try {
    return lexParseJsonBytes(bytes, { strict: false })
  } catch (error) {
    throw new UpstreamError('bad-answer', answer.host, 'no JSON', { cause: error })
  }
}
