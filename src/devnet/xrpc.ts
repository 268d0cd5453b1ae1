import { z } from 'zod'

const errorShape = z.object({ error: z.string().optional(), message: z.string().optional() })
const waitMs = 60_000

/** A method call that a server refused. `error` is the XRPC error name. */
export class XrpcFailure extends Error {
  readonly status: number
  readonly error: string

  constructor(method: string, status: number, error: string, message: string) {
    super(`${method}: ${status} ${error}${message === '' ? '' : `: ${message}`}`)
    this.status = status
    this.error = error
  }
}

/** What a call sends: parameters for a query, `input` (JSON) or `bytes` (with their type) for a procedure. */
export interface XrpcRequest {
  params?: Record<string, string | number | boolean | undefined>
  input?: unknown
  bytes?: { data: Uint8Array; type: string }
}

/** Sends a request with a path below the server's address: a session's handler, or a plain fetch. */
export type Send = (path: string, init: RequestInit) => Promise<Response>

/** A method call and its parsed JSON answer. Throws `XrpcFailure` on a refusal, what `send` threw when there was no answer. */
export async function xrpcOver(send: Send, method: string, request: XrpcRequest = {}): Promise<unknown> {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(request.params ?? {})) if (value !== undefined) query.set(key, String(value))
  const path = `/xrpc/${method}${query.size === 0 ? '' : `?${query}`}`
  const response = await send(path, { signal: AbortSignal.timeout(waitMs), ...bodyOf(request) })
  const text = await response.text()
  if (response.ok) return text === '' ? undefined : JSON.parse(text)
  const wrong = errorShape.safeParse(tryJson(text))
  throw new XrpcFailure(method, response.status, wrong.data?.error ?? 'Unknown', wrong.data?.message ?? '')
}

/** A method call to the server at `service`, signed in as nobody. */
export function xrpc(service: string, method: string, request: XrpcRequest = {}): Promise<unknown> {
  return xrpcOver((path, init) => fetch(new URL(path, service), init), method, request)
}

function bodyOf(request: XrpcRequest): RequestInit {
  if (request.bytes !== undefined) {
    return { method: 'POST', headers: { 'content-type': request.bytes.type }, body: new Uint8Array(request.bytes.data) }
  }
  if (request.input === undefined) return {}
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request.input) }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
