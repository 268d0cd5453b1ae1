import { versionOf } from '../../indexer/read.ts'
import { createActions } from '../actions/create.ts'
import { createLateReruns } from '../actions/rerun-pull.ts'
import type { Context } from '../context.ts'
import { createLogs } from '../logs/logs.ts'
import { createChanges } from './changes.ts'
import type { PageContext } from './context.ts'
import { createPageCache } from './page-cache.ts'
import { createShownOrders } from './shown-orders.ts'

/** What pages need, over the server's context. */
export function createPageContext(ctx: Context): PageContext {
  const pageCache = createPageCache(repo => versionOf(ctx.database, repo))
  // A pass changes what pages say and no record: they are made anew, of the same version.
  ctx.passes.onChanged(repo => pageCache.forget(repo))
  return {
    ...ctx,
    actions: createActions(ctx),
    changes: createChanges(ctx.mirrors),
    pageCache,
    lateReruns: createLateReruns(),
    logs: createLogs({ reader: ctx.reader }),
    shownOrders: createShownOrders(),
    onChanged(listener) {
      const ends = [
        ctx.indexer.onChanged(listener),
        ctx.passes.onChanged(repo => listener({ repo, version: versionOf(ctx.database, repo) })),
      ]
      return () => {
        for (const end of ends) end()
      }
    },
  }
}
