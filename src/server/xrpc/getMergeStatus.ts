import type { HandlerContext } from '@atproto/xrpc-server'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { mergeStatusAnswer } from '../../queue/answers/index.ts'
import { answerContext } from '../answer-context.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import type { Front } from './front.ts'
import { createQuery, findPull, made } from './queries.ts'

/** dev.knotless.getMergeStatus: where a pull stands, whether it would land, what the caller may do. */
export function getMergeStatus(ctx: Context, front: Front) {
  const query = createQuery<knotless.getMergeStatus.$OutputBody>(ctx, front)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.getMergeStatus'),
    handler: (question: HandlerContext<Caller, knotless.getMergeStatus.$Params>) =>
      query(question, async caller => {
        const found = await findPull(ctx, question.params.pull)
        const asking = answerContext(ctx, found, caller)
        return made(mergeStatusAnswer(found.view, found.uri, asking), asking, { repo: found.view.uri, version: found.version })
      }),
  }
}
