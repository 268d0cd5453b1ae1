import { z } from 'zod'

const errorShape = z.object({ error: z.string().optional(), message: z.string().optional() })

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
  token?: string
}

/** Calls a method by plain HTTP and gives the parsed JSON answer. Throws `XrpcFailure` on a refusal, the fetch's error when there was no answer. */
export async function xrpc(service: string, method: string, request: XrpcRequest = {}): Promise<unknown> {
  const url = new URL(`/xrpc/${method}`, service)
  for (const [key, value] of Object.entries(request.params ?? {})) if (value !== undefined) url.searchParams.set(key, String(value))
  const headers: Record<string, string> = {}
  if (request.token !== undefined) headers.authorization = `Bearer ${request.token}`
  const init: RequestInit = { headers, signal: AbortSignal.timeout(60_000) }
  if (request.bytes !== undefined) {
    headers['content-type'] = request.bytes.type
    Object.assign(init, { method: 'POST', body: request.bytes.data })
  } else if (request.input !== undefined) {
    headers['content-type'] = 'application/json'
    Object.assign(init, { method: 'POST', body: JSON.stringify(request.input) })
  }
  const response = await fetch(url, init)
  const text = await response.text()
  if (response.ok) return text === '' ? undefined : JSON.parse(text)
  const wrong = errorShape.safeParse(tryJson(text))
  throw new XrpcFailure(method, response.status, wrong.data?.error ?? 'Unknown', wrong.data?.message ?? '')
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
