import type { HandlerContext } from '@atproto/xrpc-server'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { queueAnswer } from '../../queue/answers/index.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import { presentBranch } from './present-branch.ts'
import { answerContext, answerKey, answersOf, findRepo, made, send } from './queries.ts'

/** dev.knotless.getQueue: a branch's queue, its batches, what was turned away and what landed. */
export function getQueue(ctx: Context) {
  const answers = answersOf<knotless.getQueue.$OutputBody>(ctx)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.getQueue'),
    async handler({ params, auth, req }: HandlerContext<Caller, knotless.getQueue.$Params>) {
      const { caller } = auth.credentials
      const answer = await answers.get(answerKey(params, caller), async () => {
        const found = await findRepo(ctx, params.repo)
        const asking = answerContext(ctx, found, caller)
        const present = presentBranch(ctx, found.view, params.branch)
        return made(queueAnswer(found.view, { ...params, present }, asking), asking, { repo: found.view.uri, version: found.version })
      })
      return send(req, answer)
    },
  }
}
