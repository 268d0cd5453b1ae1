import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Did, parseDid } from '../../atproto/ids.ts'
import { queueParts } from '../../queue/answers/queue.ts'
import { pullParts } from '../../queue/answers/rows.ts'
import { pullNews } from '../../queue/news.ts'
import { batchOf } from '../../queue/places.ts'
import { wholeTimeline } from '../../queue/timeline.ts'
import { titleWords } from '../../queue/words/pages.ts'
import { plain } from '../../queue/words/phrase.ts'
import { askedAgain, rerunRight, rerunRightRefused } from '../../queue/words/rerun.ts'
import type { Again, PullPage, Words } from '../../views/models.ts'
import { accountName, repositoryName, withQuery } from '../../views/paths.ts'
import type { PageParts } from '../../views/render.ts'
import { judgeRerun } from '../actions/rerun-pull.ts'
import { serverName } from '../actions/server-name.ts'
import { answerContext } from '../answer-context.ts'
import { frameOf } from '../http/frame.ts'
import { visitOf } from '../http/visit.ts'
import type { PageContext } from './context.ts'
import { eventsPath } from './events.ts'
import { landedWith } from './landed-with.ts'
import { locatePull, type RepoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { boxModel, type Tried } from './merge-box.ts'
import { cameBackFor, changeNamed, changingModel } from './pull-changing.ts'
import { type LocatedPull, pathOf } from './pull-path.ts'
import { haveQuery, sendKept, sendLive, sendMissing } from './send.ts'

export interface PullParams extends RepoParams {
  author: string
  key: string
}

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
  have?: string
  every?: number
  /** Runs were asked for again. */
  again?: string | undefined
  /** The one file to show, and what it was called before. */
  file?: string | undefined
  was?: string | undefined
  /** What came of asking for the right to do so. */
  right?: string | undefined
  /** The change of the pull that a right was asked for. */
  wants?: string | undefined
}

const word = { type: 'string', maxLength: 32 } as const
/** As git has them: no NUL, and no part that is empty, `.` or `..`. */
const path = { type: 'string', maxLength: 4_096, pattern: '^(?:(?!\\.{0,2}(?:/|$))[^/\\u0000]+(?:/(?=[^/])|$))+$' } as const
const query = {
  type: 'object',
  properties: {
    ...haveQuery,
    every: { type: 'integer', minimum: 10, maximum: 3_600 },
    file: path,
    was: path,
    again: word,
    right: word,
    wants: word,
  },
} as const

/** The page of one pull, live. */
export function addPullPage(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Params: PullParams; Querystring: Query }>(
    '/:owner/:name/pulls/:author/:key',
    { schema: { params: pullParams, querystring: query } },
    async (request, reply) => {
      if (sendKept(ctx, request, reply)) return reply
      const at = locatePull(ctx, request.params)
      if (at === undefined) return sendNoPull(ctx, request, reply)
      const { have, file, was } = request.query
      const tried = await cameBack(ctx, request, at, request.query)
      const model = await pullModel(ctx, request, at, tried, have === undefined ? { file, was } : 'changed')
      return sendLive(ctx, request, reply, 'pull', model, { have, of: { repo: at.row.uri, version: at.version } })
    },
  )
}

/** Says which pull was looked for. */
export function sendNoPull(ctx: PageContext, request: FastifyRequest<{ Params: PullParams }>, reply: FastifyReply): FastifyReply {
  const { author, key } = request.params
  return sendMissing(ctx, request, reply, lookedFor.pull(author, key))
}

/** What a page says, by its address, of runs that were asked for again, and to whoever comes back from granting a right. */
async function cameBack(
  ctx: PageContext,
  request: FastifyRequest,
  at: LocatedPull,
  { again, right, wants }: Pick<Query, 'again' | 'right' | 'wants'>,
): Promise<Tried> {
  const caller = parseDid(visitOf(request).session?.did)
  if (caller === undefined) return {}
  const act = changeNamed(wants)
  if (act !== undefined) return await cameBackFor(ctx, at, { caller, act, right })
  if (right !== undefined) return { again: { right: await rerunRightOf(ctx, at, caller, right) } }
  return again === 'asked' ? { again: { notice: askedAgain() } } : {}
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

/** The model of a pull's page. A region of it other than the whole needs no commits. */
export async function pullModel(
  ctx: PageContext,
  request: FastifyRequest,
  at: LocatedPull,
  tried: Tried = {},
  part: PageParts['pull'] | 'changed' | { file?: string | undefined; was?: string | undefined } = {},
): Promise<PullPage> {
  const { view, pull, head, names } = at
  const asking = answerContext(ctx, at, visitOf(request).session?.did)
  const row = pullParts(view, pull, asking)
  const box = boxModel(view, pull, asking, tried)
  const standing = plain(row.standing.text, asking.now, names)
  const path = pathOf(at)
  const batch = batchOf(view, pull)
  const repoName = repositoryName(head.owner, head.name)
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: titleWords({ key: 'pull', standing, title: pull.pull.value.title, repo: repoName }),
        description: `${standing}. By ${accountName(row.pull.author)}, onto ${pull.branch}.`,
        alternateJson: `/xrpc/dev.knotless.getMergeStatus?pull=${encodeURIComponent(pull.pull.uri)}`,
        live: eventsPath({ of: at.row.uri, version: at.version }),
      }),
      // Regions ask for themselves at the page's address, also where an action's answer brought them.
      path,
      names,
    },
    repo: head,
    pull: { ...row.pull, body: pull.pull.value.body },
    box,
    changing: changingModel(at, asking.caller, tried.right),
    batch: batch === undefined ? undefined : batchesOf(at, asking).find(other => other.tip === batch.tip),
    changes: typeof part === 'string' ? noChanges : await changesOf(ctx, at, part),
    ...(landedWith(ctx, at, asking) ?? { checks: box.checks }),
    mayRerun: judgeRerun(view, pull.pull.uri, asking.caller).ok,
    again: tried.again,
    ...timelineOf(at, row.standing.text),
    news: pullNews(view, pull, asking.now),
  }
}

/** Its commits and files; of one file alone, more of that. */
async function changesOf(
  ctx: PageContext,
  { view, pull }: LocatedPull,
  { file, was }: { file?: string | undefined; was?: string | undefined },
): Promise<PullPage['changes']> {
  const changes = await ctx.changes.of({
    target: view.record.uri,
    tip: view.branches.get(pull.branch)?.tip,
    source: pull.pull.value.head.repo,
    head: pull.head,
    landed: pull.mergedThere === true ? pull.stateRecord?.value.commit : undefined,
    only: file === undefined ? undefined : [file, ...(was === undefined ? [] : [was])],
  })
  return changes.ok && file !== undefined ? { ...changes, only: file } : changes
}

/** What happened, and how things are now. */
function timelineOf({ view, pull }: LocatedPull, now: Words): Pick<PullPage, 'timeline' | 'earlier'> {
  const { events, earlier } = wholeTimeline(view, pull)
  return { timeline: [...events, { says: now }], earlier }
}

function batchesOf(at: LocatedPull, asking: ReturnType<typeof answerContext>) {
  const answer = queueParts(at.view, { branch: at.pull.branch, limit: 1 }, asking)
  return answer.ok ? answer.body.batches : []
}
