import type { FastifyRequest } from 'fastify'
import { listRepositories } from '../../indexer/read.ts'
import type { NotFoundPage } from '../../views/models.ts'
import type { PageContext } from './context.ts'
import { accountOf, locate } from './locate.ts'

/** How many repositories are offered instead. */
const MOST = 5

/**
 * What there is near an address that leads nowhere: the repository that its first two parts name, or else what the account that its first part
 * names owns.
 */
export function nearby(ctx: PageContext, request: FastifyRequest): Pick<NotFoundPage, 'repo' | 'near'> {
  const [owner, name] = request.url.replace(/^\/+/, '').replace(/\?.*$/s, '').split('/').map(decoded)
  if (owner === undefined) return {}
  const at = name === undefined ? undefined : locate(ctx, { owner, name })
  if (at !== undefined) return { repo: at.head }
  const did = accountOf(ctx, owner)
  if (did === undefined) return {}
  const { repositories } = listRepositories(ctx.database, { owner: did, limit: MOST })
  return { near: repositories.map(row => ({ owner: { did: row.did, handle: row.handle }, name: row.name })) }
}

/** A part of an address; one that cannot be decoded names nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}
