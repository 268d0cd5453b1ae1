import type { RepositoryCache } from '../../indexer/read.ts'
import type { ActionContext } from '../actions/context.ts'
import type { LateReruns } from '../actions/rerun-pull.ts'
import type { Context } from '../context.ts'
import type { FailedTests } from '../logs/failed-lines.ts'
import type { Logs } from '../logs/logs.ts'
import type { Reports } from '../logs/reports.ts'
import type { AnyChange } from './any-change.ts'
import type { Changes } from './changes.ts'
import type { PageCache } from './page-cache.ts'
import type { ShownOrders } from './shown-orders.ts'
import type { Streams } from './streams.ts'

/** What pages take beside the server's context. */
export interface PageContext extends Context {
  readonly repositories: RepositoryCache
  readonly actions: ActionContext
  readonly anyChange: AnyChange
  readonly changes: Changes
  readonly pageCache: PageCache
  readonly logs: Logs
  readonly reports: Reports
  readonly failedTests: FailedTests
  readonly lateReruns: LateReruns
  readonly shownOrders: ShownOrders
  readonly streams: Streams
}
