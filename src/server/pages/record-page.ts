import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseAtUri, parseDid } from '../../atproto/ids.ts'
import { findRepository, recordAt } from '../../indexer/read.ts'
import { isTid, tidMillis } from '../../queue/tid.ts'
import { plain, shownTitle } from '../../queue/words/phrase.ts'
import { recordCounts, recordKind, recordPlace, recordTitle } from '../../queue/words/record-page.ts'
import { jsonText } from '../../views/json-text.ts'
import type { RecordPage } from '../../views/models.ts'
import { accountName, checkPathIn, pullPathIn, repositoryName, repositoryPath } from '../../views/paths.ts'
import { frameOf } from '../http/frame.ts'
import { namesOf } from '../names.ts'
import type { PageContext } from './context.ts'
import { lookedFor } from './lookup-words.ts'
import { sendHtml, sendMissing } from './send.ts'

interface RecordParams {
  did: string
  collection: string
  key: string
}

const part = { type: 'string', maxLength: 512 } as const
const params = { type: 'object', properties: { did: part, collection: part, key: part }, required: ['did', 'collection', 'key'] } as const
const query = { type: 'object', properties: { as: { type: 'string', enum: ['json'] } } } as const

/** UTF-16 units of a record's JSON that its page shows. */
const SHOWN = 100_000
/** The longest that a page waits to learn which server keeps an account, in milliseconds. */
const SERVER_MS = 1_500

type Kept = NonNullable<ReturnType<typeof recordAt>>

/** The page of one record, verbatim: what a timeline's line, a figure or a state rests on. With `?as=json` the record alone. */
export function addRecordPage(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Params: RecordParams; Querystring: { as?: string } }>(
    '/at/:did/:collection/:key',
    { schema: { params, querystring: query } },
    async (request, reply) => {
      const { did, collection, key } = request.params
      const record = parseAtUri(`at://${did}/${collection}/${key}`) && recordAt(ctx.database, `at://${did}/${collection}/${key}`)
      if (record === undefined) return sendMissing(ctx, request, reply, lookedFor.record())
      if (request.query.as === 'json') return sendJson(reply, record)
      return sendHtml(reply, ctx.renderer.renderPage('record', await recordModel(ctx, request, record)))
    },
  )
}

function sendJson(reply: FastifyReply, { uri, cid, json }: Kept): FastifyReply {
  const head = JSON.stringify({ uri, cid })
  return reply
    .type('application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(`${head.slice(0, -1)},"value":${json}}`)
}

async function recordModel(ctx: PageContext, request: FastifyRequest, record: Kept): Promise<RecordPage> {
  const { uri, did, collection, rkey, cid, seenAt } = record
  const names = namesOf(ctx.database)
  const account = { did, handle: names(did) }
  const server = await serverOf(ctx, did)
  const says = recordPlace(did, server?.host)
  const path = request.url.split('?')[0] ?? ''
  const search = new URLSearchParams({ repo: did, collection, rkey })
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: recordTitle(collection, accountName(account)),
        description: plain(says, ctx.now(), names),
        alternateJson: `${path}?as=json`,
      }),
      names,
    },
    kind: recordKind(collection),
    says,
    counts: countsOf(ctx, record),
    account,
    uri,
    cid,
    seenAt,
    keyTime: isTid(rkey) ? tidMillis(rkey) : undefined,
    source: server && { host: server.host, href: `${server.origin}/xrpc/com.atproto.repo.getRecord?${search}` },
    about: aboutOf(ctx, record, names),
    ...shownOf(record.json),
  }
}

function shownOf(json: string): Pick<RecordPage, 'json' | 'cut'> {
  const { text, cut } = jsonText(JSON.parse(json), SHOWN)
  return { json: text, cut }
}

/** The account's own server; undefined when that cannot be told soon. */
async function serverOf(ctx: PageContext, account: string): Promise<URL | undefined> {
  const did = parseDid(account)
  if (did === undefined) return undefined
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(late.resolve, SERVER_MS, undefined)
  try {
    const document = await Promise.race([ctx.identity.resolveDocument(did).catch(() => undefined), late.promise])
    const server = document?.pds === undefined ? undefined : URL.parse(document.pds)
    return server?.protocol === 'https:' || server?.protocol === 'http:' ? server : undefined
  } finally {
    clearTimeout(timer)
  }
}

/** Of changes of a queue or a state: whether it counts. Of anything else that is not said here. */
function countsOf(ctx: PageContext, { uri, collection, json }: Kept): RecordPage['counts'] {
  if (collection !== 'dev.knotless.queue' && collection !== 'dev.knotless.state') return undefined
  const subject = fieldOf(json, 'subject')
  const pull = subject === undefined ? undefined : ctx.repositories.viewOfPull(subject)?.view.pulls.get(subject)
  if (pull === undefined) return undefined
  return recordCounts(pull.history.some(other => other.uri === uri))
}

/** The pages of the repository and the pull that it names, as far as they are known here; of a run its own. */
function aboutOf(ctx: PageContext, record: Kept, names: (did: string) => string | undefined): RecordPage['about'] {
  const repoUri = record.collection === 'dev.knotless.repo' ? record.uri : fieldOf(record.json, 'repo')
  const repo = repoUri === undefined ? undefined : findRepository(ctx.database, repoUri)
  if (repo === undefined) return []
  const owner = { did: repo.did, handle: names(repo.did) }
  const path = repositoryPath(owner, repo.name)
  const about = [{ word: 'Repository', title: repositoryName(owner, repo.name), href: path }]
  const pull = record.collection === 'dev.knotless.pull' ? record.uri : (fieldOf(record.json, 'subject') ?? fieldOf(record.json, 'pull'))
  const address = parseAtUri(pull)
  const kept = address?.collection === 'dev.knotless.pull' && pull !== undefined ? recordAt(ctx.database, pull) : undefined
  if (address !== undefined && kept !== undefined) {
    const author = { did: address.did, handle: names(address.did) }
    about.push({ word: 'Pull', title: shownTitle(fieldOf(kept.json, 'title')), href: pullPathIn(path, author, kept.uri) })
  }
  if (record.collection === 'dev.knotless.check') {
    const runner = { did: record.did, handle: names(record.did) }
    about.push({ word: 'Run', title: fieldOf(record.json, 'workflow') ?? 'its page', href: checkPathIn(path, runner, record.uri) })
  }
  return about
}

/** A text field of a record. */
function fieldOf(json: string, name: string): string | undefined {
  const value: unknown = JSON.parse(json)
  const found = typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
  return typeof found === 'string' ? found : undefined
}
