import type { HandlerContext } from '@atproto/xrpc-server'
import { pageChecks } from '../../indexer/read.ts'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { checksAnswer } from '../../queue/answers/index.ts'
import { answerContext } from '../answer-context.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import type { Front } from './front.ts'
import { createQuery, findPull, findRepo, made } from './queries.ts'

/** dev.knotless.listChecks: checks by the repository's named runners, newest first. Pages are those of the index. */
export function listChecks(ctx: Context, front: Front) {
  const query = createQuery<knotless.listChecks.$OutputBody>(ctx, front)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.listChecks'),
    handler: (question: HandlerContext<Caller, knotless.listChecks.$Params>) =>
      query(question, async caller => {
        const { pull, commit, branch, limit, cursor } = question.params
        const repo = await findRepo(ctx, question.params.repo)
        const about = pull === undefined ? undefined : await findPull(ctx, pull)
        const { view, version } = about?.view.uri === repo.view.uri ? about : repo
        const asking = answerContext(ctx, { view, version }, caller)
        const chosen = { ...(about && { pull: about.uri }), ...(commit && { commit }), ...(branch && { branch }), ...(limit && { limit }) }
        const page = pageChecks(ctx.database, { repo: view.uri, writers: view.roles.runners, ...chosen, ...(cursor && { cursor }) })
        const { body, of } = made(checksAnswer(view, page.items, chosen, asking), asking, { repo: view.uri, version })
        return { body: { ...body, cursor: page.cursor }, of }
      }),
  }
}
