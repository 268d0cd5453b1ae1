import type { FastifyReply, FastifyRequest } from 'fastify'
import * as words from '../../queue/words/repo-settings.ts'
import { repositoryName, repositoryPath } from '../../views/paths.ts'
import { sendPage } from '../http/answers.ts'
import { frameOf } from '../http/frame.ts'
import { isSafe } from '../http/same-site.ts'
import type { PageContext } from './context.ts'
import type { Located } from './locate.ts'

/** 403 to everybody but the owner, saying who that is. */
export function sendNotOwner(ctx: PageContext, request: FastifyRequest, reply: FastifyReply, at: Located): FastifyReply {
  const refused = words.notOwner(at.view.roles.owner)
  const headline = isSafe(request.method) ? words.ownersPage : undefined
  const frame = { ...frameOf(ctx, request, { title: headline ?? 'Not done', description: words.notYours }), names: at.names }
  const back = { href: repositoryPath(at.head.owner, at.head.name), name: repositoryName(at.head.owner, at.head.name) }
  reply.header('cache-control', 'no-store')
  return sendPage(ctx, reply, 'refused', { frame, repo: at.head, headline, refused, back }, 403)
}
