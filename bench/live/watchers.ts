/**
 * Pages that watch a queue, each with a connection for its stream and one for what it asks: the requests of `public/js/live.js`, without a browser
 * around them. Says when each of them had read of each row.
 */
import { connect, type Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'

const asked = z.object({ host: z.string(), port: z.number(), path: z.string(), watchers: z.number() })
const { host, port, path, watchers } = asked.parse(JSON.parse(process.argv[2] ?? ''))

/** At most so many connections are opened at once. */
const AT_ONCE = 50
/** A page asks again after this long at the soonest, in milliseconds. */
const THROTTLE_MS = 200

interface Answer {
  /** Names and signatures of the regions in it, and what is sent along with them. */
  regions: readonly (readonly [string, string])[]
  along: string | undefined
  stream: string | undefined
  row: number | undefined
}

/** When which row was read of, in milliseconds since 1970, and how many answers and bytes that took. */
const read = new Map<number, number[]>()
let answers = 0
let bytes = 0
const clock = () => performance.timeOrigin + performance.now()

/** All get the same bytes: what is in them is looked up once. */
const known = new Map<string, Answer>()

function understand(body: Buffer): Answer {
  const key = body.toString('latin1')
  const before = known.get(key)
  if (before !== undefined) return before
  const text = (body[0] === 0x1f ? gunzipSync(body) : body).toString()
  const answer: Answer = {
    regions: [...text.matchAll(/ data-live="([a-z]+)" data-is="([\w-]+)"/g)].map(([, part = '', is = '']) => [part, is] as const),
    along: / data-with="([^"]+)"/.exec(text)?.[1],
    stream: / data-stream="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&'),
    row: rowOf(text),
  }
  known.set(key, answer)
  if (known.size > 200) known.delete(known.keys().next().value ?? '')
  return answer
}

function rowOf(text: string): number | undefined {
  const row = /id="news"[^>]*>[\s\S]*?Row (\d+)\b/.exec(text)?.[1]
  return row === undefined ? undefined : Number(row)
}

function head(at: string, more: string): string {
  return `GET ${at} HTTP/1.1\r\nhost: ${host}:${port}\r\nuser-agent: bench\r\naccept-encoding: gzip\r\n${more}\r\n`
}

/** A connection that asks one thing after another. */
function asker(socket: Socket): (at: string) => Promise<Buffer> {
  let pieces: Buffer[] = []
  let length = 0
  let answered: ((body: Buffer) => void) | undefined
  socket.on('data', (piece: Buffer) => {
    bytes += piece.length
    pieces.push(piece)
    length += piece.length
    const all = pieces.length === 1 ? piece : Buffer.concat(pieces, length)
    pieces = [all]
    const end = all.indexOf('\r\n\r\n')
    if (end === -1) return
    const headers = all.toString('latin1', 0, end)
    const size = Number(/^content-length: (\d+)$/im.exec(headers)?.[1] ?? 0)
    if (all.length < end + 4 + size) return
    if (!/^HTTP\/1.1 20[04]/.test(headers)) throw new Error(headers.slice(0, 80))
    pieces = []
    length = 0
    answered?.(all.subarray(end + 4, end + 4 + size))
  })
  return at =>
    new Promise(done => {
      answered = done
      socket.write(head(at, 'accept: text/html\r\nhx-request: true\r\n'))
    })
}

function open(): Promise<Socket> {
  return new Promise((done, failed) => {
    const socket = connect(port, host, () => done(socket)).setNoDelay(true)
    socket.once('error', failed)
  })
}

async function watch(): Promise<void> {
  const ask = asker(await open())
  const have = new Map<string, string>()
  let along = ''
  const take = (body: Buffer) => {
    answers += 1
    if (body.length === 0) return undefined
    const answer = understand(body)
    for (const [part, is] of answer.regions) have.set(part, is)
    along = answer.along ?? along
    return answer
  }
  const page = take(await ask(path))
  if (page?.stream === undefined) throw new Error('the page has no stream')

  let busy = false
  let again = false
  let last = 0
  const changed = async (): Promise<void> => {
    if (busy) {
      again = true
      return
    }
    busy = true
    const soon = last + THROTTLE_MS - performance.now()
    if (soon > 0) await new Promise(done => setTimeout(done, soon))
    last = performance.now()
    again = false
    const row = take(await ask(`${path}?have=${[...have].map(([part, is]) => `${part}.${is}`).join('%2C')}&${along}`))?.row
    if (row !== undefined) read.set(row, [...(read.get(row) ?? []), clock()])
    busy = false
    if (again) await changed()
  }
  const stream = await open()
  await new Promise<void>(done => {
    stream.on('data', (piece: Buffer) => {
      const text = piece.toString('latin1')
      if (text.includes('event: beat')) done()
      if (text.includes('event: changed')) void changed()
    })
    stream.write(head(page.stream ?? '', 'accept: text/event-stream\r\n'))
  })
}

for (let from = 0; from < watchers; from += AT_ONCE) {
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, watchers - from) }, watch))
}
process.on('message', () => {
  process.send?.({ figures: { read: [...read], answers, bytes } })
})
process.once('disconnect', () => process.exit(0))
process.send?.({ ready: true })
