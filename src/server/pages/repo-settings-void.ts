import type { FastifyInstance } from 'fastify'
import { statesBy } from '../../indexer/read.ts'
import type { RepoRecord } from '../../queue/facts.ts'
import { withVoid } from '../../queue/repo-edit-people.ts'
import { comesBack } from '../../queue/taking-out.ts'
import * as says from '../../queue/words/repo-settings-page.ts'
import { repositoryName } from '../../views/paths.ts'
import { knownFacts } from '../actions/known-facts.ts'
import { sendPage } from '../http/answers.ts'
import { frameOf } from '../http/frame.ts'
import type { PageContext } from './context.ts'
import { type Located, type RepoParams, repoParams } from './locate.ts'
import { ownerOf, settingsPath } from './repo-settings-owner.ts'
import { sendNotOwner } from './repo-settings-refused.ts'
import { readNow } from './repo-settings-write.ts'

const query = {
  type: 'object',
  properties: { did: { type: 'string', maxLength: 2_048 }, was: { type: 'string', maxLength: 8_192 } },
} as const

/** Pulls that are named in the question; more are counted. */
const NAMED = 8
/** Pulls that an account closed and that are looked at. */
const CLOSED = 100

/** The question before a former account is made void: what would come back by it (HON-5). */
export function addVoid(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Params: RepoParams; Querystring: { did?: string; was?: string } }>(
    '/:owner/:name/settings/void',
    { schema: { params: repoParams, querystring: query } },
    async (request, reply) => {
      const asked = ownerOf(ctx, request, reply)
      if ('sent' in asked) return asked.sent
      if ('offered' in asked) return sendNotOwner(ctx, request, reply, asked.at)
      const { at } = asked
      const { did = '', was = '' } = request.query
      const fresh = await readNow(ctx, at.row.uri)
      const record = fresh.ok ? fresh.record : at.view.record
      reply.header('cache-control', 'no-store')
      if (record.value.former?.some(entry => entry.did === did) !== true) {
        return reply.redirect(did === '' ? settingsPath(at) : `${settingsPath(at)}#former`, 303)
      }
      const repo = repositoryName(at.head.owner, at.head.name)
      const frame = {
        ...frameOf(ctx, request, { title: says.settingsTitle(repo), description: says.settingsDescription }),
        names: at.names,
      }
      const pulls = whatComesBack(ctx, at, record.value, did)
      return sendPage(ctx, reply, 'repo-settings-void', {
        frame,
        repo: at.head,
        account: { did, handle: at.names(did) },
        says: says.voidWords(did, pulls.slice(0, NAMED), Math.max(0, pulls.length - NAMED)),
        base: { cid: record.cid, was: { did, was } },
      })
    },
  )
}

/** Folded with and without; what the account closed is among it, however long ago. */
function whatComesBack(ctx: PageContext, at: Located, record: RepoRecord, did: string): { title: string; pull: string }[] {
  const closed = statesBy(ctx.database, { repos: [at.row.uri, at.view.record.uri], did, limit: CLOSED })
  const facts = knownFacts(ctx.database, { repo: at.row.uri, pulls: closed.map(({ subject }) => subject) })
  if (facts === undefined) return []
  const titles = new Map(facts.pulls.map(pull => [pull.uri, pull.value.title]))
  return comesBack(facts, withVoid(record, did), ctx.now()).map(pull => ({ title: titles.get(pull) ?? 'a pull', pull }))
}
