import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { changeActs, judgeChange } from '../../queue/changing.ts'
import { changedAlready, changeLabels } from '../../queue/words/changing.ts'
import { titleWords } from '../../queue/words/pages.ts'
import type { ChangeAct } from '../../queue/words/refusals.ts'
import { repositoryName } from '../../views/paths.ts'
import { changePull } from '../actions/change-pull.ts'
import { grants } from '../auth/scopes.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import { sendPage } from '../http/answers.ts'
import { limited } from '../http/limits.ts'
import { visitOf } from '../http/visit.ts'
import type { PageContext } from './context.ts'
import { locatePull } from './locate.ts'
import { answerBox, askedOf, logInAgain, type Pulled } from './pull-actions.ts'
import { changeLine, changeRightOf, changes } from './pull-changing.ts'
import { type PullParams, pullParams, sendNoPull } from './pull-page.ts'
import { aboutPull } from './question.ts'

/** Close, Reopen, Mark as ready and Make a draft, with and without script; and the question before the two that may cost a place, for those without. */
export function addPullChanges(app: FastifyInstance, ctx: PageContext): void {
  const options = { schema: { params: pullParams }, ...limited('writes') }
  for (const act of changeActs) {
    app.post<{ Params: PullParams }>(`/:owner/:name/pulls/:author/:key/${changes[act].path}`, options, (request, reply) =>
      change(ctx, request, reply, act),
    )
  }
  for (const act of ['close', 'draft'] as const) {
    app.get<{ Params: PullParams }>(
      `/:owner/:name/pulls/:author/:key/${changes[act].path}`,
      { schema: { params: pullParams } },
      (request, reply) => ask(ctx, request, reply, act),
    )
  }
}

async function change(ctx: PageContext, request: Pulled, reply: FastifyReply, act: ChangeAct): Promise<FastifyReply> {
  const asked = askedOf(ctx, request, reply)
  if ('sent' in asked) return asked.sent
  const mayWrite = grants((await ctx.oauth.granted(asked.caller)) ?? '', changes[act].scope)
  const done = await changePull(ctx.actions, { ...asked, act, mayWrite })
  if (done.ok) return answerBox(ctx, request, reply, done.already ? { notice: changedAlready(act) } : {})
  if (done.refusal !== undefined) return answerBox(ctx, request, reply, { refused: done.refusal }, 422)
  if (done.why === 'log-in') return logInAgain(ctx, request, reply)
  const at = locatePull(ctx, request.params)
  if (at === undefined) return sendNoPull(ctx, request, reply)
  return answerBox(ctx, request, reply, { right: await changeRightOf(ctx, at, { caller: asked.caller, act }) }, 422)
}

/** The question, where scripts are off: what it would do, or why it cannot be done. */
function ask(ctx: PageContext, request: FastifyRequest<{ Params: PullParams }>, reply: FastifyReply, act: 'close' | 'draft'): FastifyReply {
  const at = locatePull(ctx, request.params)
  if (at === undefined) return sendNoPull(ctx, request, reply)
  const { session } = visitOf(request)
  if (session === undefined) return sendToLogIn(ctx.config.publicUrl, request, reply)
  const { uri, value } = at.pull.pull
  const judged = judgeChange(act, { view: at.view, pull: uri, caller: session.did })
  const refused = judged.ok ? (judged.already ? changedAlready(act) : undefined) : judged.refusal
  const repo = repositoryName(at.head.owner, at.head.name)
  const title = titleWords({ key: 'pull', standing: changeLabels[act], title: value.title, repo })
  const about = aboutPull(ctx, request, at, { title, description: `${changeLabels[act]}: ${repo}.` })
  reply.header('cache-control', 'no-store')
  return sendPage(ctx, reply, 'confirm-change', { ...about, change: changeLine(at, act), refused }, refused ? 422 : 200)
}
