import { pagePulls, type VersionedView } from '../../indexer/read.ts'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { type AnswerContext, pullView, standingView, textVoice } from '../../queue/answers/index.ts'
import { standing } from '../../queue/standing.ts'
import type { Context } from '../context.ts'

const LIMIT = 50
/** How many pulls are looked at for one page, at most. A page may come out short, with a cursor to go on. */
const LOOKED_AT = 300

/**
 * A page of a repository's pulls with those that were closed or merged long ago, which its view leaves out: they come from the index by key, and
 * each is folded for itself.
 */
export function pullsPage(
  ctx: Context,
  { view }: VersionedView,
  query: knotless.listPulls.$Params,
  asking: AnswerContext,
): knotless.listPulls.$OutputBody {
  const limit = query.limit ?? LIMIT
  const voice = textVoice(asking)
  const pulls: knotless.listPulls.Pull[] = []
  let cursor = query.cursor
  for (let looked = 0; looked < LOOKED_AT; ) {
    const page = pagePulls(ctx.database, {
      repo: view.uri,
      limit: Math.min(100, limit - pulls.length),
      ...(query.branch && { branch: query.branch }),
      ...(query.author && { author: query.author }),
      ...(query.state === undefined ? {} : { settled: true }),
      ...(cursor && { cursor }),
    })
    looked += page.items.length
    for (const uri of page.items) {
      const whole = view.pulls.has(uri) ? view : ctx.repositories.viewOfPull(uri)?.view
      const pull = whole?.pulls.get(uri)
      if (whole === undefined || pull === undefined || (query.state !== undefined && pull.state !== query.state)) continue
      pulls.push({ pull: pullView(pull, asking.names), standing: standingView(standing(whole, pull, asking), voice, asking.names) })
    }
    cursor = page.cursor
    if (cursor === undefined || pulls.length === limit) break
  }
  return { pulls, cursor }
}
