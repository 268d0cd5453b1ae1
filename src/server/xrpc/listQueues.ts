import type { HandlerContext } from '@atproto/xrpc-server'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { queueSummaries } from '../../queue/answers/index.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import { answerContext, answerKey, answersOf, findRepo, send } from './queries.ts'
import { queuesPage, readQueuesCursor } from './queues-page.ts'

const LIMIT = 50

/** dev.knotless.listQueues: every branch with a queue, of one repository or of all. */
export function listQueues(ctx: Context) {
  const answers = answersOf<knotless.listQueues.$OutputBody>(ctx)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.listQueues'),
    async handler({ params, auth, req }: HandlerContext<Caller, knotless.listQueues.$Params>) {
      const { caller } = auth.credentials
      const answer = await answers.get(answerKey(params, caller), async () => {
        const limit = params.limit ?? LIMIT
        if (params.repo === undefined) return { body: queuesPage(ctx, { limit, cursor: params.cursor }, caller) }
        const found = await findRepo(ctx, params.repo)
        const all = queueSummaries(found.view, answerContext(ctx, found, caller))
        const { skip } = readQueuesCursor(params.cursor)
        const cursor = skip + limit < all.length ? JSON.stringify(['', skip + limit]) : undefined
        return { body: { queues: all.slice(skip, skip + limit), cursor }, of: { repo: found.view.uri, version: found.version } }
      })
      return send(req, answer)
    },
  }
}
