import type { FastifyReply } from 'fastify'
import { pktLine } from '../../git/pkt-line.ts'

/** Answers in words before git's own protocol begins: git shows the body as `remote:` lines, whatever the status. */
export function sendWords(reply: FastifyReply, status: number, says: string, headers: Record<string, string> = {}): FastifyReply {
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', ...headers })
    .type('text/plain; charset=utf-8')
    .send(`${says}\n`)
}

/** Answers in the place of a fetch's result: git shows it as `fatal: remote error:`. A status would only be shown as a number there. */
export function sendFetchError(reply: FastifyReply, says: string): FastifyReply {
  return gitAnswer(reply, 'upload-pack', 'result').send(pktLine(`ERR ${says}\n`))
}

/** Headers of an answer in git's protocol, which nobody may keep. */
export function gitAnswer(reply: FastifyReply, service: string, what: 'advertisement' | 'result'): FastifyReply {
  return reply.header('cache-control', 'no-cache, max-age=0, must-revalidate').type(`application/x-git-${service}-${what}`)
}

/** A signal that comes when the client goes before the answer is whole. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  return gone.signal
}
