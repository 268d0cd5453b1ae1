/** Bytes of one pkt-line with its length, and of what it carries. */
export const pktBounds = { line: 65_520, payload: 65_516 } as const

/** The packet that ends a list. */
export const flushPkt: Buffer = Buffer.from('0000')

/** A pkt-line with this payload; throws when it is longer than one may be. */
export function pktLine(payload: string | Uint8Array): Buffer {
  const bytes = Buffer.from(payload)
  if (bytes.length > pktBounds.payload) throw new Error('a pkt-line cannot hold so much')
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** Bands of a reply: the report, lines that git prints as `remote: …`, and a last word after which it ends. */
export const band = { data: 1, progress: 2, error: 3 } as const

/** Content on a band of a side-band-64k reply, in as many packets as it takes. */
export function onBand(number: 1 | 2 | 3, content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  const packets: Buffer[] = []
  for (let start = 0; start < bytes.length; start += pktBounds.payload - 1) {
    packets.push(pktLine(Buffer.concat([Buffer.of(number), bytes.subarray(start, start + pktBounds.payload - 1)])))
  }
  return Buffer.concat(packets)
}

/** An empty packet on the progress band: keeps a connection alive while a push is worked on, and prints nothing. */
export const keepAlive: Buffer = pktLine(Buffer.of(band.progress))

/** What a reader of packets comes upon: a payload, the packet that ends a list, or the stream's end or nonsense in place of a packet. */
export type Packet = { kind: 'line'; payload: Buffer } | { kind: 'flush' } | { kind: 'end' } | { kind: 'bad' }

/** Reads packets off a stream and leaves what comes after them. */
export interface PacketReader {
  /** The next packet. A stream that ends within one is `bad`, and stays so. */
  next(): Promise<Packet>
  /** What was not read yet; may be iterated again after a stop, and goes on then where it was. Never ends the stream by itself. */
  readonly rest: AsyncIterable<Uint8Array>
}

/** Makes a reader of packets of a stream. No more of it is held than one packet and the chunk that ends it. */
export function packetReader(stream: AsyncIterable<Uint8Array>): PacketReader {
  const source = stream[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  let ended = false

  async function pull(): Promise<Uint8Array | undefined> {
    if (ended) return undefined
    const step = await source.next()
    if (!step.done) return step.value
    ended = true
    return undefined
  }
  async function fill(size: number): Promise<boolean> {
    const pieces = [held]
    let have = held.length
    while (have < size) {
      const chunk = await pull()
      if (chunk === undefined) break
      pieces.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      have += chunk.length
    }
    if (pieces.length > 1) held = Buffer.concat(pieces)
    return have >= size
  }
  return {
    async next() {
      if (!(await fill(4))) return held.length === 0 ? { kind: 'end' } : { kind: 'bad' }
      const digits = held.toString('latin1', 0, 4)
      if (!/^[0-9a-f]{4}$/i.test(digits)) return { kind: 'bad' }
      const length = Number.parseInt(digits, 16)
      if (length === 0) {
        held = held.subarray(4)
        return { kind: 'flush' }
      }
      // Lengths of 1 to 3 end or part lists of another version of the protocol.
      if (length < 4 || length > pktBounds.line || !(await fill(length))) return { kind: 'bad' }
      const payload = held.subarray(4, length)
      held = held.subarray(length)
      return { kind: 'line', payload }
    },
    rest: {
      [Symbol.asyncIterator]: () => ({
        async next() {
          if (held.length > 0) {
            const value: Uint8Array = held
            held = Buffer.alloc(0)
            return { done: false, value }
          }
          const value = await pull()
          return value === undefined ? { done: true, value } : { done: false, value }
        },
      }),
    },
  }
}
