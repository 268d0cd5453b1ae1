import { LRUCache } from 'lru-cache'
import type { Identity } from '../../atproto/identity.ts'
import type { Did } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { asUpstream, patienceMs, within } from './patience.ts'

/** Where an account is: at a revision, which stands for all of its records; deleted, deactivated or taken down; or its server does not answer. */
export type Look = { state: 'at'; rev: string } | { state: 'gone' } | { state: 'unread'; server: string; said: string }

export interface Looks {
  /** The account's state as its own server says it now, or said at most `maxAgeMs` ago where nothing told of a change since (NOT-6). Never rejects for what servers do. */
  look(did: Did, options?: { maxAgeMs?: number }): Promise<Look>
  /** What was found last. */
  last(did: Did): Look | undefined
  /** Something told of a change: what was found before does not stand any more. */
  stale(did: Did): void
}

interface Found {
  look: Look
  /** When it was asked, in milliseconds since 1970. */
  at: number
}

/** Requests to one host in a row that nothing spaces, and how many a second come back: half of what a server lets one address ask. */
const BURST = 1_500
const PER_MS = 5 / 1_000

export function createLooks(ctx: { reader: Reader; identity: Identity; now: () => number }): Looks {
  const { reader, identity, now } = ctx
  const found = new LRUCache<Did, Found>({ max: 20_000 })
  const asking = new Map<Did, Promise<Look>>()
  const hosts = new LRUCache<string, { left: number; at: number; closedUntil: number }>({ max: 5_000 })

  function hostOf(name: string): { left: number; at: number; closedUntil: number } {
    const host = hosts.get(name) ?? { left: BURST, at: now(), closedUntil: 0 }
    host.left = Math.min(BURST, host.left + Math.max(0, now() - host.at) * PER_MS)
    host.at = now()
    hosts.set(name, host)
    return host
  }

  async function look(did: Did, { maxAgeMs = 0 } = {}): Promise<Look> {
    const known = found.get(did)
    const age = known === undefined ? Number.POSITIVE_INFINITY : Math.abs(now() - known.at)
    if (known !== undefined && known.look.state !== 'unread' && age < maxAgeMs) return known.look
    // One who asks for what is so now is not given an answer to an earlier question.
    const shared = maxAgeMs > 0 ? asking.get(did) : undefined
    if (shared !== undefined) return await shared
    const answer = ask(did, known)
    asking.set(did, answer)
    try {
      return await answer
    } finally {
      if (asking.get(did) === answer) asking.delete(did)
    }
  }

  async function ask(did: Did, known: Found | undefined): Promise<Look> {
    const at = now()
    let name: string = did
    try {
      return await within(patienceMs, did, async signal => {
        const server = (await identity.resolveDocument(did))?.pds
        if (server !== undefined) name = new URL(server).host
        const host = hostOf(name)
        if (host.closedUntil > at) throw new UpstreamError('status', name, 'asked to wait', { status: 429 })
        // Where the budget is spent, what was found lately stands a little longer.
        if (host.left < 1 && known !== undefined && known.look.state !== 'unread') return known.look
        host.left -= 1
        const commit = await reader.getLatestCommit(did, { signal })
        return keep(did, commit === undefined ? { state: 'gone' } : { state: 'at', rev: commit.rev }, at)
      })
    } catch (error) {
      const { host, message, retryAfter } = asUpstream(error)
      if (retryAfter !== undefined) hostOf(host).closedUntil = now() + retryAfter * 1_000
      return keep(did, { state: 'unread', server: host === did ? name : host, said: message }, at)
    }
  }

  function keep(did: Did, look: Look, at: number): Look {
    found.set(did, { look, at })
    return look
  }

  return {
    look,
    last: did => found.get(did)?.look,
    stale(did) {
      const known = found.get(did)
      if (known !== undefined) found.set(did, { ...known, at: Number.NEGATIVE_INFINITY })
      asking.delete(did)
    },
  }
}
