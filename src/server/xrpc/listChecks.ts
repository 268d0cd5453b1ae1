import type { HandlerContext } from '@atproto/xrpc-server'
import { pageChecks } from '../../indexer/read.ts'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { checksAnswer } from '../../queue/answers/index.ts'
import type { Context } from '../context.ts'
import { type Caller, optionalCaller } from './caller.ts'
import { answerContext, answerKey, answersOf, findPull, findRepo, made, send } from './queries.ts'

/** dev.knotless.listChecks: checks by the repository's named runners, newest first. Pages are those of the index. */
export function listChecks(ctx: Context) {
  const answers = answersOf<knotless.listChecks.$OutputBody>(ctx)
  return {
    auth: optionalCaller(ctx, 'dev.knotless.listChecks'),
    async handler({ params, auth, req }: HandlerContext<Caller, knotless.listChecks.$Params>) {
      const { caller } = auth.credentials
      const answer = await answers.get(answerKey(params, caller), async () => {
        const { pull, commit, branch, limit } = params
        const repo = await findRepo(ctx, params.repo)
        const about = pull === undefined ? undefined : await findPull(ctx, pull)
        const { view, version } = about?.view.uri === repo.view.uri ? about : repo
        const asking = answerContext(ctx, { view, version }, caller)
        const chosen = { ...(about && { pull: about.uri }), ...(commit && { commit }), ...(branch && { branch }), ...(limit && { limit }) }
        const page = pageChecks(ctx.database, {
          repo: repo.view.uri,
          writers: view.roles.runners,
          ...chosen,
          ...(params.cursor && { cursor: params.cursor }),
        })
        const answered = made(checksAnswer(view, page.items, chosen, asking), asking, { repo: view.uri, version })
        return { ...answered, body: { ...answered.body, cursor: page.cursor } }
      })
      return send(req, answer)
    },
  }
}
