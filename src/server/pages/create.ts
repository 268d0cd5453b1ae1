import { versionOf } from '../../indexer/read.ts'
import { createActions } from '../actions/create.ts'
import type { Context } from '../context.ts'
import { createChanges } from './changes.ts'
import type { PageContext } from './context.ts'
import { createPageCache } from './page-cache.ts'
import { createShownOrders } from './shown-orders.ts'

/** What pages need, over the server's context. */
export function createPageContext(ctx: Context): PageContext {
  return {
    ...ctx,
    actions: createActions(ctx),
    changes: createChanges(ctx.mirrors),
    pageCache: createPageCache(repo => versionOf(ctx.database, repo)),
    shownOrders: createShownOrders(),
    onChanged: listener => ctx.indexer.onChanged(listener),
  }
}
