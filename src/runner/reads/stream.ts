import type { StreamEvent } from '../../indexer/ingest/events.ts'
import { type Connection, connect } from '../../indexer/stream/connection.ts'

/** All in milliseconds. */
export interface BellTiming {
  /** A connection on which nothing was heard for so long, not even a ping, is made anew: two and a half times the server's ping. */
  silentMs: number
  firstRetryMs: number
  lastRetryMs: number
}

const usual: BellTiming = { silentMs: 75_000, firstRetryMs: 250, lastRetryMs: 30_000 }

/** A connection that held this long was a good one: the next try comes at once. */
const GOOD_MS = 10_000
/** How far before the last event a connection starts again, and how old that event may be; what happened longer ago the looks at accounts have found. */
const OVERLAP_US = 5_000_000
const REACH_US = 15 * 60_000_000

export interface BellStream {
  connected(): boolean
  stop(): Promise<void>
}

/** Follows Jetstream as a doorbell: from now on, and after a break from a little before it. Nothing hangs on it (NOT-3). */
export function followBells(options: {
  endpoint: string
  now: () => number
  onEvent: (event: StreamEvent) => void
  /** The connection was made, or is over, with what was wrong if anything was. */
  onChange: (change: { connected: boolean; why?: string | undefined }) => void
  timing?: Partial<BellTiming> | undefined
}): BellStream {
  const timing = { ...usual, ...options.timing }
  const stopping = new AbortController()
  let current: Connection | undefined
  let isConnected = false
  let lastUs: number | undefined

  async function once(): Promise<string | undefined> {
    const nowUs = options.now() * 1_000
    const reachable = lastUs !== undefined && lastUs > nowUs - REACH_US
    current = connect({
      endpoint: options.endpoint,
      cursor: reachable && lastUs !== undefined ? lastUs - OVERLAP_US : undefined,
      silentMs: timing.silentMs,
      nowUs: () => options.now() * 1_000,
      onOpen() {
        isConnected = true
        options.onChange({ connected: true })
      },
      onEvent(event) {
        lastUs = event.timeUs ?? lastUs
        options.onEvent(event)
        return true
      },
      onGarbage() {},
    })
    const why = await current.over
    if (isConnected) options.onChange({ connected: false, why })
    isConnected = false
    return why
  }

  async function run(): Promise<void> {
    let delay = timing.firstRetryMs
    while (!stopping.signal.aborted) {
      const startedAt = performance.now()
      await once()
      if (stopping.signal.aborted) return
      delay = performance.now() - startedAt > GOOD_MS ? timing.firstRetryMs : Math.min(timing.lastRetryMs, delay * 2)
      await pause(delay * (0.5 + Math.random() / 2), stopping.signal)
    }
  }

  const running = run()
  return {
    connected: () => isConnected,
    async stop() {
      stopping.abort()
      current?.close()
      await running
    },
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(end, ms)
    function end(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    signal.addEventListener('abort', end)
  })
}
