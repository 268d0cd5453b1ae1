import { BACKDATED_AFTER } from '../queue/pulls.ts'
import { tidMillis } from '../queue/tid.ts'
import type { StreamEvent } from './ingest/events.ts'
import type { Ingest } from './ingest/queue.ts'
import { type Connection, connect } from './stream/connection.ts'

export interface StreamOptions {
  /** Jetstream's address, `ws://…/subscribe`. */
  endpoint: string
  ingest: Ingest
  /** Milliseconds since 1970. */
  now: () => number
  /** The cursor was older than the server keeps events for: what happened in between must be read from people's servers. */
  onGap: () => void
  timing?: Partial<StreamTiming>
}

/** All in milliseconds. */
export interface StreamTiming {
  /** How far before the last written event a connection starts: hosts differ, and events of one moment may come in any order. */
  overlapMs: number
  /** Two and a half times the server's ping. */
  silentMs: number
  firstRetryMs: number
  lastRetryMs: number
  /** How far back the server is counted on to keep events. */
  lookbackMs: number
}

const usual: StreamTiming = { overlapMs: 5_000, silentMs: 75_000, firstRetryMs: 250, lastRetryMs: 30_000, lookbackMs: 30 * 3_600_000 }

export interface StreamStatus {
  connected: boolean
  connectedBefore: boolean
  /** How old what is being written is, in milliseconds; 0 when it is up to date. */
  behindMs: number
  /** When the last event came, milliseconds since 1970. */
  lastEventAt?: number
  /** Connections made since the start, and frames that were no events. */
  connections: number
  garbage: number
  /** Why there is no connection, in a few words. */
  trouble?: string
}

export interface Stream {
  status(): StreamStatus
  stop(): Promise<void>
}

/** A connection that held this long was a good one: the next try comes at once. */
const GOOD_MS = 10_000
/** Without an event for so long on a connection, what came last was the last there is. */
const QUIET_MS = 2_000

/**
 * Follows Jetstream into the queue: from the cursor in the database, a little before it, and again and again with growing pauses when the
 * connection cannot be made or breaks. A full queue closes it until there is room.
 */
export function followJetstream(options: StreamOptions): Stream {
  const { ingest, now, endpoint } = options
  const timing: StreamTiming = { ...usual, ...options.timing }
  const state = { connected: false, connectedBefore: false, connections: 0, garbage: 0 }
  let trouble: string | undefined
  let lastEvent: { at: number; lagMs: number } | undefined
  const begunAt = now()
  let lostAt = begunAt
  let current: Connection | undefined
  const stopping = new AbortController()

  /**
   * Where to start; a cursor that the server may not reach back to is a gap. Without one it is a little before this began, however late the first
   * connection is made: the relay may have been asked since.
   */
  function start(): { cursor: number; gap: boolean } {
    const cursor = ingest.cursor() ?? begunAt * 1_000
    const oldest = (now() - timing.lookbackMs) * 1_000
    return cursor >= oldest ? { cursor: cursor - timing.overlapMs * 1_000, gap: false } : { cursor: oldest, gap: true }
  }

  async function once(): Promise<string | undefined> {
    const openedUs = now() * 1_000
    const { cursor, gap } = start()
    current = connect({
      endpoint,
      cursor,
      silentMs: timing.silentMs,
      nowUs: () => now() * 1_000,
      onOpen() {
        state.connected = true
        state.connectedBefore = true
        state.connections += 1
        trouble = undefined
        if (gap) options.onGap()
        ingest.startAt(cursor, gap)
      },
      onEvent(event, bytes) {
        lastEvent = { at: now(), lagMs: Math.max(0, now() - (event.timeUs ?? 0) / 1_000) }
        return ingest.push(isReplayed(event, openedUs) ? { ...event, source: 'replayed' } : event, bytes)
      },
      onGarbage() {
        state.garbage += 1
      },
    })
    const why = await current.over
    if (state.connected) lostAt = now()
    state.connected = false
    return why
  }

  async function run(): Promise<void> {
    let delay = timing.firstRetryMs
    while (!stopping.signal.aborted) {
      const startedAt = performance.now()
      trouble = await once()
      if (stopping.signal.aborted) return
      await ingest.room()
      delay = trouble === 'full' || performance.now() - startedAt > GOOD_MS ? timing.firstRetryMs : Math.min(timing.lastRetryMs, delay * 2)
      await pause(delay * (0.5 + Math.random() / 2), stopping.signal)
    }
  }

  const running = run()
  return {
    status() {
      const time = now()
      const catchingUp = ingest.size() > 0 || (lastEvent !== undefined && time - lastEvent.at < QUIET_MS)
      const behindMs = state.connected ? (catchingUp ? (lastEvent?.lagMs ?? 0) : 0) : time - lostAt
      return {
        ...state,
        behindMs,
        ...(lastEvent === undefined ? {} : { lastEventAt: lastEvent.at }),
        ...(trouble === undefined ? {} : { trouble }),
      }
    },
    async stop() {
      stopping.abort()
      current?.close()
      await running
    },
  }
}

/** Whether when a record comes here says nothing about when it was written. What the stream itself heard late is late wherever it is heard (REC-9). */
function isReplayed(event: StreamEvent, openedUs: number): event is StreamEvent & { kind: 'record' } {
  if (event.kind !== 'record' || event.timeUs === undefined || event.timeUs >= openedUs) return false
  return !(event.timeUs / 1_000 - tidMillis(event.rkey) > BACKDATED_AFTER)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
