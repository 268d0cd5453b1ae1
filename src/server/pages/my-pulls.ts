import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pagePullsOf } from '../../indexer/read.ts'
import { pullRow } from '../../queue/answers/pull-rows.ts'
import { myPullGroups, titleWords } from '../../queue/words/pages.ts'
import type { MyPullRow, MyPullsPage } from '../../views/models.ts'
import { withQuery } from '../../views/paths.ts'
import { answerContext } from '../answer-context.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import { frameOf } from '../http/frame.ts'
import { visitOf } from '../http/visit.ts'
import { namesOf } from '../names.ts'
import type { PageContext } from './context.ts'
import { eventsPath } from './events.ts'
import { type Located, locatePullAt } from './locate.ts'
import { haveQuery, sendLive } from './send.ts'
import type { Topic } from './streams.ts'

const PAGE = 50

interface Query {
  have?: string
  state?: 'open' | 'closed' | 'merged'
  cursor?: string
}

const query = {
  type: 'object',
  properties: {
    ...haveQuery,
    state: { type: 'string', enum: ['open', 'closed', 'merged'] },
    cursor: { type: 'string', maxLength: 512 },
  },
} as const

/** Everything that whoever is logged in has opened, over all repositories, and where each stands. */
export function addMyPulls(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Querystring: Query }>('/pulls', { schema: { querystring: query } }, (request, reply) => {
    const viewer = visitOf(request).session?.did
    if (viewer === undefined) return sendToLogIn(ctx.config.publicUrl, request, reply)
    return sendLive(ctx, request, reply, 'my-pulls', myPulls(ctx, request, viewer, request.query), { have: request.query.have })
  })
}

function myPulls(ctx: PageContext, request: FastifyRequest, viewer: string, asked: Query): MyPullsPage {
  const state = asked.state ?? 'open'
  const listed = pagePullsOf(ctx.database, {
    author: viewer,
    settled: state !== 'open',
    limit: PAGE,
    ...(asked.cursor === undefined ? {} : { cursor: asked.cursor }),
  })
  const asking = new Map<string, ReturnType<typeof answerContext>>()
  const topics = new Map<string, Topic>()
  const askingOf = (at: Located) => {
    const known = asking.get(at.row.uri) ?? answerContext(ctx, at, viewer)
    asking.set(at.row.uri, known)
    return known
  }
  const rows = listed.items.flatMap((uri): MyPullRow[] => {
    const at = locatePullAt(ctx, uri)
    if (at === undefined || at.pull.state !== state) return []
    topics.set(at.row.uri, { of: at.row.uri, version: at.version })
    return [{ repo: at.head, ...pullRow(at.view, at.pull, askingOf(at)) }]
  })
  const groups = myPullGroups(state).map(({ title, holds }) => ({ title, pulls: rows.filter(({ standing }) => holds(standing.kind)) }))
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: titleWords({ key: 'my-pulls' }),
        description: 'Where your pulls stand.',
        // Of whom nothing is listed yet hears when that may be different: others' lists are made for each, and follow what they show.
        live: topics.size === 0 ? eventsPath(ctx.anyChange.topic()) : eventsPath(...topics.values()),
      }),
      names: namesOf(ctx.database),
    },
    state,
    groups: groups.filter(({ pulls }) => pulls.length > 0),
    paging: {
      from: rows.length === 0 ? 0 : 1,
      to: rows.length,
      earlier: asked.cursor === undefined ? undefined : withQuery(request.url, { cursor: undefined, have: undefined }),
      later: listed.cursor === undefined ? undefined : withQuery(request.url, { cursor: listed.cursor, have: undefined }),
    },
  }
}
