import { type AtUri, type Did, parseDid } from '../../atproto/ids.ts'
import type { StreamEvent } from '../../indexer/ingest/events.ts'
import type { Doors } from '../types.ts'
import { bellsOf, type Watched } from './bells.ts'
import type { Look } from './looks.ts'
import type { RunnerReads } from './reads.ts'
import { createRounds } from './rounds.ts'
import type { ReadsContext } from './stores.ts'
import { type BellStream, type BellTiming, followBells } from './stream.ts'

/** How often an account that does not matter to a repository may ring it, in milliseconds: the last ring is late, not lost. */
const STRANGE_MS = 2_000

export interface DoorsOptions {
  reads: RunnerReads
  /** Jetstream's address, `ws://…/subscribe`. */
  jetstreamUrl: string
  timing?: Partial<BellTiming> | undefined
}

export interface RunnerDoors extends Doors {
  /** Whether Jetstream is being heard. */
  listening(): boolean
}

/** The doors of every repository of a runner (NOT-2, NOT-3, NOT-6). */
export function createDoors(ctx: ReadsContext, { reads, jetstreamUrl, timing }: DoorsOptions): RunnerDoors {
  const { settings, identity, log } = ctx
  const { looks } = reads.stores
  const accountsOf = new Map<AtUri, ReadonlySet<Did>>(settings.repos.map(repo => [repo, new Set()]))
  const reposOf = new Map<Did, Set<AtUri>>()
  const addresses = new Map<string, AtUri>(settings.repos.map(repo => [repo, repo]))
  /** How accounts were first found that a pass had not looked at. */
  const firstFound = new Map<string, Look>()
  const none: ReadonlySet<AtUri> = new Set()
  const strange = new Map<AtUri, NodeJS.Timeout>()
  const rounds = createRounds({ identity, everyMs: settings.noticeMs, look: notice })
  let ring: (repo: AtUri, why: string) => void = () => {}
  let stream: BellStream | undefined
  let sweeping: NodeJS.Timeout | undefined
  reads.stores.setLately(() => rounds.interval())

  const watched: Watched = {
    at(address) {
      const repo = reads.askedAs(address)
      return repo !== undefined && accountsOf.has(repo) ? repo : addresses.get(address)
    },
    by: did => reposOf.get(did) ?? none,
  }

  function hear(event: StreamEvent): void {
    if (event.kind === 'other') return
    const did = parseDid(event.did)
    if (did === undefined) return
    if (event.kind !== 'record') {
      identity.forget(did)
      ringAll(did, event.kind)
      return
    }
    const bells = bellsOf(event, watched)
    if (bells.length > 0 || reposOf.has(did)) looks.stale(did)
    for (const bell of bells) {
      if (bell.strange) ringSeldom(bell.repo, event.collection)
      else ring(bell.repo, event.collection)
    }
  }

  function ringAll(did: Did, why: string): void {
    const repos = reposOf.get(did)
    if (repos === undefined) return
    looks.stale(did)
    for (const repo of repos) ring(repo, why)
  }

  function ringSeldom(repo: AtUri, why: string): void {
    if (strange.has(repo)) return
    const timer = setTimeout(() => {
      strange.delete(repo)
      ring(repo, why)
    }, STRANGE_MS)
    timer.unref()
    strange.set(repo, timer)
  }

  /** Rings the repositories whose last pass read the account at another revision than it is at now. */
  async function notice(did: Did): Promise<void> {
    const now = await looks.look(did)
    if (now.state === 'unread') return
    for (const repo of reposOf.get(did) ?? none) {
      const then = reads.lookedAt(repo, did) ?? firstFound.get(`${repo} ${did}`)
      if (then === undefined) firstFound.set(`${repo} ${did}`, now)
      else if (isOther(then, now)) ring(repo, 'notice')
    }
  }

  return {
    start(given) {
      ring = given
      stream = followBells({
        endpoint: jetstreamUrl,
        now: ctx.now,
        timing,
        onEvent: hear,
        onChange: ({ connected, why }) => {
          if (connected) log.info('jetstream is heard', { url: jetstreamUrl })
          else log.warn('jetstream is not heard', { url: jetstreamUrl, why })
        },
      })
      sweeping = setInterval(() => {
        for (const repo of accountsOf.keys()) ring(repo, 'sweep')
      }, settings.sweepMs)
      sweeping.unref()
    },
    watch(given, accounts) {
      const repo = reads.askedAs(given) ?? given
      addresses.set(repo, repo)
      const before = accountsOf.get(repo)
      const now = new Set(accounts)
      accountsOf.set(repo, now)
      for (const did of before ?? []) if (!now.has(did)) leave(did, repo)
      for (const did of now) reposOf.set(did, (reposOf.get(did) ?? new Set()).add(repo))
      rounds.set(new Set(reposOf.keys()))
    },
    interval: () => rounds.interval(),
    listening: () => stream?.connected() ?? false,
    async stop() {
      ring = () => {}
      clearInterval(sweeping)
      for (const timer of strange.values()) clearTimeout(timer)
      strange.clear()
      await Promise.all([stream?.stop(), rounds.stop()])
    },
  }

  function leave(did: Did, repo: AtUri): void {
    const repos = reposOf.get(did)
    firstFound.delete(`${repo} ${did}`)
    repos?.delete(repo)
    if (repos?.size === 0) reposOf.delete(did)
  }
}

function isOther(then: Look, now: Look): boolean {
  return then.state !== now.state || (then.state === 'at' && now.state === 'at' && then.rev !== now.rev)
}
