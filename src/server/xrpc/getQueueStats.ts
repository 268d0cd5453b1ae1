import type { HandlerContext } from '@atproto/xrpc-server'
import { statsFacts } from '../../indexer/read.ts'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { repoOf } from '../../queue/admission.ts'
import { queueStatsAnswer } from '../../queue/answers/stats.ts'
import { DAY, onBranch, spanFigures, spanStart } from '../../queue/stats/figures.ts'
import { branchNotFound } from '../../queue/words/refusals.ts'
import type { Context } from '../context.ts'
import { namesOf } from '../names.ts'
import { type Caller, optionalCaller } from './caller.ts'
import type { Front } from './front.ts'
import { hasBranch } from './present-branch.ts'
import { createQuery, findRepo, refused } from './queries.ts'

const DAYS = 30
const MOST_DAYS = 400

/** dev.knotless.getQueueStats: how a queue did, by UTC day (REA-3). */
export function getQueueStats(ctx: Context, front: Front) {
  const query = createQuery<knotless.getQueueStats.$OutputBody>(ctx, front)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.getQueueStats'),
    handler: (question: HandlerContext<Caller, knotless.getQueueStats.$Params>) =>
      query(question, async () => {
        const { repo, branch, since } = question.params
        const { view, version } = await findRepo(ctx, repo)
        const now = ctx.now()
        if (branch !== undefined && !hasBranch(ctx, view, branch))
          throw refused(branchNotFound(repoOf(view), branch, [...view.branches.keys()]), now, namesOf(ctx.database, view))
        const days = daysSince(since, now)
        const facts = onBranch(statsFacts(ctx.database, { repo: view.record.uri, days, now }), branch)
        return { body: queueStatsAnswer(spanFigures(facts, spanStart(now, days), days)), of: { repo: view.uri, version } }
      }),
  }
}

/** How many UTC days there are from the one of `since` to the one of `now`, within what is answered. */
function daysSince(since: string | undefined, now: number): number {
  const from = since === undefined ? Number.NaN : Date.parse(since)
  if (Number.isNaN(from)) return DAYS
  return Math.min(MOST_DAYS, Math.max(1, Math.floor(now / DAY) - Math.floor(from / DAY) + 1))
}
