import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { titleWords } from '../../queue/words/pages.ts'
import { plain } from '../../queue/words/phrase.ts'
import type { BatchPage } from '../../views/models.ts'
import { batchPathIn, repositoryName, repositoryPath } from '../../views/paths.ts'
import { answerContext } from '../answer-context.ts'
import { frameOf } from '../http/frame.ts'
import { visitOf } from '../http/visit.ts'
import { type FoundBatch, findBatch, tipsThatBegin } from './batch-find.ts'
import { batchParts, isSettled } from './batch-model.ts'
import type { PageContext } from './context.ts'
import { eventsPath } from './events.ts'
import { type Located, locate, type RepoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { haveQuery, sendKept, sendKeptToStrangers, sendLive, sendMissing } from './send.ts'

type Params = RepoParams & { tip: string }

const params = {
  type: 'object',
  properties: {
    owner: { type: 'string', maxLength: 512 },
    name: { type: 'string', maxLength: 512 },
    tip: { type: 'string', maxLength: 64 },
  },
  required: ['owner', 'name', 'tip'],
} as const

const query = { type: 'object', properties: haveQuery } as const

/** The page of one batch by its tip, live until it is settled. The beginning of a tip leads to the whole, where it is one batch's alone. */
export function addBatchPage(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Params: Params; Querystring: { have?: string } }>(
    '/:owner/:name/batches/:tip',
    { schema: { params, querystring: query } },
    (request, reply) => {
      if (sendKept(ctx, request, reply)) return reply
      const { owner, name, tip } = request.params
      const at = locate(ctx, request.params)
      if (at === undefined) return sendMissing(ctx, request, reply, lookedFor.repository(owner, name))
      const batch = /^[0-9a-f]{40}$/.test(tip) ? findBatch(ctx, at, tip) : undefined
      if (batch === undefined) return sendOther(ctx, request, reply, at)
      // Its pulls may be settled, and so no longer among those that the repository's view has.
      const authors = batch.members.flatMap(({ view }) => view?.pull.did ?? [])
      if (sendKeptToStrangers(ctx, request, reply, { view: at.view, authors, asked: request.query })) return reply
      const model = batchModel(ctx, request, at, batch)
      return sendLive(ctx, request, reply, 'batch', model, { have: request.query.have, of: { repo: at.row.uri, version: at.version } })
    },
  )
}

function sendOther(ctx: PageContext, request: FastifyRequest<{ Params: Params }>, reply: FastifyReply, at: Located): FastifyReply {
  const { tip } = request.params
  const [found, another] = /^[0-9a-f]{7,39}$/.test(tip) ? tipsThatBegin(at, tip) : []
  if (found === undefined || another !== undefined) return sendMissing(ctx, request, reply, lookedFor.batch(tip))
  return reply.redirect(batchPathIn(repositoryPath(at.head.owner, at.head.name), found), 302)
}

function batchModel(ctx: PageContext, request: FastifyRequest, at: Located, batch: FoundBatch): BatchPage {
  const { head, names } = at
  const asking = answerContext(ctx, at, visitOf(request).session?.did)
  const parts = batchParts(at.view, batch, asking)
  const repo = repositoryName(head.owner, head.name)
  const size = batch.members.length
  const listed = new URLSearchParams({ repo: at.row.uri, commit: batch.tip })
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: titleWords({ key: 'batch', size, label: parts.label.word, branch: batch.branch, repo }),
        description: `${parts.label.word}: ${plain(parts.says, asking.now, names)}`,
        alternateJson: `/xrpc/dev.knotless.listChecks?${listed}`,
        ...(isSettled(batch, asking.now) ? {} : { live: eventsPath({ of: at.row.uri, version: at.version }) }),
      }),
      names,
    },
    repo: head,
    ...parts,
  }
}
