import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { addBadge } from './badge.ts'
import { addBatchPage } from './batch-page.ts'
import { addCheckPage } from './check-page.ts'
import type { PageContext } from './context.ts'
import { addEvents } from './events.ts'
import { addFeed } from './feed.ts'
import { addFormAddresses } from './form-addresses.ts'
import { addHelp } from './help.ts'
import { addHomePage } from './home-page.ts'
import { addMyPulls } from './my-pulls.ts'
import { addPullActions } from './pull-actions.ts'
import { addPullChanges } from './pull-changes.ts'
import { addPullPage } from './pull-page.ts'
import { addQueuePage } from './queue-page.ts'
import { addRecordPage } from './record-page.ts'
import { addRepoSettings } from './repo-settings.ts'
import { addNowhere, addRepositoryPage } from './repository-page.ts'
import { addSettings } from './settings.ts'
import { addStatsPage } from './stats-page.ts'

/** Every page and action, one file each. They run in a scope that knows the visit, parses forms and has checked their tokens. */
export function addPages(app: FastifyInstance, ctx: Context, pages: PageContext): void {
  addEvents(app, pages)
  addHomePage(app, pages)
  addMyPulls(app, pages)
  addHelp(app, pages)
  addSettings(app, ctx)
  addRepositoryPage(app, pages)
  addNowhere(app, pages)
  addRepoSettings(app, pages)
  addQueuePage(app, pages)
  addStatsPage(app, pages)
  addPullPage(app, pages)
  addPullActions(app, pages)
  addPullChanges(app, pages)
  addBatchPage(app, pages)
  addCheckPage(app, pages)
  addRecordPage(app, pages)
  addFeed(app, pages)
  addBadge(app, pages)
  addFormAddresses(app)
}
