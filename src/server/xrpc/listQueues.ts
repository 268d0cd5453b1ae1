import type { HandlerContext } from '@atproto/xrpc-server'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { queueSummaries } from '../../queue/answers/index.ts'
import { answerContext } from '../answer-context.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import type { Front } from './front.ts'
import { createQuery, findRepo } from './queries.ts'
import { queuesPage, readQueuesCursor } from './queues-page.ts'

const LIMIT = 50

/** dev.knotless.listQueues: every branch with a queue, of one repository or of all. */
export function listQueues(ctx: Context, front: Front) {
  const query = createQuery<knotless.listQueues.$OutputBody>(ctx, front)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.listQueues'),
    handler: (question: HandlerContext<Caller, knotless.listQueues.$Params>) =>
      query(question, async caller => {
        const { repo, cursor, limit = LIMIT } = question.params
        if (repo === undefined) return { body: queuesPage(ctx, { limit, cursor }, caller) }
        const found = await findRepo(ctx, repo)
        const all = queueSummaries(found.view, answerContext(ctx, found, caller))
        const { skip } = readQueuesCursor(cursor)
        const rest = skip + limit < all.length ? JSON.stringify(['', skip + limit]) : undefined
        return { body: { queues: all.slice(skip, skip + limit), cursor: rest }, of: { repo: found.view.uri, version: found.version } }
      }),
  }
}
