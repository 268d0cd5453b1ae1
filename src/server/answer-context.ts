import { figuresOf, historyOf, type VersionedView } from '../indexer/read.ts'
import type { AnswerContext } from '../queue/answers/context.ts'
import type { Names } from '../queue/words/phrase.ts'
import type { Context } from './context.ts'
import { gatewayFacts } from './gateway/facts.ts'
import { namesOf } from './names.ts'

/** What answers about a repository are made with, for one request of `caller`, a DID; undefined for somebody who is not logged in. */
export function answerContext(
  ctx: Context,
  { view, version, names = namesOf(ctx.database, view) }: VersionedView & { names?: Names },
  caller: string | undefined,
): AnswerContext {
  const now = ctx.now()
  const repo = view.record.uri
  return {
    now,
    caller,
    names,
    version,
    gateway: gatewayFacts(ctx, view.roles.owner),
    lastSeen: ctx.passes.lastSeen(repo),
    stallAfter: ctx.config.stallAfterMs,
    behind: ctx.indexer.behindMs(),
    history: branch => historyOf(ctx.database, repo, { branch, generation: view.branches.get(branch)?.generation ?? 0 }),
    figures: (branch, days) => figuresOf(ctx.database, { repo, branch, days, now }),
  }
}
