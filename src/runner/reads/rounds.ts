import type { Identity } from '../../atproto/identity.ts'
import type { Did } from '../../atproto/ids.ts'
import { asUpstream } from './patience.ts'

/** Looks at accounts of one host are at least so far apart, in milliseconds: half of what a server lets one address ask. */
const SPACING_MS = 200

export interface Rounds {
  /** Whose turn comes; those who are in it already keep theirs. */
  set(dids: ReadonlySet<Did>): void
  /** How long a round takes now, in milliseconds: longer than asked for where a host has too many accounts. */
  interval(): number
  stop(): Promise<void>
}

interface Host {
  dids: Did[]
  next: number
  timer?: NodeJS.Timeout | undefined
}

/** Looks at every account once a round, evenly spaced per host (NOT-6). `look` must not reject. */
export function createRounds(ctx: { identity: Identity; everyMs: number; look: (did: Did) => Promise<void> }): Rounds {
  const { identity, everyMs } = ctx
  const hosts = new Map<string, Host>()
  const hostOf = new Map<Did, string>()
  const looking = new Map<Did, Promise<void>>()
  let wanted: ReadonlySet<Did> = new Set()
  let isStopped = false

  async function place(did: Did): Promise<void> {
    hostOf.set(did, '')
    const name = await nameOf(did)
    if (isStopped || !wanted.has(did)) return void hostOf.delete(did)
    hostOf.set(did, name)
    const host: Host = hosts.get(name) ?? { dids: [], next: 0 }
    hosts.set(name, host)
    host.dids.push(did)
    // A host with more accounts comes round faster between them.
    clearTimeout(host.timer)
    wait(host)
  }

  /** Whose server cannot be told now is asked on its own account; looking says more. */
  async function nameOf(did: Did): Promise<string> {
    try {
      const server = (await identity.resolveDocument(did))?.pds
      return server === undefined ? did : new URL(server).host
    } catch (error) {
      asUpstream(error)
      return did
    }
  }

  function wait(host: Host): void {
    host.timer = setTimeout(() => turn(host), roundOf(host) / Math.max(1, host.dids.length))
    host.timer.unref()
  }

  function roundOf(host: Host): number {
    return Math.max(everyMs, host.dids.length * SPACING_MS)
  }

  function turn(host: Host): void {
    if (isStopped) return
    const did = host.dids[host.next % Math.max(1, host.dids.length)]
    host.next = (host.next + 1) % Math.max(1, host.dids.length)
    if (did !== undefined && !looking.has(did)) {
      const look = ctx.look(did).finally(() => looking.delete(did))
      looking.set(did, look)
    }
    if (host.dids.length > 0) wait(host)
  }

  return {
    set(dids) {
      wanted = dids
      for (const [name, host] of hosts) {
        host.dids = host.dids.filter(did => dids.has(did) || !hostOf.delete(did))
        if (host.dids.length > 0) continue
        clearTimeout(host.timer)
        hosts.delete(name)
      }
      for (const did of dids) if (!hostOf.has(did)) void place(did)
    },
    interval: () => Math.max(everyMs, ...[...hosts.values()].map(roundOf)),
    async stop() {
      isStopped = true
      for (const host of hosts.values()) clearTimeout(host.timer)
      await Promise.all(looking.values())
    },
  }
}
