import type { HandlerContext } from '@atproto/xrpc-server'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { pullsAnswer } from '../../queue/answers/index.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import { presentBranch } from './present-branch.ts'
import { pullsPage } from './pulls-page.ts'
import { answerContext, answerKey, answersOf, findRepo, made, send } from './queries.ts'

/** dev.knotless.listPulls: pulls of a repository, newest first. */
export function listPulls(ctx: Context) {
  const answers = answersOf<knotless.listPulls.$OutputBody>(ctx)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.listPulls'),
    async handler({ params, auth, req }: HandlerContext<Caller, knotless.listPulls.$Params>) {
      const { caller } = auth.credentials
      const answer = await answers.get(answerKey(params, caller), async () => {
        const found = await findRepo(ctx, params.repo)
        const asking = answerContext(ctx, found, caller)
        const of = { repo: found.view.uri, version: found.version }
        const branchPresent = params.branch !== undefined && presentBranch(ctx, found.view, params.branch) !== undefined
        const answered = made(pullsAnswer(found.view, { ...params, branchPresent }, asking), asking, of)
        return params.state === 'open' ? answered : { body: pullsPage(ctx, found, params, asking), of }
      })
      return send(req, answer)
    },
  }
}
