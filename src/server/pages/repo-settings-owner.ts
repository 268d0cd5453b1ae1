import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Did, parseDid } from '../../atproto/ids.ts'
import { repositoryPath } from '../../views/paths.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import { visitOf } from '../http/visit.ts'
import type { PageContext } from './context.ts'
import { type Located, locate, type RepoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { offeredTo } from './repo-settings-accept.ts'
import { sendNotOwner } from './repo-settings-refused.ts'
import { sendMissing } from './send.ts'

export interface SettingsQuery {
  /** What was done last, and in which section; `right` is what came of asking for the right to write. */
  done?: string
  at?: string
  draft?: string
  right?: string
}

/** Whose page it is: the owner's; the one's that it is offered to; or nobody's who asks, which is answered then. */
export type OwnerAsked = { sent: FastifyReply } | { owner: Did; at: Located } | { offered: Did; at: Located }

/** Signed out: to the log-in and back. After a move the page is at the new address (HON-4). */
export function ownerOf(ctx: PageContext, request: FastifyRequest<{ Params: RepoParams }>, reply: FastifyReply): OwnerAsked {
  const at = locate(ctx, request.params)
  if (at === undefined) return { sent: sendMissing(ctx, request, reply, lookedFor.repository(request.params.owner, request.params.name)) }
  const viewer = parseDid(visitOf(request).session?.did)
  if (viewer === undefined) return { sent: sendToLogIn(ctx.config.publicUrl, request, reply, settingsPath(at)) }
  const { roles, record, movedTo } = at.view
  if (viewer === roles.owner) {
    if (at.row.did === viewer) return { owner: viewer, at }
    const path = `${repositoryPath({ did: viewer, handle: at.names(viewer) }, record.rkey)}/settings`
    return { sent: reply.header('cache-control', 'no-store').redirect(path, 303) }
  }
  if (movedTo === undefined && offeredTo(record.value, viewer) !== undefined) return { offered: viewer, at }
  return { sent: sendNotOwner(ctx, request, reply, at) }
}

/** Path of a repository's settings. */
export function settingsPath(at: Located): string {
  return `${repositoryPath(at.head.owner, at.head.name)}/settings`
}
