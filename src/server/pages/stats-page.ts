import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { dayOf, type SpanFigures, spanStart } from '../../queue/stats/figures.ts'
import { statsDescription, statsTitle } from '../../queue/words/stats.ts'
import type { Words } from '../../views/models.ts'
import { repositoryName, repositoryPath, statsPathIn, withQuery } from '../../views/paths.ts'
import { frameOf } from '../http/frame.ts'
import { sendTagged } from '../http/tagged.ts'
import { hasBranch } from '../xrpc/present-branch.ts'
import { noBranch } from './branch-params.ts'
import type { PageContext } from './context.ts'
import { eventsPath } from './events.ts'
import { type Located, locate, type RepoParams, repoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { haveQuery, sendKept, sendLive, sendMissing } from './send.ts'
import { statsCsv, statsJson } from './stats-files.ts'
import { DAYS, type StatsQuery, statsFigures, statsModel } from './stats-model.ts'

const day = { type: 'string', pattern: '^2\\d{3}-\\d{2}-\\d{2}$' } as const
const query = {
  type: 'object',
  properties: { ...haveQuery, days: { type: 'integer', enum: [7, 30, 90] }, branch: { type: 'string', maxLength: 255 }, day, compare: day },
} as const

/** A file of figures is asked for again after so many seconds. */
const GOOD_FOR = 60

/** How the queues of a repository did (REA-3): a page, and the same numbers as CSV and JSON. */
export function addStatsPage(app: FastifyInstance, ctx: PageContext): void {
  const schema = { params: repoParams, querystring: query }
  type Route = { Params: RepoParams; Querystring: StatsQuery }

  app.get<Route>('/:owner/:name/stats', { schema }, (request, reply) => {
    if (sendKept(ctx, request, reply)) return reply
    const at = locate(ctx, request.params)
    const missing = missingAt(ctx, at, request)
    if (at === undefined || missing !== undefined) return sendMissing(ctx, request, reply, missing)
    return sendStats(ctx, request, reply, at, request.query)
  })

  function addFile(ending: string, type: string, write: (figures: SpanFigures, at: Located, asked: StatsQuery) => string): void {
    app.get<Route>(`/:owner/:name/stats.${ending}`, { schema }, (request, reply) => {
      const at = locate(ctx, request.params)
      const missing = missingAt(ctx, at, request)
      if (at === undefined || missing !== undefined) return sendMissing(ctx, request, reply, missing)
      const { days = DAYS } = request.query
      const figures = statsFigures(ctx, at, request.query)
      reply.header('content-disposition', `inline; filename="stats-${days}-days.${ending}"`)
      return sendTagged(request, reply, { text: write(figures, at, request.query), type, seconds: GOOD_FOR })
    })
  }
  addFile('csv', 'text/csv; charset=utf-8', statsCsv)
  addFile('json', 'application/json; charset=utf-8', (figures, at, { branch }) => statsJson(figures, { repo: at.row.uri, branch }))
}

/** What is not there of what an address asks for. */
function missingAt(
  ctx: PageContext,
  at: Located | undefined,
  { params, query: { branch } }: FastifyRequest<{ Params: RepoParams; Querystring: StatsQuery }>,
): Words | undefined {
  if (at === undefined) return lookedFor.repository(params.owner, params.name)
  if (branch === undefined || hasBranch(ctx, at.view, branch)) return undefined
  // One that is gone has its past.
  return statsFigures(ctx, at, { days: 90 }).branches.includes(branch) ? undefined : noBranch(ctx, at, branch)
}

function sendStats(ctx: PageContext, request: FastifyRequest, reply: FastifyReply, at: Located, asked: StatsQuery): FastifyReply {
  const { head } = at
  const { days = DAYS, branch } = asked
  const base = statsPathIn(repositoryPath(head.owner, head.name))
  const model = statsModel(ctx, at, asked, base)
  const since = dayOf(spanStart(ctx.now(), days))
  const page = {
    ...model,
    frame: {
      ...frameOf(ctx, request, {
        title: statsTitle(days, repositoryName(head.owner, head.name)),
        description: statsDescription(days, branch),
        alternateJson: withQuery('/xrpc/dev.knotless.getQueueStats', { repo: at.row.uri, branch, since: `${since}T00:00:00Z` }),
        live: eventsPath({ of: at.row.uri, version: at.version }),
      }),
      names: at.names,
    },
  }
  return sendLive(ctx, request, reply, 'stats', page, { have: asked.have, of: { repo: at.row.uri, version: at.version } })
}
