import { DidResolver, HandleResolver, IdResolver } from '@atproto/identity'
import { z } from 'zod'
import { retried } from './retried.ts'

const answer = z.object({ did: z.string() })

/** Signing keys are asked for on each commit and hardly ever change; the firehose asks afresh itself when a signature does not fit. */
class KeyCache extends DidResolver {
  readonly #keys = new Map<string, string>()

  override async resolveAtprotoKey(did: string, forceRefresh = false): Promise<string> {
    const known = this.#keys.get(did)
    if (known !== undefined && !forceRefresh) return known
    const key = await retried(() => super.resolveAtprotoKey(did, forceRefresh))
    this.#keys.set(did, key)
    return key
  }
}

/** `.test` handles stand in no DNS: the PDS that gave them out is asked. */
class PdsHandles extends HandleResolver {
  readonly #pdsUrl: string

  constructor(pdsUrl: string) {
    super()
    this.#pdsUrl = pdsUrl
  }

  override async resolve(handle: string): Promise<string | undefined> {
    const url = new URL('/xrpc/com.atproto.identity.resolveHandle', this.#pdsUrl)
    url.searchParams.set('handle', handle)
    const response = await fetch(url)
    if (!response.ok) return undefined
    return answer.parse(await response.json()).did
  }
}

/** Resolves the identities of a local network: DIDs by its PLC directory over plain HTTP, handles by its PDS. */
export function localResolver(plcUrl: string, pdsUrl: string): IdResolver {
  const resolver = new IdResolver({ plcUrl, fetch: globalThis.fetch })
  resolver.did = new KeyCache({ plcUrl, fetch: globalThis.fetch })
  resolver.handle = new PdsHandles(pdsUrl)
  return resolver
}
