import type { FastifyInstance, FastifyRequest } from 'fastify'
import { countRepositories, listRepositories, type RepositoryRow, versionOf } from '../../indexer/read.ts'
import { queueSummaryParts } from '../../queue/answers/queue.ts'
import { titleWords } from '../../queue/words/pages.ts'
import type { HomePage, RepositoryLine } from '../../views/models.ts'
import { accountPath, withQuery } from '../../views/paths.ts'
import { gatewayFacts } from '../gateway/facts.ts'
import { frameOf } from '../http/frame.ts'
import { lookAsNobody, visitOf } from '../http/visit.ts'
import { namesOf } from '../names.ts'
import type { PageContext } from './context.ts'
import { eventsPath } from './events.ts'
import { accountOf } from './locate.ts'
import { haveQuery, sendKept, sendLive, sendMissing } from './send.ts'
import type { Topic } from './streams.ts'

const PAGE = 20
/** How many of one's own repositories are looked at for what needs a look. */
const MOST_MINE = 50

interface Query {
  have?: string
  q?: string
  mine?: string
  ill?: string
  cursor?: string
}

const query = {
  type: 'object',
  properties: {
    ...haveQuery,
    q: { type: 'string', maxLength: 200 },
    mine: { type: 'string', maxLength: 8 },
    ill: { type: 'string', maxLength: 8 },
    cursor: { type: 'string', maxLength: 2_048 },
  },
} as const

const ownerParams = { type: 'object', properties: { owner: { type: 'string', maxLength: 512 } }, required: ['owner'] } as const

/** The list of repositories, each with its queues; an account's own address leads to those that it owns. */
export function addHomePage(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Querystring: Query }>('/', { schema: { querystring: query } }, (request, reply) => {
    if (isStranger(ctx, request, request.query)) lookAsNobody(request)
    if (sendKept(ctx, request, reply)) return reply
    const model = homeModel(ctx, request, request.query)
    const topics = [ctx.anyChange.topic(), ...model.repositories.map(({ uri }) => topicOf(ctx, uri))]
    const of = topics.map(topic => ({ repo: topic.of, version: topic.version }))
    return sendLive(ctx, request, reply, 'home', model, { have: request.query.have, of })
  })

  app.get<{ Params: { owner: string } }>('/:owner', { schema: { params: ownerParams } }, (request, reply) => {
    const did = accountOf(ctx, request.params.owner)
    if (did === undefined || countRepositories(ctx.database, { owner: did }) === 0) return sendMissing(ctx, request, reply)
    return reply.redirect(accountPath({ did, handle: namesOf(ctx.database)(did) }), 302)
  })
}

/** Whether somebody who is logged in and has no repository asks what changed on the list of all: it is for them as for nobody. */
function isStranger(ctx: PageContext, request: FastifyRequest, { have, mine, ill }: Query): boolean {
  const viewer = visitOf(request).session?.did
  if (viewer === undefined || have === undefined || mine !== undefined || ill !== undefined) return false
  return countRepositories(ctx.database, { member: viewer }) === 0
}

function homeModel(ctx: PageContext, request: FastifyRequest, asked: Query): HomePage {
  const viewer = visitOf(request).session?.did
  const q = (asked.q ?? '').trim()
  const ill = asked.ill === '1' && viewer !== undefined
  const mine = asked.mine === '1' && viewer !== undefined && !ill
  // Whoever is named whole is looked up, not looked for: links on names of people come here.
  const owner = accountOf(ctx, q)
  const named = owner === undefined ? { q } : { owner }
  const bounds = { ...named, ...(mine ? { member: viewer } : {}) }
  const needLook = viewer === undefined ? [] : illOf(ctx, named, viewer)
  const page = ill
    ? { repositories: [], cursor: undefined }
    : listRepositories(ctx.database, { ...bounds, limit: PAGE, ...(asked.cursor === undefined ? {} : { cursor: asked.cursor }) })
  const counts = {
    all: countRepositories(ctx.database, named),
    ...(viewer === undefined ? {} : { mine: countRepositories(ctx.database, { ...named, member: viewer }), ill: needLook.length }),
  }
  const repositories = ill ? needLook : page.repositories.flatMap(row => lineOf(ctx, row, viewer))
  const of = ill ? counts.ill : mine ? counts.mine : counts.all
  // What is made for one reader alone is not asked for whenever anything anywhere changes, unless there is nothing else to follow.
  const isForMany = repositories.length === 0 || viewer === undefined || countRepositories(ctx.database, { member: viewer }) === 0
  const isAll = page.cursor === undefined && asked.cursor === undefined
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: titleWords({ key: 'home' }),
        description: 'Merge queues of repositories on the AT Protocol.',
        alternateJson: '/xrpc/dev.knotless.listQueues',
        live: eventsPath(...(isForMany ? [ctx.anyChange.topic()] : []), ...repositories.map(({ uri }) => topicOf(ctx, uri))),
      }),
      names: namesOf(ctx.database),
    },
    q,
    owner: owner === undefined ? undefined : { did: owner, handle: namesOf(ctx.database)(owner) },
    mine,
    ill,
    counts,
    repositories,
    paging: {
      from: repositories.length === 0 ? 0 : 1,
      to: repositories.length,
      of: isAll ? of : undefined,
      earlier: asked.cursor === undefined ? undefined : withQuery(request.url, { cursor: undefined, have: undefined }),
      later: page.cursor === undefined ? undefined : withQuery(request.url, { cursor: page.cursor, have: undefined }),
    },
  }
}

function topicOf(ctx: PageContext, repo: string): Topic {
  return { of: repo, version: versionOf(ctx.database, repo) }
}

/** One's own repositories that have a queue which needs a look. */
function illOf(ctx: PageContext, named: { q?: string; owner?: string }, viewer: string): RepositoryLine[] {
  const { repositories } = listRepositories(ctx.database, { ...named, member: viewer, limit: MOST_MINE })
  return repositories.flatMap(row => lineOf(ctx, row, viewer)).filter(({ queues }) => queues.some(({ health }) => needsLook(health.tone)))
}

/** Whether a queue in this tone is one that somebody should do something about. */
function needsLook(tone: string): boolean {
  return tone === 'attention' || tone === 'danger'
}

function lineOf(ctx: PageContext, row: RepositoryRow, viewer: string | undefined): RepositoryLine[] {
  const found = ctx.repositories.viewOf(row.uri)
  if (found === undefined) return []
  const { view, version } = found
  const names = namesOf(ctx.database, view)
  return [
    {
      uri: row.uri,
      owner: { did: row.did, handle: row.handle },
      name: row.name,
      description: view.record.value.description,
      mine: viewer !== undefined && view.roles.mayMerge(viewer),
      queues: queueSummaryParts(view, {
        now: ctx.now(),
        caller: viewer,
        names,
        version,
        gateway: gatewayFacts(ctx, view.roles.owner),
        stallAfter: ctx.config.stallAfterMs,
        lastSeen: ctx.passes.lastSeen(view.record.uri),
      }),
    },
  ]
}
