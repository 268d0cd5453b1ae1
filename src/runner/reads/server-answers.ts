/** What the server beside which a runner works is asked, and what it answers, bounded. The address is the operator's own word and may be one that only the runner can reach (WHO-6). */
import { z } from 'zod'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { readRefusal, retryAfterOf, type XrpcRefusal } from '../../atproto/xrpc-read.ts'

export interface ServerCall {
  /** `/xrpc/…` or another path. */
  path: string
  maxBytes: number
  /** JSON to post; a question where it is absent. */
  input?: string
  /** A service token. */
  token?: string
  /** In milliseconds. */
  timeoutMs?: number
}

export type ServerAnswer = { ok: true; body: unknown } | { ok: false; refusal: XrpcRefusal }

/** One request. What the server itself refuses is a value; everything else is an UpstreamError. Redirects are not followed. */
export async function askServer(server: { url: string; fetch: typeof globalThis.fetch }, call: ServerCall): Promise<ServerAnswer> {
  const { host } = new URL(server.url)
  const signal = AbortSignal.timeout(call.timeoutMs ?? 10_000)
  try {
    const response = await server.fetch(new URL(call.path, server.url), {
      method: call.input === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      signal,
      headers: {
        accept: 'application/json',
        ...(call.input === undefined ? {} : { 'content-type': 'application/json' }),
        ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
      },
      ...(call.input === undefined ? {} : { body: call.input }),
    })
    const body = parse(await textOf(response, host, call.maxBytes))
    if (response.status === 200) return { ok: true, body: body ?? noJson(host, call) }
    if (response.status >= 400 && response.status < 500 && response.status !== 429) {
      return { ok: false, refusal: readRefusal(response.status, body) }
    }
    if (response.status >= 300 && response.status < 400) throw new UpstreamError('redirect', host, 'points elsewhere')
    throw new UpstreamError('status', host, `answered ${response.status}`, { status: response.status, ...retryAfterOf(response.headers) })
  } catch (error) {
    if (error instanceof UpstreamError) throw error
    if (signal.aborted) throw new UpstreamError('timeout', host, 'no answer in time')
    throw new UpstreamError('refused', host, 'no connection', { cause: error })
  }
}

/** An answer to a procedure may be empty. */
function noJson(host: string, call: ServerCall): unknown {
  if (call.input !== undefined) return {}
  throw new UpstreamError('bad-answer', host, 'no JSON')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function textOf(response: Response, host: string, maxBytes: number): Promise<string> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let taken = 0
  for await (const chunk of response.body) {
    taken += chunk.length
    if (taken > maxBytes) throw new UpstreamError('too-large', host, 'more bytes than allowed')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const page = z.object({
  version: z.string().min(1).max(64),
  unchanged: z.boolean().optional(),
  records: z.array(z.unknown()),
  gone: z.array(z.object({ did: z.string() })).optional(),
  issues: z.array(z.object({ uri: z.string() })).optional(),
  cursor: z.string().min(1).max(256).optional(),
})

/** A page of `dev.knotless.getQueueRecords`; its records are held against their lexicons one by one. Undefined for an answer of another shape. */
export function readQueuePage(body: unknown): z.output<typeof page> | undefined {
  return page.safeParse(body).data
}

const indexed = z.object({
  uri: z.string().max(8_192),
  cid: z.string().min(1).max(256),
  seenAt: z.iso.datetime({ offset: true }),
  backfilled: z.boolean(),
  value: z.record(z.string(), z.unknown()),
})

export type Indexed = z.output<typeof indexed>

export function readIndexed(entry: unknown): Indexed | undefined {
  return indexed.safeParse(entry).data
}

const document = z.object({ id: z.string() })

export function readDocumentId(body: unknown): string | undefined {
  return document.safeParse(body).data?.id
}

const status = z.object({ gateway: z.object({ did: z.string().optional(), delegated: z.boolean() }) })

/** What a merge status says of the gateway: the one that the repository names, and whether the owner lets this server write. */
export function readGateway(body: unknown): { did?: string | undefined; delegated: boolean } | undefined {
  return status.safeParse(body).data?.gateway
}
