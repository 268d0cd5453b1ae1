import { type AccountDocument, createDocumentReader } from './did-document.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import { createNetworkLookup, createServiceLookup, type HandleLookup } from './handle-lookup.ts'
import type { Did, Handle } from './ids.ts'
import { remember } from './remember.ts'
import { UpstreamError } from './upstream-error.ts'

export type { AccountDocument } from './did-document.ts'

/** An account as its DID document says, with its handle when, and only when, the handle points back to the same DID. */
export interface Account extends AccountDocument {
  handle?: Handle
  /** The handle that the document claims could not be looked at now, so that nothing is known of it. */
  handleUnread?: boolean
}

export interface Identity {
  /** The account, its handle checked both ways; undefined when there is no such DID. `fresh` passes over what is remembered, unless that is younger than 5 s. Throws UpstreamError. */
  resolveDid(did: Did, options?: { fresh?: boolean }): Promise<Account | undefined>
  /** As `resolveDid`, without a look at the handle: for servers and keys. Throws UpstreamError. */
  resolveDocument(did: Did, options?: { fresh?: boolean }): Promise<AccountDocument | undefined>
  /** The DID that a handle points to and that names the handle in turn; undefined when there is none. Throws UpstreamError. */
  resolveHandle(handle: Handle, options?: { fresh?: boolean }): Promise<Did | undefined>
  /** Forgets what is remembered of an account: its identity changed. */
  forget(did: Did): void
}

export interface IdentityOptions {
  plcUrl: string
  fetch: GuardedFetch
  /** A service that answers com.atproto.identity.resolveHandle; without one, DNS and the handle's own host are asked. */
  handleResolver?: string
  /** Milliseconds since 1970. */
  now: () => number
  /** How long an answer is remembered, in milliseconds. "No such" is remembered for a twentieth of it. */
  ttlMs?: number
  maxEntries?: number
  /** The longest one look-up may take, in milliseconds. */
  timeoutMs?: number
}

/** Who is who: DID documents and handles, remembered within bounds, one look-up at a time for each. */
export function createIdentity(options: IdentityOptions): Identity {
  const { fetch, timeoutMs = 5_000, ttlMs = 10 * 60_000, maxEntries = 10_000, now } = options
  const lookUpHandle: HandleLookup =
    options.handleResolver === undefined
      ? createNetworkLookup({ fetch, timeoutMs })
      : createServiceLookup({ service: options.handleResolver, fetch, timeoutMs })
  const bounds = { ttlMs, maxEntries, now }
  const documents = remember(createDocumentReader({ plcUrl: options.plcUrl, fetch, timeoutMs }), bounds)
  const handles = remember(lookUpHandle, bounds)

  async function resolveDid(did: Did, { fresh = false } = {}): Promise<Account | undefined> {
    const document = await documents.get(did, fresh)
    const claimed = document?.claimedHandle
    if (document === undefined || claimed === undefined) return document
    try {
      return (await handles.get(claimed, fresh)) === did ? { ...document, handle: claimed } : document
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      return { ...document, handleUnread: true }
    }
  }

  async function resolveHandle(handle: Handle, { fresh = false } = {}): Promise<Did | undefined> {
    const did = await handles.get(handle, fresh)
    if (did === undefined) return undefined
    const document = await documents.get(did, fresh)
    return document?.claimedHandle === handle ? did : undefined
  }

  return {
    resolveDid,
    resolveDocument: (did, { fresh = false } = {}) => documents.get(did, fresh),
    resolveHandle,
    forget(did) {
      const claimed = documents.peek(did)?.claimedHandle
      documents.forget(did)
      if (claimed !== undefined) handles.forget(claimed)
    },
  }
}
