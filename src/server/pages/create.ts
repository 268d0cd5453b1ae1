import { join } from 'node:path'
import { versionOf } from '../../indexer/read.ts'
import { createActions } from '../actions/create.ts'
import { createLateReruns } from '../actions/rerun-pull.ts'
import type { Context } from '../context.ts'
import { createFailedTests } from '../logs/failed-lines.ts'
import { createLogs } from '../logs/logs.ts'
import { createReports } from '../logs/reports.ts'
import { ANY, createAnyChange } from './any-change.ts'
import { createChanges } from './changes.ts'
import type { PageContext } from './context.ts'
import { createPageCache } from './page-cache.ts'
import { createShownOrders } from './shown-orders.ts'
import { createStreams } from './streams.ts'

/** A page that shows a log while it grows gets its end again each time, in milliseconds. */
const LOG_MS = 500

/** What pages need, over the server's context. */
export function createPageContext(ctx: Context): PageContext {
  const streams = createStreams({ most: ctx.config.streams })
  const anyChange = createAnyChange(topic => {
    pageCache.forget(topic.of)
    streams.changed(topic)
  })
  const pageCache = createPageCache(of => (of === ANY ? anyChange.topic().version : versionOf(ctx.database, of)))
  // A pass changes what pages say and no record: they are made anew, of the same version.
  ctx.passes.onChanged(repo => pageCache.forget(repo))
  ctx.indexer.onChanged(({ repo, version }) => {
    pageCache.forget(repo)
    streams.changed({ of: repo, version })
    anyChange.noted()
  })
  ctx.passes.onChanged(repo => streams.changed({ of: repo, version: versionOf(ctx.database, repo) }))
  ctx.liveLogs.onGrown(check => streams.changed({ of: check, version: 0 }, LOG_MS))
  return {
    ...ctx,
    actions: createActions(ctx),
    anyChange,
    changes: createChanges(ctx.mirrors),
    pageCache,
    lateReruns: createLateReruns(),
    logs: createLogs({ reader: ctx.reader, folder: join(ctx.config.dataDir, 'logs') }),
    failedTests: createFailedTests(),
    reports: createReports({ reader: ctx.reader }),
    shownOrders: createShownOrders(),
    streams,
  }
}
