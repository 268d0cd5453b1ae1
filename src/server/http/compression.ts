import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** Less is not worth its header, in bytes. */
export const LEAST_COMPRESSED = 860
/** Text and what is made of it; images and git's packs are compressed already. */
const worthwhile = /^(text\/(?!event-stream)|application\/(json|javascript|atom\+xml|ld\+json)|image\/svg\+xml)/

const zip = promisify(gzip)
const brotli = promisify(brotliCompress)

type Encoding = 'br' | 'gzip'

export type Compress = (bytes: Buffer, encoding: Encoding) => Buffer | Promise<Buffer>

/** What is compressed in less time than a thread is asked for it, in bytes. */
const SMALL = 32 * 1_024
const quick = { gzip: { level: 6 }, br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } } }

/**
 * For answers made anew: quickly, and large ones off the main thread. Small ones at once: when a thousand ask for the same, all of them would wait
 * behind one another for the thread's word.
 */
const quickly: Compress = (bytes, encoding) => {
  if (bytes.length > SMALL) return encoding === 'gzip' ? zip(bytes, quick.gzip) : brotli(bytes, quick.br)
  return encoding === 'gzip' ? gzipSync(bytes, quick.gzip) : brotliCompressSync(bytes, quick.br)
}

/** For what is sent again and again: as small as it gets. */
export const wholly: Compress = (bytes, encoding) =>
  encoding === 'gzip'
    ? zip(bytes, { level: 9 })
    : brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })

/** Compressed forms of buffers that are sent more than once, for as long as these are kept. */
export interface Packed {
  /** The bytes in this encoding, or the promise of them the first time. */
  of(bytes: Buffer, encoding: Encoding): Buffer | Promise<Buffer>
}

/** Compresses by `compress`: for answers made anew unless told otherwise. */
export function createPacked(compress: Compress = quickly): Packed {
  const kept: Record<Encoding, WeakMap<Buffer, Buffer | Promise<Buffer>>> = { br: new WeakMap(), gzip: new WeakMap() }
  return {
    of(bytes, encoding) {
      const known = kept[encoding].get(bytes)
      if (known !== undefined) return known
      const coming = compress(bytes, encoding)
      kept[encoding].set(bytes, coming)
      if (Buffer.isBuffer(coming)) return coming
      coming.then(
        done => kept[encoding].set(bytes, done),
        () => kept[encoding].delete(bytes),
      )
      return coming
    },
  }
}

const known = new Map<string, Encoding | undefined>()
/** Browsers say one of a few things. */
const MOST_KNOWN = 100

/** What the reader takes, by its `Accept-Encoding`: Brotli before gzip, and nothing that it gives a quality of 0. */
export function encodingFor(accepted = ''): Encoding | undefined {
  if (known.has(accepted)) return known.get(accepted)
  if (known.size >= MOST_KNOWN) known.clear()
  const encoding = readEncoding(accepted)
  known.set(accepted, encoding)
  return encoding
}

function readEncoding(accepted: string): Encoding | undefined {
  const qualities = new Map(
    accepted
      .toLowerCase()
      .split(',')
      .map((one): [string, number] => {
        const [name = '', ...more] = one.split(';').map(part => part.trim())
        const quality = more.find(part => part.startsWith('q='))
        return [name, quality === undefined ? 1 : Number(quality.slice(2))]
      }),
  )
  const takes = (name: Encoding) => (qualities.get(name) ?? qualities.get('*') ?? 0) > 0
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : undefined
}

/**
 * Compresses the answers of every route of this app that the reader takes compressed. Tokens in pages are masked anew for each (BREACH). A buffer
 * that is sent again, as a kept page or a file, is compressed once; `packed` says how.
 */
export function compressAnswers(app: FastifyInstance, packed: Packed = createPacked()): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const type = reply.getHeader('content-type')
    if (typeof type !== 'string' || !worthwhile.test(type)) return done(null, payload)
    const vary = reply.getHeader('vary')
    reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${String(vary)}, Accept-Encoding`)
    const encoding = encodingFor(request.headers['accept-encoding'])
    if (encoding === undefined || reply.hasHeader('content-encoding') || request.method === 'HEAD') return done(null, payload)
    if (!Buffer.isBuffer(payload) && typeof payload !== 'string') return done(null, payload)
    if (payload.length < LEAST_COMPRESSED) return done(null, payload)
    const send = (bytes: Buffer) => {
      reply.header('content-encoding', encoding).removeHeader('content-length')
      // Other bytes than those that the tag was made of, and the same meaning.
      const tag = reply.getHeader('etag')
      if (typeof tag === 'string' && !tag.startsWith('W/')) reply.header('etag', `W/${tag}`)
      done(null, bytes)
    }
    const bytes = typeof payload === 'string' ? quickly(Buffer.from(payload), encoding) : packed.of(payload, encoding)
    if (Buffer.isBuffer(bytes)) send(bytes)
    else bytes.then(send, () => done(null, payload))
  })
}
