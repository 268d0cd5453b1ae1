import { z } from 'zod'
import type { Did } from '../../atproto/ids.ts'
import { listRepositories } from '../../indexer/read.ts'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { queueSummaries } from '../../queue/answers/index.ts'
import { answerContext } from '../answer-context.ts'
import type { Context } from '../context.ts'

/** Where a list of queues goes on: after which repositories, and how many queues of the next one were given. */
interface Place {
  after: string
  skip: number
}

const shape = z.tuple([z.string(), z.number().int().nonnegative()])

/** What a cursor says; one that is none reads as the beginning. */
export function readQueuesCursor(cursor: string | undefined): Place {
  try {
    const [after, skip] = shape.parse(JSON.parse(cursor ?? ''))
    return { after, skip }
  } catch {
    return { after: '', skip: 0 }
  }
}

/** A page of the queues of all repositories, `limit` at most. Repositories are folded one at a time until the page is full. */
export function queuesPage(
  ctx: Context,
  query: { limit: number; cursor: string | undefined },
  caller: Did | undefined,
): knotless.listQueues.$OutputBody {
  const { limit } = query
  const queues: knotless.defs.QueueSummary[] = []
  let { after, skip } = readQueuesCursor(query.cursor)
  for (;;) {
    const page = listRepositories(ctx.database, { limit: 1, ...(after === '' ? {} : { cursor: after }) })
    const [repository] = page.repositories
    const found = repository && ctx.repositories.viewOf(repository.uri)
    const all = found === undefined ? [] : queueSummaries(found.view, answerContext(ctx, found, caller))
    const room = limit - queues.length
    queues.push(...all.slice(skip, skip + room))
    if (skip + room < all.length) return { queues, cursor: JSON.stringify([after, skip + room]) }
    if (page.cursor === undefined) return { queues }
    after = page.cursor
    skip = 0
    if (queues.length === limit) return { queues, cursor: JSON.stringify([after, 0]) }
  }
}
