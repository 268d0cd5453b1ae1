import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Did, parseDid } from '../../atproto/ids.ts'
import type { AnswerContext } from '../../queue/answers/context.ts'
import { landedView, queueParts } from '../../queue/answers/queue.ts'
import { pullParts } from '../../queue/answers/rows.ts'
import { pullNews } from '../../queue/news.ts'
import { batchOf } from '../../queue/places.ts'
import { timeline } from '../../queue/timeline.ts'
import type { PullView } from '../../queue/view.ts'
import { titleWords } from '../../queue/words/pages.ts'
import { plain } from '../../queue/words/phrase.ts'
import { askedAgain, rerunRight, rerunRightRefused } from '../../queue/words/rerun.ts'
import type { Again, PullPage } from '../../views/models.ts'
import { accountName, pullPath, withQuery } from '../../views/paths.ts'
import { type PageParts, pageParts } from '../../views/render.ts'
import { judgeRerun } from '../actions/rerun-pull.ts'
import { serverName } from '../actions/server-name.ts'
import { frameOf } from '../http/frame.ts'
import { visitOf } from '../http/visit.ts'
import type { PageContext } from './context.ts'
import { streamChanges } from './events.ts'
import { answerContext, type Located, locatePull, type RepoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { boxModel, type Tried } from './merge-box.ts'
import { sendHtml, sendMissing } from './send.ts'

export interface PullParams extends RepoParams {
  author: string
  key: string
}

/** A pull as a page is about it. */
export type LocatedPull = Located & { pull: PullView }

export const pullParams = {
  type: 'object',
  properties: {
    owner: { type: 'string', maxLength: 512 },
    name: { type: 'string', maxLength: 512 },
    author: { type: 'string', maxLength: 512 },
    key: { type: 'string', maxLength: 512 },
  },
  required: ['owner', 'name', 'author', 'key'],
} as const

interface Query {
  part?: PageParts['pull']
  every?: number
  /** Runs were asked for again. */
  again?: string | undefined
  /** What came of asking for the right to do so. */
  right?: string | undefined
}

const word = { type: 'string', maxLength: 32 } as const
const query = {
  type: 'object',
  properties: {
    part: { type: 'string', enum: pageParts.pull },
    every: { type: 'integer', minimum: 10, maximum: 3_600 },
    again: word,
    right: word,
  },
} as const

const seenQuery = { type: 'object', properties: { seen: { type: 'integer', minimum: 0 } } } as const

/** The page of one pull, live. */
export function addPullPage(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Params: PullParams; Querystring: Query }>(
    '/:owner/:name/pulls/:author/:key',
    { schema: { params: pullParams, querystring: query } },
    async (request, reply) => {
      const at = locatePull(ctx, request.params)
      if (at === undefined) return sendNoPull(ctx, request, reply)
      const { part, again, right } = request.query
      const model = await pullModel(ctx, request, at, { again: await againOf(ctx, request, at, { again, right }) }, part)
      return sendHtml(reply, part === undefined ? ctx.renderer.renderPage('pull', model) : ctx.renderer.renderPart('pull', part, model))
    },
  )

  app.get<{ Params: PullParams; Querystring: { seen?: number } }>(
    '/:owner/:name/pulls/:author/:key/events',
    { schema: { params: pullParams, querystring: seenQuery } },
    (request, reply) => {
      const at = locatePull(ctx, request.params)
      if (at === undefined) return sendNoPull(ctx, request, reply)
      return streamChanges(ctx, request, reply, { repo: at.row.uri, version: at.version, seen: request.query.seen })
    },
  )
}

/** Says which pull was looked for. */
export function sendNoPull(ctx: PageContext, request: FastifyRequest<{ Params: PullParams }>, reply: FastifyReply): FastifyReply {
  const { author, key } = request.params
  return sendMissing(ctx, request, reply, lookedFor.pull(author, key))
}

/** What a page says of runs that were asked for again, by its address. */
async function againOf(ctx: PageContext, request: FastifyRequest, at: LocatedPull, { again, right }: Pick<Query, 'again' | 'right'>) {
  const caller = parseDid(visitOf(request).session?.did)
  if (caller === undefined) return undefined
  if (right !== undefined) return { right: await rerunRightOf(ctx, at, caller, right) }
  return again === 'asked' ? { notice: askedAgain() } : undefined
}

/** Where somebody lets this server ask for runs as them; `cameBack` is what came of it, where it was nothing. */
export async function rerunRightOf(
  ctx: PageContext,
  at: LocatedPull,
  caller: Did,
  cameBack?: string,
): Promise<NonNullable<Again['right']>> {
  const host = await serverName(ctx.actions, caller, 'your server')
  const refused = cameBack === undefined ? undefined : rerunRightRefused(cameBack)
  return { says: rerunRight(host), host, href: withQuery('/login/start', { handle: caller, asks: 'rerun', next: pathOf(at) }), refused }
}

const noChanges: PullPage['changes'] = { ok: false, says: '' }

/** Path of a pull's page. */
export function pathOf(at: LocatedPull): string {
  const { did, uri } = at.pull.pull
  return pullPath(at.head.owner, at.head.name, { did, handle: at.names(did) }, uri)
}

/** The model of a pull's page. A region of it other than the whole needs no commits. */
export async function pullModel(
  ctx: PageContext,
  request: FastifyRequest,
  at: LocatedPull,
  tried: Tried = {},
  part?: PageParts['pull'],
): Promise<PullPage> {
  const { view, pull, head, names } = at
  const asking = answerContext(ctx, at, visitOf(request).session?.did)
  const row = pullParts(view, pull, asking)
  const box = boxModel(view, pull, asking, tried)
  const standing = plain(row.standing.text, asking.now, names)
  const path = pathOf(at)
  const branch = view.branches.get(pull.branch)
  const batch = batchOf(view, pull)
  const repoName = `${accountName(head.owner)}/${head.name}`
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: titleWords({ key: 'pull', standing, title: pull.pull.value.title, repo: repoName }),
        description: `${standing}. By ${accountName(row.pull.author)}, onto ${pull.branch}.`,
        alternateJson: `/xrpc/dev.knotless.getMergeStatus?pull=${encodeURIComponent(pull.pull.uri)}`,
        live: `${path}/events?seen=${at.version}`,
      }),
      // Regions ask for themselves at the page's address, also where an action's answer brought them.
      path,
      names,
    },
    repo: head,
    pull: { ...row.pull, body: pull.pull.value.body },
    box,
    batch: batch === undefined ? undefined : batchesOf(at, asking).find(other => other.tip === batch.tip),
    changes:
      part === undefined
        ? await ctx.changes.of({
            target: view.record.uri,
            tip: branch?.tip,
            source: pull.pull.value.head.repo,
            head: pull.head,
            landed: pull.mergedThere === true ? pull.stateRecord?.value.commit : undefined,
          })
        : noChanges,
    ...checksOf(at, asking, box.checks),
    mayRerun: judgeRerun(view, pull.pull.uri, asking.caller).ok,
    again: tried.again,
    timeline: [...timeline(view, pull), { says: row.standing.text }],
    news: pullNews(view, pull, asking.now),
  }
}

/** REA-5: of a pull that landed in a batch, the checks of that batch; else its own at its head. */
function checksOf(at: LocatedPull, asking: AnswerContext, own: PullPage['checks']): Pick<PullPage, 'checks' | 'landed'> {
  const { view, pull } = at
  const tip = pull.state === 'merged' ? pull.stateRecord?.value.batch : undefined
  const batch = tip === undefined ? undefined : view.branches.get(pull.branch)?.landed.find(one => one.tip === tip)
  if (batch === undefined) return { checks: own }
  const landed = landedView(view, batch, asking)
  const others = landed.members.filter(member => member.pull !== pull.pull.uri)
  return { checks: landed.checks.length > 0 ? landed.checks : own, landed: { tip: batch.tip, others, checked: landed.checks.length > 0 } }
}

function batchesOf(at: LocatedPull, asking: ReturnType<typeof answerContext>) {
  const answer = queueParts(at.view, { branch: at.pull.branch, limit: 1 }, asking)
  return answer.ok ? answer.body.batches : []
}
