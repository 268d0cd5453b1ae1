import { Jetstream } from '@skyware/jetstream'
import { readStreamEvent, type StreamEvent } from '../ingest/events.ts'
import { watchedSocket } from './watched-socket.ts'

export interface ConnectionOptions {
  /** `ws://` or `wss://`, to `/subscribe`. */
  endpoint: string
  /** Jetstream's time to start from, microseconds since 1970; from now when absent. */
  cursor?: number | undefined
  /** A connection on which nothing was heard for so long, not even a ping, is given up; milliseconds. */
  silentMs: number
  /** Microseconds since 1970. */
  nowUs: () => number
  onOpen: () => void
  /** False: there is no room. The connection is dropped and nothing more of it is handed on. */
  onEvent: (event: StreamEvent, bytes: number) => boolean
  /** A frame that was no event. */
  onGarbage: () => void
}

export interface Connection {
  /** Settles once, when the connection is over, with what was wrong if anything was. */
  readonly over: Promise<string | undefined>
  close(): void
}

/** Larger events are skipped by the server: a record of ours has 1 MB at most. */
const MOST_EVENT_BYTES = 16 * 2 ** 20

/**
 * One connection to Jetstream by its client library, of which only the parsing is relied on: it is closed before the library connects again by
 * itself (with a cursor of its own that runs ahead of what is written), a silent one is noticed, and handlers only hand on.
 */
export function connect(options: ConnectionOptions): Connection {
  const { WatchedSocket, watch } = watchedSocket()
  const stream = new Jetstream({
    endpoint: options.endpoint,
    wantedCollections: ['dev.knotless.*'],
    maxMessageSizeBytes: MOST_EVENT_BYTES,
    ws: WatchedSocket,
    ...(options.cursor === undefined ? {} : { cursor: Math.max(1, Math.floor(options.cursor)) }),
  })
  let finished = false
  let settle: (trouble: string | undefined) => void = () => {}
  const over = new Promise<string | undefined>(resolve => {
    settle = resolve
  })

  function end(trouble: string | undefined): void {
    if (finished) return
    finished = true
    clearInterval(watchdog)
    stream.close()
    watch.terminate()
    settle(trouble)
  }

  function take(frame: unknown): void {
    if (finished) return
    const event = readStreamEvent(frame, options.nowUs())
    if (event === undefined) options.onGarbage()
    else if (!options.onEvent(event, watch.frameBytes)) end('full')
  }

  const watchdog = setInterval(
    () => {
      if (performance.now() - watch.aliveAt > options.silentMs) end('silent')
    },
    Math.max(20, options.silentMs / 5),
  )
  watchdog.unref()

  stream.on('open', () => {
    if (!finished) options.onOpen()
  })
  stream.on('commit', take)
  stream.on('account', take)
  stream.on('identity', take)
  stream.on('error', () => {
    // Of a frame that could not be read, and of a connection that could not be made: the latter is followed by a close.
    if (!finished && watch.trouble === undefined) options.onGarbage()
  })
  stream.on('close', () => end(watch.trouble ?? 'closed'))
  stream.start()
  return { over, close: () => end(undefined) }
}
