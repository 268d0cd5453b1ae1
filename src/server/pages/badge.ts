import type { FastifyInstance } from 'fastify'
import { queueParts } from '../../queue/answers/queue.ts'
import { badgeWords, noBadgeWords } from '../../queue/words/pages.ts'
import { badgeSvg } from '../../views/badge.ts'
import { answerContext } from '../answer-context.ts'
import { sendTagged } from '../http/tagged.ts'
import { presentBranch } from '../xrpc/present-branch.ts'
import type { BranchParams } from './branch-params.ts'
import type { PageContext } from './context.ts'
import { locate, repoParams } from './locate.ts'

/** A badge may be this old, in seconds: what shows it asks no more often. */
const GOOD_FOR = 60

/** How a branch's queue does, as a picture for a README. Other sites may show it; a branch that is not there gets a picture that says so. */
export function addBadge(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Params: BranchParams }>('/:owner/:name/badge/*', { schema: { params: repoParams } }, (request, reply) => {
    const branch = request.params['*']
    const words = badgeOf(ctx, request.params)
    reply.header('cross-origin-resource-policy', 'cross-origin').code(words === undefined ? 404 : 200)
    const { says, tone } = words ?? { says: noBadgeWords(branch), tone: 'neutral' }
    const svg = badgeSvg({ left: branch, right: says.slice(branch.length + 2), says, tone })
    return sendTagged(request, reply, { text: svg, type: 'image/svg+xml; charset=utf-8', seconds: GOOD_FOR })
  })
}

function badgeOf(ctx: PageContext, params: BranchParams): { says: string; tone: string } | undefined {
  const branch = params['*']
  const at = locate(ctx, params)
  if (at === undefined) return undefined
  const answer = queueParts(at.view, { branch, limit: 1, present: presentBranch(ctx, at.view, branch) }, answerContext(ctx, at, undefined))
  if (!answer.ok) return undefined
  const { length, health } = answer.body
  return { says: badgeWords(branch, length, health.label), tone: health.tone }
}
