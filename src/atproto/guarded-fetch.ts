/** The one fetch for other people's servers (STO-9): public addresses only, bounded in bytes and time, never led elsewhere. */
import { lookup as systemLookup } from 'node:dns'
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type GuardedAnswer, readAnswer } from './guarded-answer.ts'
import { type AddressRules, checkAddress, createGuardedLookup } from './guarded-lookup.ts'
import { UpstreamError } from './upstream-error.ts'

export interface GuardedRequest {
  /** Most bytes of body that are taken; one more and the answer is refused. */
  maxBytes: number
  /** Until the status line is there, in milliseconds: name look-up and connection included. */
  firstByteMs?: number
  /** Until the last byte is there, in milliseconds. */
  totalMs?: number
  /** When it fires, the call throws the signal's reason. */
  signal?: AbortSignal
  /** How many redirects on the same host are followed; 3 when absent. */
  maxRedirects?: number
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array | string
}

export interface GuardedFetch {
  /** Every status is an answer. Throws UpstreamError for everything else. */
  (url: string | URL, request: GuardedRequest): Promise<GuardedAnswer>
  /** Closes the connections that are kept open. */
  close(): void
}

/** Idle connections are closed after a while: there are more servers than one wants connections to. */
const CONNECTIONS = { keepAlive: true, maxSockets: 64, maxFreeSockets: 8, timeout: 30_000 }

/**
 * A fetch that refuses private addresses (every address a name resolves to is checked, and the checked ones are those connected to), plain http
 * off loopback, redirects to another host, more than `maxBytes`, and more than 5 s to the first byte or 60 s in all. Loopback is let in
 * with `allowLoopback`, for a local network. `lookup` stands in for the system's in tests.
 */
export function createGuardedFetch(options: { allowLoopback: boolean; lookup?: LookupFunction }): GuardedFetch {
  const lookup = options.lookup ?? systemLookup
  const agents = {
    'http:': new HttpAgent({
      ...CONNECTIONS,
      lookup: createGuardedLookup(lookup, { loopback: options.allowLoopback, public: false }),
    }),
    'https:': new HttpsAgent({
      ...CONNECTIONS,
      lookup: createGuardedLookup(lookup, { loopback: options.allowLoopback, public: true }),
    }),
  }

  async function guardedFetch(input: string | URL, request: GuardedRequest): Promise<GuardedAnswer> {
    const method = request.method ?? 'GET'
    const deadline = performance.now() + (request.totalMs ?? 60_000)
    let url = parseUrl(input)
    for (let hop = 0; ; hop++) {
      const answer = await once(url, method, request, deadline)
      const location = isRedirect(answer.status) ? answer.headers.get('location') : null
      if (location === null) return answer
      answer.cancel()
      url = followable(url, location, method, hop < (request.maxRedirects ?? 3))
    }
  }

  async function once(url: URL, method: string, request: GuardedRequest, deadline: number): Promise<GuardedAnswer> {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new UpstreamError('refused', url.host, 'no address for http')
    const rules: AddressRules = { loopback: options.allowLoopback, public: url.protocol === 'https:' }
    const literal = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0) checkAddress(literal, url.host, rules)
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const start = (): ClientRequest =>
      send(url, {
        method,
        agent: agents[url.protocol === 'https:' ? 'https:' : 'http:'],
        headers: { 'accept-encoding': 'identity', ...request.headers },
      })
    // A kept-open connection that the other side was just closing says nothing about the server: ask once more, if asking twice is harmless.
    const tries = method === 'GET' || method === 'HEAD' ? 2 : 1
    for (let tried = 1; ; tried++) {
      try {
        return await exchange(start(), url, request, deadline)
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error
        if (tried >= tries) throw new UpstreamError('refused', url.host, 'connection lost', { cause: error.cause })
      }
    }
  }

  function close(): void {
    agents['http:'].destroy()
    agents['https:'].destroy()
  }

  return Object.assign(guardedFetch, { close })
}

class StaleConnection extends Error {}

/** Sends one request and waits for the status line. */
function exchange(outgoing: ClientRequest, url: URL, request: GuardedRequest, deadline: number): Promise<GuardedAnswer> {
  return new Promise((resolve, reject) => {
    let answered: IncomingMessage | undefined
    const stop = (error: Error): void => {
      if (answered === undefined) outgoing.destroy(error)
      else answered.destroy(error)
    }
    const late = (what: string) => () => stop(new UpstreamError('timeout', url.host, what))
    const left = Math.max(0, deadline - performance.now())
    const firstByte = setTimeout(late('no answer in time'), Math.min(left, request.firstByteMs ?? 5_000))
    const total = setTimeout(late('not all of the answer in time'), left)
    const abort = (): void => stop(asError(request.signal?.reason))
    const done = (): void => {
      clearTimeout(firstByte)
      clearTimeout(total)
      request.signal?.removeEventListener('abort', abort)
    }
    if (request.signal?.aborted) abort()
    else request.signal?.addEventListener('abort', abort, { once: true })

    outgoing.on('error', error => {
      if (answered !== undefined) return
      done()
      if (error instanceof UpstreamError || error === request.signal?.reason) reject(error)
      else if (outgoing.reusedSocket) reject(new StaleConnection('kept-open connection lost', { cause: error }))
      else reject(new UpstreamError('refused', url.host, 'no connection', { cause: error }))
    })
    outgoing.on('response', incoming => {
      answered = incoming
      clearTimeout(firstByte)
      incoming.on('close', done)
      const answer = readAnswer(incoming, { host: url.host, maxBytes: request.maxBytes, signal: request.signal })
      if (answer instanceof UpstreamError) {
        incoming.destroy()
        reject(answer)
      } else resolve(answer)
    })
    outgoing.end(request.body)
  })
}

function parseUrl(input: string | URL): URL {
  const url = URL.parse(String(input))
  if (url === null) throw new UpstreamError('refused', 'no host', 'no address')
  return url
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

/** Where a redirect leads, if that may be followed: a read, on the same host, not from https to http. */
function followable(from: URL, location: string, method: string, mayFollow: boolean): URL {
  const to = URL.parse(location, from.href)
  const same =
    to !== null && (to.origin === from.origin || (to.hostname === from.hostname && from.protocol === 'http:' && to.protocol === 'https:'))
  if (!same || !mayFollow || (method !== 'GET' && method !== 'HEAD')) {
    throw new UpstreamError('redirect', from.host, 'points elsewhere')
  }
  return to
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted')
}
