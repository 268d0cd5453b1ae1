import { WebSocket } from 'ws'

/** What is noticed about one connection while the client library uses it. */
export interface SocketWatch {
  /** Sign of life: opened, a frame, a ping. On `performance.now()`'s clock. */
  aliveAt: number
  /** Bytes of the frame that is being handled. */
  frameBytes: number
  /** Why the connection could not be made or broke, for the status. */
  trouble?: string
  /** Drops the connection at once, whatever state it is in. */
  terminate(): void
}

/** Frames larger than this break the connection; the server is asked to skip them well before. */
const MOST_FRAME_BYTES = 64 * 2 ** 20

/**
 * A WebSocket class for a client library that makes its sockets itself: bounded frames, no compression, and everything that tells whether the
 * other side is still there noted in the watch.
 */
export function watchedSocket(): { WatchedSocket: unknown; watch: SocketWatch } {
  const sockets: WebSocket[] = []
  const watch: SocketWatch = {
    aliveAt: performance.now(),
    frameBytes: 0,
    terminate() {
      for (const socket of sockets.splice(0)) socket.terminate()
    },
  }
  const alive = (): void => {
    watch.aliveAt = performance.now()
  }

  class WatchedSocket extends WebSocket {
    constructor(address: string | URL) {
      super(address, { maxPayload: MOST_FRAME_BYTES, perMessageDeflate: false, handshakeTimeout: 10_000 })
      sockets.push(this)
      this.on('open', alive)
      this.on('ping', alive)
      this.on('pong', alive)
      this.on('message', data => {
        alive()
        watch.frameBytes = Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength
      })
      // The library stops listening when it is closed; an error after that must not become an exception.
      this.on('error', error => {
        watch.trouble = error.message
      })
    }
  }
  return { WatchedSocket, watch }
}
