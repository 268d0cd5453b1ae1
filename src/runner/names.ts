import type { Identity } from '../atproto/identity.ts'
import { parseDid } from '../atproto/ids.ts'

export interface Names {
  /** The handle, as far as it is known. */
  of(did: string): string | undefined
  /** Looks up those that are not known yet; waits for them, but not for long. */
  learn(dids: Iterable<string>): Promise<void>
}

/** Accounts looked up for one pass, and how long they are waited for in all, in milliseconds. */
const MOST = 100
const PATIENCE_MS = 2_000
const MOST_KEPT = 10_000

/** Handles for sentences. A name that cannot be had is said as its DID, and holds nothing up. */
export function createNames(identity: Identity): Names {
  const known = new Map<string, string | undefined>()
  return {
    of: did => known.get(did),
    async learn(dids) {
      const unknown = [...new Set(dids)].filter(did => !known.has(did)).slice(0, MOST)
      if (unknown.length === 0) return
      if (known.size > MOST_KEPT) known.clear()
      const over = Promise.withResolvers<void>()
      const timer = setTimeout(over.resolve, PATIENCE_MS)
      await Promise.race([over.promise, Promise.all(unknown.map(learnOne))])
      clearTimeout(timer)
    },
  }

  async function learnOne(did: string): Promise<void> {
    const parsed = parseDid(did)
    if (parsed === undefined) return
    const account = await identity.resolveDid(parsed).catch(() => undefined)
    if (account?.handle !== undefined) known.set(did, account.handle)
  }
}
