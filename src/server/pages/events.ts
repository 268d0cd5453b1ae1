import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PageContext } from './context.ts'

/** Streams open at once, in all and from one address. */
const MOST_STREAMS = 4_000
const MOST_PER_ADDRESS = 200
/** A beat tells a page that the connection lives, in milliseconds. */
const BEAT_MS = 20_000

/** What a page watches: a repository, at the version that it has, and the version that the page was made from. */
export interface Watched {
  repo: string
  version: number
  seen?: number | undefined
  /** A run whose output is watched as well. */
  check?: string | undefined
}

const open = new WeakMap<PageContext, Map<string, number>>()

/**
 * Opens the event stream of a page: `changed` with the version of what is known about the repository, at once where the page is of another, and at
 * each change, and a `beat` in between. What changed is not in it: the page asks for its regions again.
 */
export function streamChanges(ctx: PageContext, request: FastifyRequest, reply: FastifyReply, of: Watched): FastifyReply {
  // An answer without a body that never ends would hold up whatever comes next on its connection.
  if (request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-store').send()
  const streams = open.get(ctx) ?? new Map<string, number>()
  open.set(ctx, streams)
  const mine = streams.get(request.ip) ?? 0
  const all = [...streams.values()].reduce((sum, count) => sum + count, 0)
  if (all >= MOST_STREAMS || mine >= MOST_PER_ADDRESS) return reply.code(503).header('retry-after', '30').send()
  streams.set(request.ip, mine + 1)

  const { raw } = reply
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  // A reader that does not keep up misses beats and changes: the next one it gets is as good.
  const send = (text: string) => {
    if (!raw.writableNeedDrain && !raw.destroyed) raw.write(text)
  }
  const changed = (version: number) => send(`id: ${version}\nevent: changed\ndata: ${version}\n\n`)
  const stop = ctx.onChanged(change => {
    if (change.repo !== of.repo) return
    version = change.version
    changed(version)
  })
  let { version } = of
  const stopLog = ctx.liveLogs.onGrown(check => {
    if (check === of.check) changed(version)
  })
  const beat = setInterval(() => send('event: beat\ndata: \n\n'), BEAT_MS)
  raw.on('close', () => {
    clearInterval(beat)
    stop()
    stopLog()
    const left = (streams.get(request.ip) ?? 1) - 1
    if (left > 0) streams.set(request.ip, left)
    else streams.delete(request.ip)
  })
  if (of.seen !== of.version) changed(of.version)
  return reply
}
