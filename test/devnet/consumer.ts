import WebSocket from 'ws'
import { z } from 'zod'
import { until } from '../support/until.ts'

const eventShape = z.strictObject({
  did: z.string(),
  time_us: z.int(),
  cursor: z.int(),
  kind: z.enum(['commit', 'identity', 'account']),
  commit: z
    .strictObject({
      rev: z.string(),
      operation: z.enum(['create', 'update', 'delete']),
      collection: z.string(),
      rkey: z.string(),
      record: z.record(z.string(), z.unknown()).optional(),
      cid: z.string().optional(),
    })
    .optional(),
  identity: z.strictObject({ did: z.string(), handle: z.string().optional(), seq: z.int(), time: z.string() }).optional(),
  account: z
    .strictObject({ active: z.boolean(), did: z.string(), seq: z.int(), time: z.string(), status: z.string().optional() })
    .optional(),
})

/** An event as the wire format has it; anything else in a frame fails the test. */
export type WireEvent = z.infer<typeof eventShape>

/** A raw client of the stream that keeps what it is sent. */
export interface Consumer {
  readonly socket: WebSocket
  readonly events: WireEvent[]
  /** Frames that are no events. */
  readonly garbage: string[]
  /** Close code, once closed. */
  closed(): number | undefined
  /** Waits until `count` events are here and gives all of them. */
  has(count: number): Promise<WireEvent[]>
  send(message: unknown): void
  end(): Promise<void>
}

/** Connects to a stream's address with a query; throws when the server answers with another status. */
export async function connect(address: string, query = ''): Promise<Consumer> {
  const socket = new WebSocket(address + query)
  const events: WireEvent[] = []
  const garbage: string[] = []
  let code: number | undefined
  socket.on('close', closeCode => {
    code = closeCode
  })
  socket.on('message', data => {
    const parsed = eventShape.safeParse(tryJson(String(data)))
    if (parsed.success) events.push(parsed.data)
    else garbage.push(String(data))
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  return {
    socket,
    events,
    garbage,
    closed: () => code,
    async has(count) {
      await until(() => events.length >= count, { what: `${count} events, ${events.length} came` })
      return events
    },
    send: message => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async end() {
      socket.terminate()
      await until(() => code !== undefined)
    },
  }
}

/** The HTTP status with which a connection is refused, or 101 when it is taken. */
export function statusOf(address: string, query: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address + query, { headers })
    socket.once('open', () => {
      socket.terminate()
      resolve(101)
    })
    socket.once('unexpected-response', (request, response) => {
      resolve(response.statusCode ?? 0)
      request.destroy()
    })
    socket.on('error', reject)
  })
}

/** `collection/rkey operation` of each commit, for short assertions. */
export function commits(events: WireEvent[]): string[] {
  return events.flatMap(({ commit }) => (commit === undefined ? [] : [`${commit.collection}/${commit.rkey} ${commit.operation}`]))
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
