import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { RefusedRequest } from '../http/errors.ts'
import { type RepoParams, repoParams } from '../pages/locate.ts'
import { sendWords } from './answers.ts'
import { createGitDoor } from './door.ts'
import { createFetch } from './fetch.ts'
import { createPush } from './push.ts'
import { words } from './words.ts'

const types = ['application/x-git-upload-pack-request', 'application/x-git-receive-pack-request']
const serviceQuery = { type: 'object', properties: { service: { type: 'string', maxLength: 64 } } } as const

/**
 * Git's smart HTTP protocol at `/<owner>/<name>.git`, and at the address of the page without `.git`, which is what people paste. In a scope of its
 * own: no cookie is read, bodies come as streams, and whatever is refused is refused in plain words, which git shows.
 */
export function addGitHttp(app: FastifyInstance, ctx: Context): void {
  const door = createGitDoor(ctx)
  const fetch = createFetch(door)
  const push = createPush(door)
  app.addHook('preClose', async () => {
    await Promise.all([door.fresh.stop(), door.upkeep.stop()])
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(types, (_request, _payload, done) => done(null))
  app.setErrorHandler((error: FastifyError | RefusedRequest, request, reply) => answerError(ctx, error, request, reply))

  app.get<{ Params: RepoParams; Querystring: { service?: string } }>(
    '/:owner/:name/info/refs',
    { schema: { params: repoParams, querystring: serviceQuery }, exposeHeadRoute: false },
    (request, reply) => {
      if (request.query.service === 'git-upload-pack') return fetch.advertise(request, reply)
      if (request.query.service === 'git-receive-pack') return push.advertise(request, reply)
      return sendWords(reply, 400, words.onlySmart())
    },
  )
  // The time of their bodies is bounded here, by the route.
  const options = { schema: { params: repoParams }, config: { longBody: true } }
  app.post<{ Params: RepoParams }>('/:owner/:name/git-upload-pack', options, (request, reply) => fetch.serve(request, reply))
  app.post<{ Params: RepoParams }>('/:owner/:name/git-receive-pack', options, (request, reply) => push.serve(request, reply))
}

function answerError(ctx: Context, error: FastifyError | RefusedRequest, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const close = request.method === 'POST' ? { connection: 'close' } : {}
  if (error instanceof RefusedRequest) {
    const { message, advice } = error.refusal
    return sendWords(reply, error.statusCode, advice === undefined ? message : `${message} ${advice}`, close)
  }
  const status = error.statusCode ?? 500
  if (status < 500) return sendWords(reply, status, status === 415 ? words.wrongType() : words.requestUnreadable(), close)
  const id = ctx.ids.error()
  ctx.metrics.unexpected.inc()
  request.log.error({ err: error, errorId: id }, 'unexpected error')
  return sendWords(reply, 500, words.broken(id), close)
}
