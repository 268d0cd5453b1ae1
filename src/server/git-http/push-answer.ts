import { PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { keepAlive, type ReceiveReport, receiveReport } from '../../git/pkt-line.ts'
import { gitAnswer } from './answers.ts'

const KEEP_ALIVE_MS = 5_000

/** What is left of a refused body and read all the same, in bytes and milliseconds, since git hears of nothing before it has sent everything. */
const DRAIN = { bytes: 64 * 2 ** 20, ms: 30_000 } as const

/** What older gits than any that can push here would lack: assumed where a request could not be read. */
export const usualCapabilities: ReadonlySet<string> = new Set(['report-status', 'side-band-64k'])

/**
 * Answers a push once `work` says how it went, and keeps the connection alive meanwhile. `rest` is what `work` may have left of the body: it is
 * read to its end, or the connection is closed. `work` may not reject.
 */
export function answerPush(
  request: FastifyRequest,
  reply: FastifyReply,
  push: { capabilities: ReadonlySet<string>; rest: AsyncIterable<Uint8Array>; work: () => Promise<ReceiveReport> },
): FastifyReply {
  const out = new PassThrough()
  // One who went reads no answer.
  out.on('error', () => undefined)
  const beat = setInterval(() => {
    if (request.raw.complete && push.capabilities.has('side-band-64k')) out.write(keepAlive)
  }, KEEP_ALIVE_MS)

  async function answer(): Promise<void> {
    try {
      const report = await push.work()
      const drained = await drain(push.rest)
      if (!drained && !reply.raw.headersSent) reply.raw.setHeader('connection', 'close')
      out.end(receiveReport(report, push.capabilities))
    } finally {
      clearInterval(beat)
    }
  }
  answer().catch((error: unknown) => {
    request.log.error({ err: error }, 'the report of a push could not be made')
    reply.raw.destroy()
  })
  return gitAnswer(reply, 'receive-pack', 'result').send(out)
}

async function drain(rest: AsyncIterable<Uint8Array>): Promise<boolean> {
  const source = rest[Symbol.asyncIterator]()
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(late.resolve, DRAIN.ms, 'late')
  let bytes = 0
  try {
    for (;;) {
      const step = await Promise.race([source.next(), late.promise])
      if (step === 'late') return false
      if (step.done) return true
      bytes += step.value.length
      if (bytes > DRAIN.bytes) return false
    }
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}
