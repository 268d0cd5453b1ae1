import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Did, parseAtUri, repoUri } from '../../atproto/ids.ts'
import type { Names } from '../../queue/words/phrase.ts'
import type { SettingsRefusal } from '../../queue/words/repo-settings.ts'
import * as says from '../../queue/words/repo-settings-page.ts'
import { repositoryName, repositoryPath } from '../../views/paths.ts'
import { endSession } from '../auth/end-session.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import { sendPage } from '../http/answers.ts'
import { frameOf } from '../http/frame.ts'
import { limited } from '../http/limits.ts'
import { visitOf } from '../http/visit.ts'
import type { PageContext } from './context.ts'
import { type Located, type RepoParams, repoParams } from './locate.ts'
import { acceptRepo, offeredTo } from './repo-settings-accept.ts'
import { ownerOf, type SettingsQuery, settingsPath } from './repo-settings-owner.ts'
import { rightFor } from './repo-settings-page.ts'
import { sendNotOwner } from './repo-settings-refused.ts'
import { mayWriteRepo } from './repo-settings-write.ts'

/** The new owner's form: accept. */
export function addAccept(app: FastifyInstance, ctx: PageContext): void {
  app.post<{ Params: RepoParams }>(
    '/:owner/:name/settings/accept',
    { schema: { params: repoParams }, ...limited('writes') },
    async (request, reply) => {
      const asked = ownerOf(ctx, request, reply)
      if ('sent' in asked) return asked.sent
      if ('owner' in asked) return sendNotOwner(ctx, request, reply, asked.at)
      const { at, offered } = asked
      const from = parseAtUri(at.row.uri)
      const name = offeredTo(at.view.record.value, offered)
      if (from === undefined || name === undefined) return sendNotOwner(ctx, request, reply, at)
      const done = await acceptRepo(ctx, { from: repoUri(from.did, from.rkey), by: offered })
      reply.header('cache-control', 'no-store')
      switch (done.kind) {
        case 'written':
        case 'already': {
          const path = repositoryPath({ did: offered, handle: at.names(offered) }, name)
          return reply.redirect(`${path}/settings?done=accept&at=transfer`, 303)
        }
        case 'no-right':
          return reply.redirect(settingsPath(at), 303)
        case 'log-in': {
          const { session } = visitOf(request)
          if (session !== undefined) await endSession(ctx, session.did, session.name)
          return sendToLogIn(ctx.config.publicUrl, request, reply, settingsPath(at))
        }
        case 'refused':
        case 'changed':
          return sendAccept(ctx, request, reply, asked, {}, done.refusal)
      }
    },
  )
}

/** What a repository's settings are to the one that it is offered to. */
export async function sendAccept(
  ctx: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { at, offered }: { at: Located; offered: Did },
  query: SettingsQuery,
  refused?: SettingsRefusal,
): Promise<FastifyReply> {
  const name = offeredTo(at.view.record.value, offered) ?? at.head.name
  const repo = repositoryName(at.head.owner, at.head.name)
  const right = (await mayWriteRepo(ctx, offered)) ? undefined : await rightFor(ctx, offered, settingsPath(at), query.right)
  const words = says.offeredWords({ owner: at.row.did, name: at.head.name }, { owner: offered, name })
  const named: Names = did => at.names(did) ?? (did === offered ? visitOf(request).session?.handle : undefined)
  const frame = { ...frameOf(ctx, request, { title: says.settingsTitle(repo), description: says.settingsDescription }), names: named }
  reply.header('cache-control', 'no-store')
  const model = {
    frame,
    repo: at.head,
    says: words,
    right,
    refused,
    delegate: ctx.delegations.of(offered).state === 'given' ? undefined : says.delegateWords,
  }
  return sendPage(ctx, reply, 'repo-settings-accept', model, refused === undefined ? 200 : 422)
}
