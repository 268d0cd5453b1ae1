import type { FastifyInstance, FastifyRequest } from 'fastify'
import { mirrorStateOf, pagePulls } from '../../indexer/read.ts'
import type { AnswerContext } from '../../queue/answers/context.ts'
import { pullRow } from '../../queue/answers/pull-rows.ts'
import { queueSummaryParts } from '../../queue/answers/queue.ts'
import { landerLife } from '../../queue/lander-life.ts'
import { tidMillis } from '../../queue/tid.ts'
import type { PullView, RepositoryView } from '../../queue/view.ts'
import { badgeWords, noBadgeWords, titleWords } from '../../queue/words/pages.ts'
import { offerWords } from '../../queue/words/repo-settings-page.ts'
import type { Account, Paging, RepositoryPage, SleepingRecord } from '../../views/models.ts'
import { badgePathIn, queuePath, repositoryName, repositoryPath, withQuery } from '../../views/paths.ts'
import { answerContext } from '../answer-context.ts'
import { frameOf } from '../http/frame.ts'
import { visitOf } from '../http/visit.ts'
import { namesOf } from '../names.ts'
import { feedLink } from './branch-params.ts'
import type { PageContext } from './context.ts'
import { eventsPath } from './events.ts'
import { type Located, locate, type RepoParams, repoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { offeredTo } from './repo-settings-accept.ts'
import { haveQuery, sendKept, sendLive, sendMissing } from './send.ts'

const PAGE = 50

interface Query {
  have?: string
  state?: 'open' | 'closed' | 'merged'
  mine?: string
  page?: number
  cursor?: string
}

const query = {
  type: 'object',
  properties: {
    ...haveQuery,
    state: { type: 'string', enum: ['open', 'closed', 'merged'] },
    mine: { type: 'string', maxLength: 8 },
    page: { type: 'integer', minimum: 1, maximum: 100_000 },
    cursor: { type: 'string', maxLength: 512 },
  },
} as const

/** The overview of one repository: its queues, its pulls, its people. */
export function addRepositoryPage(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Params: RepoParams; Querystring: Query }>(
    '/:owner/:name',
    { schema: { params: repoParams, querystring: query } },
    (request, reply) => {
      if (sendKept(ctx, request, reply)) return reply
      const at = locate(ctx, request.params)
      const cloned = at === undefined ? ofCloneAddress(ctx, request.params) : undefined
      if (cloned !== undefined) return reply.redirect(repositoryPath(cloned.head.owner, cloned.head.name), 302)
      if (at === undefined) return sendMissing(ctx, request, reply, lookedFor.repository(request.params.owner, request.params.name))
      const model = repositoryModel(ctx, request, at, request.query)
      const of = { repo: at.row.uri, version: at.version }
      return sendLive(ctx, request, reply, 'repository', model, { have: request.query.have, of })
    },
  )
}

/** Addresses below a repository's that lead nowhere: the page says so, and leads back to the repository. */
export function addNowhere(app: FastifyInstance, ctx: PageContext): void {
  app.get('/:owner/:name/*', { schema: { params: repoParams } }, (request, reply) => sendMissing(ctx, request, reply))
}

/** The repository whose clone address was opened in a browser. */
function ofCloneAddress(ctx: PageContext, { owner, name }: RepoParams): Located | undefined {
  return name.endsWith('.git') ? locate(ctx, { owner, name: name.slice(0, -'.git'.length) }) : undefined
}

function repositoryModel(ctx: PageContext, request: FastifyRequest, at: Located, asked: Query): RepositoryPage {
  const { view, head, names } = at
  const viewer = visitOf(request).session?.did
  const asking = answerContext(ctx, at, viewer)
  const account = (did: string): Account => ({ did, handle: names(did) })
  const state = asked.state ?? 'open'
  const mine = asked.mine === '1' && viewer !== undefined
  const { pulls, paging } =
    state === 'open' ? openPulls(request, at, asking, asked, mine) : settledPulls(ctx, request, at, asking, asked, mine)
  const mirror = mirrorStateOf(ctx.database, view.record.uri)
  const { gateway } = view.record.value
  const { description } = view.record.value
  const queues = queueSummaryParts(view, asking)
  const repoName = repositoryName(head.owner, head.name)
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: titleWords({ key: 'repository', repo: repoName }),
        description: description ?? repoName,
        alternateJson: `/xrpc/dev.knotless.listPulls?repo=${encodeURIComponent(at.row.uri)}`,
        feed: feedLink(head, head.defaultBranch),
        live: eventsPath({ of: at.row.uri, version: at.version }),
      }),
      names,
    },
    repo: head,
    cloneUrl: `${ctx.config.publicUrl}${repositoryPath(head.owner, head.name)}.git`,
    description,
    queues,
    pulls,
    filter: { state, mine },
    paging,
    collaborators: view.roles.collaborators.map(account),
    runners: runnersOf(view, asking, account),
    gateway: { did: gateway, here: gateway === ctx.config.did, delegated: asking.gateway?.delegation.state === 'given' },
    badge: badgeOf(ctx, at, queues),
    offer: offerTo(view, viewer),
    movedTo: movedTo(ctx, view),
    mirror:
      mirror === undefined || mirror.ok
        ? undefined
        : { says: mirror.message ?? 'The git state could not be read.', since: mirror.failedAt },
    sleeping: viewer === view.roles.owner ? sleepingOf(view, account) : undefined,
  }
}

function badgeOf(ctx: PageContext, { head }: Located, queues: RepositoryPage['queues']): RepositoryPage['badge'] {
  const branch = head.defaultBranch
  const lane = queues.find(each => each.branch === branch)
  const href = badgePathIn(repositoryPath(head.owner, head.name), branch)
  const says = lane?.health.label === undefined ? noBadgeWords(branch) : badgeWords(branch, lane.length, lane.health.label)
  const whole = (path: string) => `${ctx.config.publicUrl}${path}`
  const alt = `Merge queue of ${branch}`.replace(/[\\[\]]/g, '\\$&')
  return { href, says, markdown: `[![${alt}](${whole(href)})](${whole(queuePath(head.owner, head.name, branch))})` }
}

type Rows = Pick<RepositoryPage, 'pulls' | 'paging'>

function openPulls(request: FastifyRequest, at: Located, asking: AnswerContext, asked: Query, mine: boolean): Rows {
  const open = [...at.view.pulls.values()]
    .filter(pull => pull.state === 'open' && (!mine || pull.pull.did === asking.caller))
    .sort((a, b) => (a.pull.rkey < b.pull.rkey ? 1 : -1))
  const pages = Math.max(1, Math.ceil(open.length / PAGE))
  const page = Math.min(asked.page ?? 1, pages)
  const rows = open.slice((page - 1) * PAGE, page * PAGE)
  const href = (to: number) => withQuery(request.url, { page: to === 1 ? undefined : String(to), have: undefined })
  const from = (page - 1) * PAGE
  const paging: Paging = {
    from: rows.length === 0 ? 0 : from + 1,
    to: from + rows.length,
    of: open.length,
    earlier: page > 1 ? href(page - 1) : undefined,
    later: page < pages ? href(page + 1) : undefined,
  }
  return { pulls: rows.map(pull => pullRow(at.view, pull, asking)), paging }
}

/** Closed and merged pulls are many, so they come page by page from the index, each folded alone. */
function settledPulls(ctx: PageContext, request: FastifyRequest, at: Located, asking: AnswerContext, asked: Query, mine: boolean): Rows {
  const state = asked.state ?? 'open'
  const listed = pagePulls(ctx.database, {
    repo: at.row.uri,
    settled: true,
    limit: PAGE,
    ...(mine && asking.caller !== undefined ? { author: asking.caller } : {}),
    ...(asked.cursor === undefined ? {} : { cursor: asked.cursor }),
  })
  const rows: { view: RepositoryView; pull: PullView }[] = listed.items.flatMap(uri => {
    const found = ctx.repositories.viewOfPull(uri)
    const pull = found?.view.pulls.get(uri)
    return found === undefined || pull === undefined || pull.state !== state ? [] : [{ view: found.view, pull }]
  })
  return {
    pulls: rows.map(({ view, pull }) => pullRow(view, pull, asking)),
    paging: {
      from: rows.length === 0 ? 0 : 1,
      to: rows.length,
      later: listed.cursor === undefined ? undefined : withQuery(request.url, { cursor: listed.cursor, have: undefined }),
      earlier: asked.cursor === undefined ? undefined : withQuery(request.url, { cursor: undefined, have: undefined }),
    },
  }
}

function offerTo(view: RepositoryView, viewer: string | undefined): RepositoryPage['offer'] {
  const offered = viewer !== undefined && view.movedTo === undefined && offeredTo(view.record.value, viewer) !== undefined
  return offered ? offerWords(view.roles.owner) : undefined
}

function movedTo(ctx: PageContext, view: RepositoryView): RepositoryPage['movedTo'] {
  if (view.movedTo === undefined) return undefined
  const { did, rkey } = view.record
  return { owner: { did, handle: namesOf(ctx.database)(did) }, name: rkey }
}

/** Runners that the record names. A sign of life is known of the one that lands. */
function runnersOf(view: RepositoryView, asking: AnswerContext, account: (did: string) => Account): RepositoryPage['runners'] {
  const life = landerLife(view, view.branches.get(view.record.value.defaultBranch), asking)
  return view.roles.runners.map(did => ({
    account: account(did),
    lands: did === view.lander?.did,
    ...(did === life.did && life.seenAt !== undefined ? { lastSeen: life.seenAt } : {}),
  }))
}

/** Records that wait for their time, for the owner to see, so that none wakes unseen (REC-3). */
function sleepingOf(view: RepositoryView, account: (did: string) => Account): SleepingRecord[] {
  return view.sleeping.map(record => {
    const { value } = record
    const about = 'subject' in value ? view.pulls.get(value.subject)?.pull : undefined
    return {
      uri: record.uri,
      writer: account(record.did),
      what: 'state' in value ? value.state : 'pull',
      at: tidMillis(record.rkey),
      pull: about === undefined ? undefined : { title: about.value.title, author: account(about.did), uri: about.uri },
    }
  })
}
