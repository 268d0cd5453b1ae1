import type { HandlerContext } from '@atproto/xrpc-server'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { mergeStatusAnswer } from '../../queue/answers/index.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import { answerContext, answerKey, answersOf, findPull, made, send } from './queries.ts'

/** dev.knotless.getMergeStatus: where a pull stands, whether it would land, what the caller may do. */
export function getMergeStatus(ctx: Context) {
  const answers = answersOf<knotless.getMergeStatus.$OutputBody>(ctx)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.getMergeStatus'),
    async handler({ params, auth, req }: HandlerContext<Caller, knotless.getMergeStatus.$Params>) {
      const { caller } = auth.credentials
      const answer = await answers.get(answerKey(params, caller), async () => {
        const found = await findPull(ctx, params.pull)
        const asking = answerContext(ctx, found, caller)
        return made(mergeStatusAnswer(found.view, found.uri, asking), asking, { repo: found.view.uri, version: found.version })
      })
      return send(req, answer)
    },
  }
}
