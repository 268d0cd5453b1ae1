import type { RefsRecord, Stored } from '../../queue/facts.ts'
import type { MirrorContext } from './context.ts'
import { mirrorRow } from './store.ts'
import { syncIndexed } from './sync.ts'

/** Mirrors on their way to the records that they are to be at. */
export interface Fetches {
  /** Brings the mirror of this record up to date once there is room for it; `repo` is told when that is done, or could not be. */
  want(record: Stored<RefsRecord>, repo: string): void
  /** How many run or wait. */
  size(): number
  /** Settles when those that run have ended; those that wait are given up. */
  stop(): Promise<void>
}

interface Wanted {
  record: Stored<RefsRecord>
  /** Repositories that wait for it: its own, and those that pulls from it are onto. */
  repos: Set<string>
}

/**
 * Downloads go on beside the looks into git, and two kinds beside each other: of mirrors that have been well, and of those that are new or failed
 * last time. A server that gives its bytes slowly, on purpose or not, keeps nobody waiting but those that come from servers like it.
 */
const LANES = { well: 3, other: 3 } as const
type Lane = keyof typeof LANES
const FETCH_MS = 30 * 60_000

export function createFetches(ctx: MirrorContext, done: (repo: string) => void, failed: (error: unknown) => void): Fetches {
  const waiting = new Map<string, Wanted>()
  const running = new Map<string, { lane: Lane; did: string; wanted: Wanted; task: Promise<void> }>()
  const stopping = new AbortController()

  function want(record: Stored<RefsRecord>, repo: string): void {
    if (stopping.signal.aborted) return
    const uri = record.value.repo
    const active = running.get(uri)
    if (active?.wanted.record.cid === record.cid) {
      active.wanted.repos.add(repo)
      return
    }
    const repos = waiting.get(uri)?.repos ?? new Set()
    waiting.set(uri, { record, repos: repos.add(repo) })
    fill()
  }

  function fill(): void {
    for (const [uri, wanted] of waiting) {
      if (running.size === LANES.well + LANES.other) return
      const lane = laneOf(ctx, wanted.record)
      if (!hasRoom(lane, wanted.record.did)) continue
      waiting.delete(uri)
      start(uri, wanted, lane)
    }
  }

  /** One download per account at a time, so that nobody fills a lane alone. */
  function hasRoom(lane: Lane, did: string): boolean {
    const others = [...running.values()]
    return others.filter(other => other.lane === lane).length < LANES[lane] && others.every(other => other.did !== did)
  }

  function start(uri: string, wanted: Wanted, lane: Lane): void {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(FETCH_MS)])
    const task = syncIndexed(ctx, wanted.record, signal)
      .then(() => undefined, failed)
      .finally(() => {
        running.delete(uri)
        for (const repo of wanted.repos) done(repo)
        if (!stopping.signal.aborted) fill()
      })
    running.set(uri, { lane, did: wanted.record.did, wanted, task })
  }

  return {
    want,
    size: () => running.size + waiting.size,
    async stop() {
      stopping.abort()
      waiting.clear()
      await Promise.allSettled([...running.values()].map(({ task }) => task))
    },
  }
}

function laneOf(ctx: MirrorContext, record: Stored<RefsRecord>): Lane {
  return mirrorRow(ctx.index, record.value.repo)?.status === 'ok' ? 'well' : 'other'
}
