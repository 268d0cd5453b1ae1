import {
  type DidDocument,
  DidResolver,
  getHandle,
  getKey,
  getPds,
  PoorlyFormattedDidDocumentError,
  PoorlyFormattedDidError,
  UnsupportedDidMethodError,
  UnsupportedDidWebPathError,
} from '@atproto/identity'
import type { GuardedFetch } from './guarded-fetch.ts'
import { type Did, type Handle, parseHandle } from './ids.ts'
import { UpstreamError } from './upstream-error.ts'
import { asWebFetch } from './web-fetch.ts'

/** What an account's DID document says. Its handle is a claim until the handle points back. */
export interface AccountDocument {
  did: Did
  claimedHandle?: Handle
  /** Address of the account's server. */
  pds?: string
  /** The account's signing key as did:key. */
  signingKey?: string
  services: { id: string; type: string; url: string }[]
}

const MAX_SERVICES = 20

/**
 * Reads DID documents (did:plc from `plcUrl`, did:web from its host). The reader gives undefined when there is no such DID, and throws
 * UpstreamError when that cannot be told now.
 */
export function createDocumentReader(options: {
  plcUrl: string
  fetch: GuardedFetch
  timeoutMs: number
}): (did: Did) => Promise<AccountDocument | undefined> {
  const webFetch = asWebFetch(options.fetch, { maxBytes: 256 * 1024, firstByteMs: options.timeoutMs, totalMs: options.timeoutMs })
  const resolver = new DidResolver({
    plcUrl: options.plcUrl,
    timeout: options.timeoutMs + 1_000,
    fetch: async (input, init) => {
      const answer = await webFetch(input, init)
      if (answer.status === 404 || answer.status === 410) return new Response(null, { status: 404 })
      if (answer.ok) return answer
      const host = new URL(input instanceof Request ? input.url : String(input)).host
      throw new UpstreamError('status', host, `answered ${answer.status}`, { status: answer.status })
    },
  })

  return async did => {
    try {
      const document = await resolver.resolve(did, true)
      return document === null ? undefined : readDocument(did, document)
    } catch (error) {
      if (error instanceof UpstreamError) throw error
      if (
        error instanceof UnsupportedDidMethodError ||
        error instanceof UnsupportedDidWebPathError ||
        error instanceof PoorlyFormattedDidError
      ) {
        return undefined
      }
      const host = did.startsWith('did:plc:') ? new URL(options.plcUrl).host : did.slice('did:web:'.length)
      const detail = error instanceof PoorlyFormattedDidDocumentError ? 'no DID document' : 'no readable answer'
      throw new UpstreamError('bad-answer', host, detail, { cause: error })
    }
  }
}

function readDocument(did: Did, document: DidDocument): AccountDocument {
  const claimedHandle = parseHandle(getHandle(document))
  const pds = httpUrl(getPds(document))
  const signingKey = readKey(document)
  const services = (document.service ?? []).slice(0, MAX_SERVICES).flatMap(({ id, type, serviceEndpoint }) => {
    const url = httpUrl(serviceEndpoint)
    return url === undefined ? [] : [{ id: id.startsWith('#') ? `${did}${id}` : id, type, url }]
  })
  return {
    did,
    services,
    ...(claimedHandle === undefined ? {} : { claimedHandle }),
    ...(pds === undefined ? {} : { pds }),
    ...(signingKey === undefined ? {} : { signingKey }),
  }
}

function readKey(document: DidDocument): string | undefined {
  try {
    return getKey(document)
  } catch {
    return undefined
  }
}

function httpUrl(value: unknown): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.origin : undefined
}
