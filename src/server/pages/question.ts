import type { FastifyRequest } from 'fastify'
import { pullView } from '../../queue/answers/parts.ts'
import type { Frame } from '../../views/models.ts'
import { frameOf } from '../http/frame.ts'
import type { PageContext } from './context.ts'
import type { LocatedPull } from './pull-path.ts'

/** What a page that asks before something is done to a pull has beside its question. */
export function aboutPull(ctx: PageContext, request: FastifyRequest, at: LocatedPull, page: Pick<Frame, 'title' | 'description'>) {
  return { frame: { ...frameOf(ctx, request, page), names: at.names }, repo: at.head, pull: pullView(at.pull, at.names) }
}
