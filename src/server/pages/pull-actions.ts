import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type AtUri, type Did, makeAtUri, parseAtUri, parseDid } from '../../atproto/ids.ts'
import { leaving } from '../../queue/leaving.ts'
import { standing } from '../../queue/standing.ts'
import { stayWords } from '../../queue/words/leave.ts'
import { titleWords } from '../../queue/words/pages.ts'
import { alreadyQueued, notQueued } from '../../queue/words/refusals.ts'
import { askedAgain } from '../../queue/words/rerun.ts'
import type { Again } from '../../views/models.ts'
import { repositoryName, withQuery } from '../../views/paths.ts'
import { leaveQueue } from '../actions/leave-queue.ts'
import { queuePull } from '../actions/queue-pull.ts'
import { rerunPull } from '../actions/rerun-pull.ts'
import { answerContext } from '../answer-context.ts'
import { rerunScope } from '../auth/client-metadata.ts'
import { endSession } from '../auth/end-session.ts'
import { grants } from '../auth/scopes.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import { sendPage } from '../http/answers.ts'
import { isFragment } from '../http/frame.ts'
import { limited } from '../http/limits.ts'
import { visitOf } from '../http/visit.ts'
import type { PageContext } from './context.ts'
import { locatePull } from './locate.ts'
import type { Tried } from './merge-box.ts'
import { type PullParams, pullModel, pullParams, rerunRightOf, sendNoPull } from './pull-page.ts'
import { pathOf } from './pull-path.ts'
import { aboutPull } from './question.ts'
import { sendHtml } from './send.ts'

const queueForm = {
  type: 'object',
  properties: { head: { type: 'string', pattern: '^[0-9a-f]{40}$' } },
} as const

export type Pulled = FastifyRequest<{ Params: PullParams }>

/** Add to merge queue, Merge and Leave queue, with and without script; and the question before leaving, for those without. */
export function addPullActions(app: FastifyInstance, ctx: PageContext): void {
  const options = { schema: { params: pullParams }, ...limited('writes') }

  app.post<{ Params: PullParams; Body: { head?: string } | undefined }>(
    '/:owner/:name/pulls/:author/:key/queue',
    { schema: { params: pullParams, body: queueForm }, ...limited('writes') },
    async (request, reply) => {
      const asked = askedOf(ctx, request, reply)
      if ('sent' in asked) return asked.sent
      const head = request.body?.head
      const done = await queuePull(ctx.actions, { ...asked, ...(head === undefined ? {} : { head }) })
      if (!done.ok && done.refusal === undefined) return logInAgain(ctx, request, reply)
      if (!done.ok) return answerBox(ctx, request, reply, { refused: done.refusal }, 422)
      return answerBox(ctx, request, reply, done.already ? { notice: alreadyQueued(done.position, done.length) } : {})
    },
  )

  app.post<{ Params: PullParams; Body: { head?: string } | undefined }>(
    '/:owner/:name/pulls/:author/:key/merge',
    { schema: { params: pullParams, body: queueForm }, ...limited('writes') },
    async (request, reply) => {
      const asked = askedOf(ctx, request, reply)
      if ('sent' in asked) return asked.sent
      const done = await ctx.gateway.mergePull({ ...asked, head: request.body?.head })
      return done.ok ? answerBox(ctx, request, reply, {}) : answerBox(ctx, request, reply, { refused: done.refusal }, 422)
    },
  )

  app.post<{ Params: PullParams }>('/:owner/:name/pulls/:author/:key/leave', options, async (request, reply) => {
    const asked = askedOf(ctx, request, reply)
    if ('sent' in asked) return asked.sent
    const done = await leaveQueue(ctx.actions, asked)
    if (!done.ok && done.refusal === undefined) return logInAgain(ctx, request, reply)
    return done.ok ? answerBox(ctx, request, reply, {}) : answerBox(ctx, request, reply, { refused: done.refusal }, 422)
  })

  app.post<{ Params: PullParams }>('/:owner/:name/pulls/:author/:key/rerun', options, async (request, reply) => {
    const asked = askedOf(ctx, request, reply)
    if ('sent' in asked) return asked.sent
    const at = locatePull(ctx, request.params)
    if (at === undefined) return sendNoPull(ctx, request, reply)
    const mayWrite = grants((await ctx.oauth.granted(asked.caller)) ?? '', rerunScope)
    const done = await rerunPull(ctx.actions, ctx.lateReruns, { ...asked, view: at.view, mayWrite })
    if (!done.ok && done.refusal === undefined && done.why === 'log-in') return logInAgain(ctx, request, reply)
    if (!done.ok) {
      const again = done.refusal === undefined ? { right: await rerunRightOf(ctx, at, asked.caller) } : { refused: done.refusal }
      return answerChecks(ctx, request, reply, again, 422)
    }
    return answerChecks(ctx, request, reply, { notice: askedAgain() })
  })

  app.get<{ Params: PullParams }>('/:owner/:name/pulls/:author/:key/leave', { schema: { params: pullParams } }, (request, reply) => {
    const at = locatePull(ctx, request.params)
    if (at === undefined) return sendNoPull(ctx, request, reply)
    if (visitOf(request).session === undefined) return sendToLogIn(ctx.config.publicUrl, request, reply)
    const leave = leaving(at.view, at.pull)
    const repo = repositoryName(at.head.owner, at.head.name)
    const title = titleWords({ key: 'leave', title: at.pull.pull.value.title, repo })
    const about = aboutPull(ctx, request, at, { title, description: 'Leave the queue?' })
    reply.header('cache-control', 'no-store')
    if (leave === undefined) {
      const refused = notQueued()
      return sendPage(ctx, reply, 'confirm-leave', { ...about, says: refused.message, refused }, 422)
    }
    const { expected } = standing(at.view, at.pull, answerContext(ctx, at, visitOf(request).session?.did))
    const stays = expected === undefined || 'none' in expected ? undefined : stayWords(expected)
    return sendPage(ctx, reply, 'confirm-leave', { ...about, says: leave.page, stays })
  })
}

/** Whoever asks, and for which pull; or the answer to somebody who is not logged in, or asks for a pull that is not known. */
export function askedOf(ctx: PageContext, request: Pulled, reply: FastifyReply): { caller: Did; pull: AtUri } | { sent: FastifyReply } {
  const address = parseAtUri(locatePull(ctx, request.params)?.pull.pull.uri)
  if (address === undefined) return { sent: sendNoPull(ctx, request, reply) }
  const caller = parseDid(visitOf(request).session?.did)
  if (caller === undefined) return { sent: toLogIn(ctx, request, reply) }
  return { caller, pull: makeAtUri(address.did, address.collection, address.rkey) }
}

/** The box with what was tried in it: alone for htmx, as the whole page where it refuses without script, and else by a new request. */
export async function answerBox(ctx: PageContext, request: Pulled, reply: FastifyReply, tried: Tried, status = 200): Promise<FastifyReply> {
  const at = locatePull(ctx, request.params)
  if (at === undefined) return sendNoPull(ctx, request, reply)
  reply.header('cache-control', 'no-store')
  if (isFragment(request)) {
    const model = await pullModel(ctx, request, at, tried, 'box')
    return sendHtml(reply, ctx.renderer.renderPart('pull', 'box', model), status)
  }
  if (status === 200) return reply.redirect(pathOf(at), 303)
  return sendHtml(reply, ctx.renderer.renderPage('pull', await pullModel(ctx, request, at, tried)), status)
}

/** The checks with what came of asking for them again: alone for htmx, as the whole page where it refuses without script, and else by a new request. */
async function answerChecks(ctx: PageContext, request: Pulled, reply: FastifyReply, again: Again, status = 200): Promise<FastifyReply> {
  const at = locatePull(ctx, request.params)
  if (at === undefined) return sendNoPull(ctx, request, reply)
  reply.header('cache-control', 'no-store')
  if (isFragment(request)) {
    return sendHtml(reply, ctx.renderer.renderPart('pull', 'checks', await pullModel(ctx, request, at, { again }, 'checks')), status)
  }
  if (status === 200) return reply.redirect(`${withQuery(pathOf(at), { again: 'asked' })}#checks`, 303)
  return sendHtml(reply, ctx.renderer.renderPage('pull', await pullModel(ctx, request, at, { again })), status)
}

/** The grant behind the session is gone: with it the session ends, or the log-in would take it for a good one and lead straight back. */
export async function logInAgain(ctx: PageContext, request: Pulled, reply: FastifyReply): Promise<FastifyReply> {
  const { session } = visitOf(request)
  if (session !== undefined) await endSession(ctx, session.did, session.name)
  return toLogIn(ctx, request, reply)
}

/** Log in, and come back to the pull. */
function toLogIn(ctx: PageContext, request: Pulled, reply: FastifyReply): FastifyReply {
  const at = locatePull(ctx, request.params)
  return at === undefined ? sendNoPull(ctx, request, reply) : sendToLogIn(ctx.config.publicUrl, request, reply, pathOf(at))
}
