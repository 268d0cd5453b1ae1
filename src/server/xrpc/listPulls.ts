import type { HandlerContext } from '@atproto/xrpc-server'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { pullsAnswer } from '../../queue/answers/index.ts'
import { answerContext } from '../answer-context.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import type { Front } from './front.ts'
import { presentBranch } from './present-branch.ts'
import { pullsPage } from './pulls-page.ts'
import { createQuery, findRepo, made } from './queries.ts'

/** dev.knotless.listPulls: pulls of a repository, newest first. */
export function listPulls(ctx: Context, front: Front) {
  const query = createQuery<knotless.listPulls.$OutputBody>(ctx, front)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.listPulls'),
    handler: (question: HandlerContext<Caller, knotless.listPulls.$Params>) =>
      query(question, async caller => {
        const { params } = question
        const found = await findRepo(ctx, params.repo)
        const asking = answerContext(ctx, found, caller)
        const of = { repo: found.view.uri, version: found.version }
        const branchPresent = params.branch !== undefined && presentBranch(ctx, found.view, params.branch) !== undefined
        const answered = made(pullsAnswer(found.view, { ...params, branchPresent }, asking), asking, of)
        return params.state === 'open' ? answered : { body: pullsPage(ctx, found, params, asking), of }
      }),
  }
}
