import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkAt } from '../../indexer/read.ts'
import { checkView } from '../../queue/answers/parts.ts'
import { isGoing, millis, type Run, runState } from '../../queue/runs.ts'
import type { RepositoryView } from '../../queue/view.ts'
import { ranOn, runResult, runTimes } from '../../queue/words/check-page.ts'
import { runLabels } from '../../queue/words/labels.ts'
import { titleWords } from '../../queue/words/pages.ts'
import { plain } from '../../queue/words/phrase.ts'
import type { CheckPage } from '../../views/models.ts'
import { accountName, checkPathIn, repositoryPath } from '../../views/paths.ts'
import { type PageParts, pageParts } from '../../views/render.ts'
import { frameOf } from '../http/frame.ts'
import { logModel, wholeLog } from './check-log.ts'
import type { PageContext } from './context.ts'
import { streamChanges } from './events.ts'
import { accountOf, type Located, locate, type RepoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { sendHtml, sendMissing } from './send.ts'

interface CheckParams extends RepoParams {
  runner: string
  key: string
}

/** A run as a page is about it. */
type LocatedRun = Located & { run: Run; path: string }

const params = {
  type: 'object',
  properties: {
    owner: { type: 'string', maxLength: 512 },
    name: { type: 'string', maxLength: 512 },
    runner: { type: 'string', maxLength: 512 },
    key: { type: 'string', maxLength: 512 },
  },
  required: ['owner', 'name', 'runner', 'key'],
} as const

interface Query {
  part?: PageParts['check']
  from?: number
}

const query = {
  type: 'object',
  properties: { part: { type: 'string', enum: pageParts.check }, from: { type: 'integer', minimum: 1, maximum: 100_000_000 } },
} as const

const seenQuery = { type: 'object', properties: { seen: { type: 'integer', minimum: 0 } } } as const

/** The page of one run with its log, live while it goes on; and the log as text. */
export function addCheckPage(app: FastifyInstance, ctx: PageContext): void {
  const path = '/:owner/:name/checks/:runner/:key'
  app.get<{ Params: CheckParams; Querystring: Query }>(path, { schema: { params, querystring: query } }, async (request, reply) => {
    const at = locateRun(ctx, request.params)
    if (at === undefined) return sendNoRun(ctx, request, reply)
    const { part, from } = request.query
    const model = await checkModel(ctx, request, at, from)
    return sendHtml(reply, part === undefined ? ctx.renderer.renderPage('check', model) : ctx.renderer.renderPart('check', part, model))
  })

  app.get<{ Params: CheckParams }>(`${path}/log`, { schema: { params } }, async (request, reply) => {
    const at = locateRun(ctx, request.params)
    if (at === undefined) return sendNoRun(ctx, request, reply)
    const log = await wholeLog(ctx, at.run)
    // STO-5: text, whatever the runner's server took it for.
    return reply
      .code(log.ok ? 200 : 404)
      .type('text/plain; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(log.text)
  })

  app.get<{ Params: CheckParams; Querystring: { seen?: number } }>(
    `${path}/events`,
    { schema: { params, querystring: seenQuery } },
    (request, reply) => {
      const at = locateRun(ctx, request.params)
      if (at === undefined) return sendNoRun(ctx, request, reply)
      return streamChanges(ctx, request, reply, { repo: at.row.uri, version: at.version, seen: request.query.seen, check: at.run.uri })
    },
  )
}

function sendNoRun(ctx: PageContext, request: FastifyRequest<{ Params: CheckParams }>, reply: FastifyReply): FastifyReply {
  return sendMissing(ctx, request, reply, lookedFor.check(request.params.runner))
}

/** The run that an address names, where it is one of this repository's, by somebody whose checks count there or did. */
function locateRun(ctx: PageContext, { runner, key, ...repo }: CheckParams): LocatedRun | undefined {
  const at = locate(ctx, repo)
  const did = accountOf(ctx, runner)
  const run = did === undefined ? undefined : checkAt(ctx.database, `at://${did}/dev.knotless.check/${key}`)
  if (at === undefined || run === undefined || !isOf(at.view, run)) return undefined
  const path = checkPathIn(repositoryPath(at.head.owner, at.head.name), { did: run.did, handle: at.names(run.did) }, run.uri)
  return { ...at, run, path }
}

function isOf(view: RepositoryView, { did, value }: Run): boolean {
  const { record, roles } = view
  const addresses = [view.uri, record.uri, record.value.transferredFrom]
  const former = record.value.former?.some(one => one.did === did) === true
  return addresses.includes(value.repo) && (roles.namedRunner(did) || roles.mayMerge(did) || former)
}

/** A runner's summary says how it ended in the same words, and more. */
function summaryOf(summary: string | undefined, bold: string): Partial<Pick<CheckPage, 'says' | 'more'>> {
  return summary?.startsWith(`${bold} `) === true ? { says: summary.slice(bold.length) } : { more: summary }
}

async function checkModel(ctx: PageContext, request: FastifyRequest, at: LocatedRun, from: number | undefined): Promise<CheckPage> {
  const { view, head, names, run, path } = at
  const { value } = run
  const now = ctx.now()
  const state = runState(value)
  const { tone, icon, word } = runLabels[state]
  const parts = {
    state,
    filedAt: millis(value.createdAt) ?? run.seenAt,
    startedAt: millis(value.startedAt),
    finishedAt: millis(value.finishedAt),
    cause: value.cause,
  }
  const result = runResult(parts)
  const branch = value.ref.replace(/^refs\/heads\//, '')
  const repo = `${accountName(head.owner)}/${head.name}`
  const pull = value.pull === undefined ? undefined : view.pulls.get(value.pull)?.pull
  const log = await logModel(ctx, run, { from, path })
  const isLive = isGoing(value) || log.live
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: titleWords({ key: 'log', workflow: value.workflow, label: word, size: value.batch?.length, repo }),
        description: `${result.bold}${plain(result.says, now, names)}`,
        ...(isLive ? { live: `${path}/events?seen=${at.version}` } : {}),
      }),
      names,
    },
    repo: head,
    check: checkView(run, names),
    branch,
    pull:
      value.pull === undefined || value.batch !== undefined
        ? undefined
        : { uri: value.pull, title: pull?.value.title, author: pull && { did: pull.did, handle: names(pull.did) } },
    batch: value.batch && {
      size: value.batch.length,
      inFlight: view.branches.get(branch)?.batches.some(batch => batch.tip === value.commit) === true,
    },
    ran: ranOn(value.commit, value.baseCommit),
    tone,
    icon,
    ...result,
    ...summaryOf(value.summary, result.bold),
    times: runTimes(parts, now),
    log,
  }
}
