import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Call, Fault, Faults } from './faults.ts'

const claims = z.object({ sub: z.string() })

/** Puts the faults in front of a PDS's own request listener. A call that no fault hits passes untouched. */
export function pdsGate(faults: Faults, inner: RequestListener): RequestListener {
  return (request, response) => {
    const call = readCall(request)
    const hit = call === undefined ? [] : faults.forCall(call)
    if (hit.length === 0) return inner(request, response)
    misbehave(faults, hit, request, response, inner).catch(() => response.destroy())
  }
}

async function misbehave(
  faults: Faults,
  hit: Fault[],
  request: IncomingMessage,
  response: ServerResponse,
  inner: RequestListener,
): Promise<void> {
  for (const fault of hit) {
    const { rule } = fault
    if (rule.fault === 'stall') await stall(faults, fault, rule.ms, response)
    if (rule.fault === 'refuse') {
      const message = 'refused by a fault switch of the local network'
      return answer(request, response, rule.status, JSON.stringify({ error: rule.error, message }))
    }
    if (rule.fault === 'garble') return answer(request, response, 200, rule.body)
    if (rule.fault === 'lose') loseAnswer(response)
  }
  if (!response.destroyed) inner(request, response)
}

/** Waits until the time is over, the fault is cleared, or the caller has gone. */
async function stall(faults: Faults, fault: Fault, ms: number | undefined, response: ServerResponse): Promise<void> {
  const end = Date.now() + (ms ?? Number.POSITIVE_INFINITY)
  const gone = new Promise<void>(resolve => response.once('close', resolve))
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>(resolve => {
    if (ms !== undefined) timer = setTimeout(resolve, ms)
  })
  while (faults.list().some(other => other.id === fault.id) && Date.now() < end && !response.destroyed) {
    await Promise.race([faults.changed(), gone, over])
  }
  clearTimeout(timer)
}

function answer(request: IncomingMessage, response: ServerResponse, status: number, body: string): void {
  // An upload that is refused half-read would block the connection for the next call.
  request.resume()
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), connection: 'close' })
  response.end(body)
}

/** Lets the PDS do its work and throws its answer away: the caller sees a connection that broke. */
function loseAnswer(response: ServerResponse): void {
  response.write = () => true
  response.end = () => {
    response.destroy()
    return response
  }
  response.flushHeaders = () => {}
}

/** What a request asks for and for whom, or undefined when it is no method call. */
function readCall(request: IncomingMessage): Call | undefined {
  const url = new URL(request.url ?? '/', 'http://pds')
  const method = /^\/xrpc\/([a-zA-Z0-9.-]+)$/.exec(url.pathname)?.[1]
  if (method === undefined) return undefined
  const named = ['repo', 'did', 'handle'].flatMap(key => url.searchParams.getAll(key))
  return { method, accounts: [...named, ...bearer(request.headers.authorization)] }
}

/** The account that a token speaks for. It is read, not verified: the PDS behind the gate does that. */
function bearer(header: string | undefined): string[] {
  const payload = /^(?:Bearer|DPoP) [^.]+\.([^.]+)\./i.exec(header ?? '')?.[1]
  if (payload === undefined) return []
  try {
    return [claims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))).sub]
  } catch {
    return []
  }
}
