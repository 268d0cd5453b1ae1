import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { checkAt } from '../../indexer/read.ts'
import { checkView } from '../../queue/answers/parts.ts'
import { isGoing, millis, type Run, runState } from '../../queue/runs.ts'
import type { RepositoryView } from '../../queue/view.ts'
import { noLogWords, ranOn, runResult, runTimes, summaryRest, testsSay } from '../../queue/words/check-page.ts'
import { runLabels } from '../../queue/words/labels.ts'
import { titleWords } from '../../queue/words/pages.ts'
import { plain } from '../../queue/words/phrase.ts'
import { decisionWords } from '../../queue/words/steward.ts'
import type { CheckPage } from '../../views/models.ts'
import { checkPathIn, repositoryName, repositoryPath } from '../../views/paths.ts'
import { frameOf } from '../http/frame.ts'
import { createLongAnswers } from '../http/long-answers.ts'
import { isNobodys } from '../http/visit.ts'
import { failedModel } from './check-failed.ts'
import { type AskedPart, logModel, readLog, shownPart, wholeLog } from './check-log.ts'
import type { PageContext } from './context.ts'
import { eventsPath } from './events.ts'
import { accountOf, type Located, locate, type RepoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { haveQuery, sendHtml, sendMissing } from './send.ts'

const MOST_DECISIONS = 5
/** Bytes of pages that were made a moment ago. */
const KEPT = 2 ** 23

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

interface Query extends AskedPart {
  have?: string
}

const line = { type: 'integer', minimum: 1, maximum: 100_000_000 } as const
const query = {
  type: 'object',
  properties: { ...haveQuery, from: line, to: line },
} as const

/** The page of one run with its log, live while it goes on; and the log as text. */
export function addCheckPage(app: FastifyInstance, ctx: PageContext): void {
  const path = '/:owner/:name/checks/:runner/:key'
  const long = createLongAnswers()
  const kept = new LRUCache<string, { of: string; html: Buffer }>({
    maxSize: KEPT,
    ttl: 1_000,
    sizeCalculation: ({ html }, url) => html.length + url.length + 1,
  })
  app.get<{ Params: CheckParams; Querystring: Query }>(path, { schema: { params, querystring: query } }, async (request, reply) => {
    const at = locateRun(ctx, request.params)
    if (at === undefined) return sendNoRun(ctx, request, reply)
    const { have } = request.query
    // Many watch one log: what they ask for at the same moment is made once, for as long as it has not grown.
    const of = `${at.version} ${ctx.liveLogs.endOf(at.run.uri)}`
    const url = isNobodys(request) ? request.url : undefined
    const known = url === undefined ? undefined : kept.get(url)
    if (known?.of === of) return sendHtml(reply, known.html)
    const model = await checkModel(ctx, request, at, request.query)
    const html = Buffer.from(
      have === undefined ? ctx.renderer.renderPage('check', model) : ctx.renderer.renderChanges('check', model, have),
    )
    if (url !== undefined && model.log.shown) kept.set(url, { of, html })
    return sendHtml(reply, html)
  })

  app.get<{ Params: CheckParams }>(`${path}/log`, { schema: { params } }, async (request, reply) => {
    const at = locateRun(ctx, request.params)
    if (at === undefined) return sendNoRun(ctx, request, reply)
    const log = await wholeLog(ctx, at.run)
    // STO-5: text, whatever the runner's server took it for.
    reply
      .code(log.ok ? 200 : 404)
      .type('text/plain; charset=utf-8')
      .header('cache-control', 'no-store')
    if (typeof log.text === 'string') return reply.send(log.text)
    if (request.method === 'HEAD') return reply.send()
    if (long.send(reply, log.text)) return reply
    return reply
      .code(503)
      .header('retry-after', '30')
      .send(`${plain(noLogWords({ why: 'busy' }), ctx.now(), () => undefined)}\n`)
  })
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

/** A runner's summary says how it ended in the same words, and more. Where a report says more yet, only what is more is said. */
function summaryOf(summary: string | undefined, bold: string, failures: number): Partial<Pick<CheckPage, 'says' | 'more'>> {
  if (summary?.startsWith(`${bold} `) !== true) return { more: summary }
  if (failures === 0) return { says: summary.slice(bold.length) }
  const rest = summaryRest(summary)
  return { more: rest === '' ? undefined : rest }
}

/** What the steward decided on the ground of this run (STW-10), about any of its pulls. */
function decisionsOn({ pulls }: RepositoryView, { uri, value }: Run): CheckPage['decisions'] {
  const subjects = value.batch?.map(({ pull }) => pull) ?? (value.pull === undefined ? [] : [value.pull])
  const decided = subjects
    .flatMap(pull => pulls.get(pull)?.decisions ?? [])
    .filter(each => each.value.evidence.some(one => one.uri === uri))
  return decided.slice(-MOST_DECISIONS).map(({ uri: record, value: decision }) => ({ ...decisionWords(decision), record }))
}

async function checkModel(ctx: PageContext, request: FastifyRequest, at: LocatedRun, asked: AskedPart): Promise<CheckPage> {
  const { view, head, names, run, path } = at
  const { value } = run
  const now = ctx.now()
  const state = runState(value)
  const { tone, icon, word } = runLabels[state]
  const read = await readLog(ctx, run)
  const part = await shownPart(read, asked)
  const failed = await failedModel(ctx, run, read, { path, part })
  const parts = {
    state,
    filedAt: millis(value.createdAt) ?? run.seenAt,
    startedAt: millis(value.startedAt),
    finishedAt: millis(value.finishedAt),
    cause: value.cause,
    tests: failed.tests,
  }
  const result = runResult(parts)
  const retried = (value.retried ?? []).map(({ test }) => test)
  const said = testsSay(failed.tests, retried)
  const branch = value.ref.replace(/^refs\/heads\//, '')
  const repo = repositoryName(head.owner, head.name)
  const pull = value.pull === undefined ? undefined : view.pulls.get(value.pull)?.pull
  const log = logModel(ctx, run, read, { part, path, bad: failed.bad })
  const isLive = isGoing(value) || log.live
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: titleWords({ key: 'log', workflow: value.workflow, label: word, size: value.batch?.length, repo }),
        description: `${result.bold}${plain(result.says, now, names)}`,
        alternateJson: `/xrpc/dev.knotless.listChecks?repo=${encodeURIComponent(at.row.uri)}&commit=${value.commit}`,
        ...(isLive ? { live: eventsPath({ of: at.row.uri, version: at.version }, { of: run.uri, version: 0 }) } : {}),
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
    batch: value.batch && { size: value.batch.length, tip: value.commit },
    ran: ranOn(value.commit, value.baseCommit),
    tone,
    icon,
    ...result,
    ...summaryOf(value.summary, result.bold, failed.tests?.failures ?? 0),
    times: runTimes(parts, now),
    tests: said.length === 0 ? undefined : said,
    failed: failed.model,
    decisions: decisionsOn(view, run),
    log,
  }
}
