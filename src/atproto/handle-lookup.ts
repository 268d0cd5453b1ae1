import { Resolver } from 'node:dns/promises'
import { l } from '@atproto/lex'
import type { GuardedFetch } from './guarded-fetch.ts'
import { type Did, type Handle, parseDid } from './ids.ts'
import { UpstreamError } from './upstream-error.ts'
import { lexOf, xrpcGet, xrpcUrl } from './xrpc-read.ts'

/** Where a handle points, one way: undefined when nowhere; throws UpstreamError when that cannot be told now. */
export type HandleLookup = (handle: Handle) => Promise<Did | undefined>

const resolvedSchema = l.object({ did: l.string({ format: 'did' }) })

/** Asks a service that answers com.atproto.identity.resolveHandle: on a local network its PDS, since `.test` is in no DNS. */
export function createServiceLookup(options: { service: string; fetch: GuardedFetch; timeoutMs: number }): HandleLookup {
  return async handle => {
    const url = xrpcUrl(options.service, 'com.atproto.identity.resolveHandle', { handle })
    const { answer, refusal } = await xrpcGet(options.fetch, url, { maxBytes: 16 * 1024, totalMs: options.timeoutMs })
    if (refusal !== undefined) return undefined
    const parsed = resolvedSchema.safeParse(await lexOf(answer))
    if (!parsed.success) throw new UpstreamError('bad-answer', answer.host, 'no DID')
    return parseDid(parsed.value.did)
  }
}

/** Asks DNS (`_atproto.<handle>` TXT) and the handle's own host (`/.well-known/atproto-did`) at once; DNS counts first. */
export function createNetworkLookup(options: {
  fetch: GuardedFetch
  timeoutMs: number
  txt?: (name: string) => Promise<string[][]>
}): HandleLookup {
  const resolver = new Resolver({ timeout: options.timeoutMs / 2, tries: 2 })
  const txt = options.txt ?? (name => resolver.resolveTxt(name))
  return async handle => {
    const stop = new AbortController()
    const overHttp = wellKnown(options.fetch, handle, options.timeoutMs, stop.signal)
    const byHost = overHttp.then(
      did => ({ did }),
      (error: unknown) => ({ error }),
    )
    const byName = await didInDns(txt, handle)
    if (byName !== undefined) {
      stop.abort()
      await byHost
      return byName
    }
    const found = await byHost
    if ('did' in found) return found.did
    if (found.error instanceof UpstreamError && found.error.reason !== 'timeout') return undefined
    throw found.error
  }
}

async function didInDns(txt: (name: string) => Promise<string[][]>, handle: Handle): Promise<Did | undefined> {
  const records = await txt(`_atproto.${handle}`).catch(() => [])
  const found = records.map(chunks => chunks.join('')).filter(text => text.startsWith('did='))
  return found.length === 1 ? parseDid(found[0]?.slice('did='.length)) : undefined
}

async function wellKnown(fetch: GuardedFetch, handle: Handle, timeoutMs: number, signal: AbortSignal): Promise<Did | undefined> {
  const answer = await fetch(`https://${handle}/.well-known/atproto-did`, { maxBytes: 4 * 1024, totalMs: timeoutMs, signal })
  if (answer.status !== 200) {
    answer.cancel()
    return undefined
  }
  const text = new TextDecoder().decode(await answer.bytes())
  return parseDid(text.split('\n')[0]?.trim())
}
