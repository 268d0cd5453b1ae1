import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { queueActivity } from '../../queue/activity.ts'
import { judgeQueue } from '../../queue/admission.ts'
import { queueParts } from '../../queue/answers/queue.ts'
import { entryParts } from '../../queue/answers/rows.ts'
import { failedChecks } from '../../queue/failed-checks.ts'
import { queueNews } from '../../queue/news.ts'
import { batchOf } from '../../queue/places.ts'
import type { BranchView, PullView, RepositoryView } from '../../queue/view.ts'
import { titleWords } from '../../queue/words/pages.ts'
import { plain } from '../../queue/words/phrase.ts'
import type { Paging, QueuePage } from '../../views/models.ts'
import { accountName, queuePath, repositoryName, withQuery } from '../../views/paths.ts'
import { answerContext } from '../answer-context.ts'
import { frameOf } from '../http/frame.ts'
import { visitOf } from '../http/visit.ts'
import { presentBranch } from '../xrpc/present-branch.ts'
import { feedLink } from './branch-params.ts'
import type { PageContext } from './context.ts'
import { eventsPath } from './events.ts'
import { type Located, locate, type RepoParams, repoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { estimatesOf, tipTime, yoursOf } from './queue-extras.ts'
import { haveQuery, sendKept, sendKeptToStrangers, sendLive, sendMissing } from './send.ts'

/** Waiting pulls on one page. */
const PAGE = 50
/** Lines of what happened last. */
const ACTIVITY = 15

interface Query {
  q?: string
  author?: string
  mine?: string
  page?: number
  every?: number
  have?: string
  seen?: number
}

const query = {
  type: 'object',
  properties: {
    q: { type: 'string', maxLength: 200 },
    author: { type: 'string', maxLength: 512 },
    mine: { type: 'string', maxLength: 8 },
    page: { type: 'integer', minimum: 1, maximum: 100_000 },
    every: { type: 'integer', minimum: 10, maximum: 3_600 },
    ...haveQuery,
    seen: { type: 'integer', minimum: 0 },
  },
} as const

/** The queue of a branch, live; `/queue` alone goes to the default branch's. */
export function addQueuePage(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Params: RepoParams }>('/:owner/:name/queue', { schema: { params: repoParams } }, (request, reply) => {
    const at = locate(ctx, request.params)
    if (at === undefined) return sendMissing(ctx, request, reply, lookedFor.repository(request.params.owner, request.params.name))
    return reply.redirect(queuePath(at.head.owner, at.head.name, at.head.defaultBranch), 302)
  })

  app.get<{ Params: RepoParams & { '*': string }; Querystring: Query }>(
    '/:owner/:name/queue/*',
    { schema: { params: repoParams, querystring: query } },
    (request, reply) => {
      if (sendKept(ctx, request, reply)) return reply
      const { owner, name, '*': rest } = request.params
      const at = locate(ctx, request.params)
      if (at === undefined) return sendMissing(ctx, request, reply, lookedFor.repository(owner, name))
      if (sendKeptToStrangers(ctx, request, reply, { view: at.view, asked: request.query })) return reply
      return sendQueue(ctx, request, reply, at, rest, request.query)
    },
  )
}

function sendQueue(
  ctx: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  at: Located,
  branch: string,
  asked: Query,
): FastifyReply {
  const asking = answerContext(ctx, at, visitOf(request).session?.did)
  const answer = queueParts(at.view, { branch, limit: 1, present: presentBranch(ctx, at.view, branch) }, asking)
  if (!answer.ok)
    return sendMissing(ctx, request, reply, plain([...answer.refusal.message, ' ', ...(answer.refusal.advice ?? [])], asking.now, at.names))
  const model = queueModel(ctx, request, at, answer.body, asked)
  return sendLive(ctx, request, reply, 'queue', model, { have: asked.have, of: { repo: at.row.uri, version: at.version } })
}

type Body = Extract<ReturnType<typeof queueParts>, { ok: true }>['body']

function queueModel(ctx: PageContext, request: FastifyRequest, at: Located, body: Body, asked: Query): QueuePage {
  const { view, head, names } = at
  const viewer = visitOf(request).session?.did
  const asking = answerContext(ctx, at, viewer)
  const branch = view.branches.get(body.branch)
  const waiting = (branch?.queue ?? []).filter(pull => batchOf(view, pull) === undefined)
  const filter = { q: asked.q ?? '', author: asked.author ?? '', mine: asked.mine === '1' && viewer !== undefined }
  const matching = waiting.filter(pull => matches(pull, filter, viewer, names))
  const { rows, paging } = pageOf(matching, asked.page ?? 1, request.url)
  const repoName = repositoryName(head.owner, head.name)
  const health = `${body.health.bold} ${plain(body.health.says, asking.now, names)}`
  const may = mayActs(view, viewer)
  const ill = isWell(body.health.tone) ? undefined : body.health.label
  const entries = entryParts(view, rows, asking)
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: titleWords({ key: 'queue', length: body.length, branch: body.branch, repo: repoName, ill }),
        description: health,
        alternateJson: `/xrpc/dev.knotless.getQueue?repo=${encodeURIComponent(at.row.uri)}&branch=${encodeURIComponent(body.branch)}`,
        feed: feedLink(head, body.branch),
        live: eventsPath({ of: at.row.uri, version: at.version }),
        ...(asked.every === undefined ? {} : { every: asked.every }),
      }),
      names,
    },
    repo: head,
    queue: {
      ...body,
      queued: cued(ctx, at, body.branch, asked, entries),
      ejected: body.ejected.map(ejection => ({
        ...ejection,
        checks: failedChecks(ejection),
        ...(may.queue && ejection.position === undefined ? { refused: refusedNow(view, ejection.pull.uri, viewer) } : {}),
      })),
    },
    activity: branch === undefined ? [] : queueActivity(view, branch).slice(0, ACTIVITY),
    yours: yoursOf(view, branch, asking),
    estimates: estimatesOf(entries),
    tipAt: tipTime(branch),
    branches: branchesOf(view),
    filter,
    authors: authorsOf(waiting, names),
    waiting: { all: waiting.length, matching: matching.length },
    paging,
    news: queueNews(view, body.branch, asking.now),
    may,
  }
}

type Entries = ReturnType<typeof entryParts>

/** The rows, each with what became of it since the version that the reader has. */
function cued(ctx: PageContext, at: Located, branch: string, { seen }: Query, entries: Entries): QueuePage['queue']['queued'] {
  const here = { repo: at.row.uri, branch, version: at.version }
  const queue = at.view.branches.get(branch)?.queue ?? []
  ctx.shownOrders.note(
    here,
    queue.map(pull => pull.pull.uri),
  )
  if (seen === undefined || seen === at.version) return entries
  return entries.map(entry => {
    const before = ctx.shownOrders.placeAt({ ...here, version: seen }, entry.pull.uri)
    if (before === undefined || before === entry.position) return entry
    return { ...entry, cue: before === 0 ? { kind: 'new' as const } : { kind: 'moved' as const, from: before } }
  })
}

function isWell(tone: string): boolean {
  return tone === 'success' || tone === 'neutral'
}

/** ADM-1 and ADM-2, in general; what one pull's state refuses comes when it is tried. */
export function mayActs(view: RepositoryView, viewer: string | undefined): { queue: boolean; leave: boolean } {
  const may = viewer !== undefined && view.roles.mayMerge(viewer)
  return { queue: may && view.roles.runners.length > 0, leave: may }
}

/** Why a pull that was ejected could not be added again as it is, as far as is known without a look at its source. */
function refusedNow(view: RepositoryView, pull: string, caller: string | undefined) {
  const judged = judgeQueue({ view, pull, caller })
  return judged.ok ? undefined : judged.refusal
}

function matches(pull: PullView, filter: QueuePage['filter'], viewer: string | undefined, names: Located['names']): boolean {
  const { did, value } = pull.pull
  if (filter.mine && did !== viewer && pull.entry?.by !== viewer) return false
  if (filter.author !== '' && filter.author !== did && filter.author !== names(did)) return false
  const title = value.title.toLowerCase()
  return filter.q
    .toLowerCase()
    .split(/\s+/)
    .every(word => title.includes(word))
}

function pageOf(pulls: readonly PullView[], page: number, url: string): { rows: readonly PullView[]; paging: Paging } {
  const pages = Math.max(1, Math.ceil(pulls.length / PAGE))
  const at = Math.min(page, pages)
  const rows = pulls.slice((at - 1) * PAGE, at * PAGE)
  const href = (to: number) => withQuery(url, { page: to === 1 ? undefined : String(to), have: undefined, seen: undefined })
  return {
    rows,
    paging: {
      from: rows.length === 0 ? 0 : (at - 1) * PAGE + 1,
      to: (at - 1) * PAGE + rows.length,
      of: pulls.length,
      earlier: at > 1 ? href(at - 1) : undefined,
      later: at < pages ? href(at + 1) : undefined,
    },
  }
}

/** Branches with a queue, the default one first. */
export function branchesOf(view: RepositoryView): { branch: string; length: number }[] {
  const worth = (branch: BranchView) => branch.isDefault || branch.queueOnly || branch.queue.length > 0 || branch.batches.length > 0
  return [...view.branches.values()]
    .filter(worth)
    .sort((a, b) => Number(b.isDefault) - Number(a.isDefault) || (a.branch < b.branch ? -1 : 1))
    .map(({ branch, queue }) => ({ branch, length: queue.length }))
}

function authorsOf(pulls: readonly PullView[], names: Located['names']) {
  const dids = [...new Set(pulls.map(pull => pull.pull.did))]
  const authors = dids.map(did => ({ did, handle: names(did) }))
  return authors.sort((a, b) => (accountName(a) < accountName(b) ? -1 : 1)).slice(0, 200)
}
