import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Faults } from '../faults/faults.ts'
import { serveFaults } from '../faults/http.ts'
import { loopback, portError } from '../ports.ts'
import { startFrom } from './cursor.ts'
import { type Filter, parseFilter } from './filter.ts'
import type { EventLog } from './log.ts'
import { optionsUpdate } from './options-update.ts'
import { listReposByCollection } from './relay.ts'
import { sendJson } from './respond.ts'
import { type Subscriber, subscribe } from './subscriber.ts'

const pingEveryMs = 30_000
const maxClientFrame = 10_000_000

/** A running Jetstream server. */
export interface JetstreamServer {
  readonly port: number
  /** Tells every consumer that the log has grown. */
  wake(): void
  stop(): Promise<void>
}

/**
 * Serves the log by Jetstream's wire protocol at `/subscribe`, `com.atproto.sync.listReposByCollection` over the same log, the fault switches at
 * `/devnet/faults` and `/healthz`, on one loopback port (0: a free one). `nowUs` is the time in unix microseconds; `ready` says what is wrong, if
 * anything. Compression is not served: a consumer that asks for it gets 400. Throws `PortTaken`.
 */
export async function serveJetstream(options: {
  log: EventLog
  faults: Faults
  port: number
  nowUs: () => number
  trouble: () => string | undefined
}): Promise<JetstreamServer> {
  const { log, faults } = options
  const subscribers = new Set<Subscriber>()
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxClientFrame, perMessageDeflate: false })
  const wake = () => {
    for (const subscriber of subscribers) subscriber.wake()
  }
  faults.onChange(wake)
  faults.onStrike(rule => {
    for (const client of sockets.clients) {
      if (rule.fault === 'garbage') client.send(rule.frame)
      else client.terminate()
    }
  })

  const server = createServer((request, response) => {
    answer(options, request, response).catch(() => response.destroy())
  })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    const asked = readRequest(options, request)
    if ('status' in asked) return refuse(socket, asked.status, asked.message)
    sockets.handleUpgrade(request, socket, head, client => accept(client, asked))
  })

  function accept(socket: WebSocket, asked: { filter: Filter; from: number; started: boolean }): void {
    const subscriber = subscribe({ socket, log, faults, ...asked })
    subscribers.add(subscriber)
    subscriber.done.catch(() => socket.terminate()).finally(() => subscribers.delete(subscriber))
    socket.on('error', () => socket.terminate())
    socket.on('message', (data, binary) => {
      const update = optionsUpdate(String(data), binary)
      if ('filter' in update) subscriber.setFilter(update.filter)
      else if ('close' in update) socket.close(update.close, update.message)
    })
    keepAlive(socket)
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(portError('Jetstream', options.port, error)))
    server.listen(options.port, loopback, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    wake,
    async stop() {
      for (const client of sockets.clients) client.terminate()
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      await Promise.allSettled([...subscribers].map(subscriber => subscriber.done))
    },
  }
}

type Served = { log: EventLog; faults: Faults; nowUs: () => number; trouble: () => string | undefined }

/** What a connection asks for, by Jetstream's parameters, or the refusal it gets. */
function readRequest(
  { log, faults, nowUs }: Served,
  request: IncomingMessage,
): { filter: Filter; from: number; started: boolean } | { status: number; message: string } {
  const url = new URL(request.url ?? '/', 'http://jetstream')
  const params = url.searchParams
  if (url.pathname !== '/subscribe') return { status: 404, message: 'not found' }
  if (faults.refusing()) return { status: 503, message: 'refused by a fault switch of the local network' }
  if (params.get('compress') === 'true' || /\bzstd\b/.test(String(request.headers['socket-encoding'] ?? ''))) {
    return { status: 400, message: 'compression is not served by the local network' }
  }
  const filter = parseFilter({
    collections: params.getAll('wantedCollections'),
    dids: params.getAll('wantedDids'),
    maxBytes: params.get('maxMessageSizeBytes') ?? 0,
  })
  if ('wrong' in filter) return { status: 400, message: filter.wrong }
  const from = startFrom(log, params.get('cursor'), nowUs())
  if (from === undefined) return { status: 400, message: 'invalid cursor' }
  return { filter, from, started: params.get('requireHello') !== 'true' }
}

async function answer({ log, faults, trouble }: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://jetstream')
  if (url.pathname === '/devnet/faults') return serveFaults(faults, request, response)
  if (request.method !== 'GET') return sendJson(response, 405, { error: 'MethodNotAllowed', message: 'only GET' })
  if (url.pathname === '/xrpc/com.atproto.sync.listReposByCollection') {
    const { status, body } = listReposByCollection(log, url.searchParams)
    return sendJson(response, status, body)
  }
  if (url.pathname === '/healthz') {
    const wrong = trouble()
    return sendJson(response, wrong === undefined ? 200 : 503, {
      ready: wrong === undefined,
      seq: log.tip(),
      ...(wrong === undefined ? {} : { wrong }),
    })
  }
  sendJson(response, 404, { error: 'NotFound', message: 'nothing here' })
}

function refuse(socket: Duplex, status: number, message: string): void {
  const length = Buffer.byteLength(message)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${message}`,
  )
}

/** Pings every 30 s; a consumer that did not answer the one before is gone. */
function keepAlive(socket: WebSocket): void {
  let answered = true
  socket.on('pong', () => {
    answered = true
  })
  const timer = setInterval(() => {
    if (!answered) return socket.terminate()
    answered = false
    socket.ping()
  }, pingEveryMs)
  socket.on('close', () => clearInterval(timer))
}
