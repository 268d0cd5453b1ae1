import type { HandlerContext } from '@atproto/xrpc-server'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { queueAnswer } from '../../queue/answers/index.ts'
import { answerContext } from '../answer-context.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import type { Front } from './front.ts'
import { presentBranch } from './present-branch.ts'
import { createQuery, findRepo, made } from './queries.ts'

/** dev.knotless.getQueue: a branch's queue, its batches, what was turned away and what landed. */
export function getQueue(ctx: Context, front: Front) {
  const query = createQuery<knotless.getQueue.$OutputBody>(ctx, front)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.getQueue'),
    handler: (question: HandlerContext<Caller, knotless.getQueue.$Params>) =>
      query(question, async caller => {
        const { params } = question
        const found = await findRepo(ctx, params.repo)
        const asking = answerContext(ctx, found, caller)
        const present = presentBranch(ctx, found.view, params.branch)
        return made(queueAnswer(found.view, { ...params, present }, asking), asking, { repo: found.view.uri, version: found.version })
      }),
  }
}
