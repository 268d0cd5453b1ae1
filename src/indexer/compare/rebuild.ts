import { createBudget, usualBudget } from '../backfill/budget.ts'
import { type BackfillContext, usualBounds } from '../backfill/context.ts'
import { createJobs } from '../backfill/jobs.ts'
import { startBackfill } from '../backfill/worker.ts'
import { type IndexDatabase, migrate, openDatabase } from '../database.ts'
import { createIngest } from '../ingest/queue.ts'
import { priorities } from '../ingest/wanted.ts'
import { oneOf } from '../read/json-list.ts'

export interface RebuildOptions extends Pick<BackfillContext, 'identity' | 'reader' | 'relay' | 'now'> {
  /** Where the new index goes; a file that is not there yet, or `:memory:`. */
  path: string
  /** Accounts that are read whether or not the relay knows them. */
  accounts: Iterable<string>
  budget?: Parameters<typeof createBudget>[0]
  failed: (error: unknown) => void
}

export interface Rebuilt {
  readonly index: IndexDatabase
  /** Accounts and repositories that could not be read, with why. */
  unread(): { subject: string; error: string }[]
  /** Reads these accounts again: something changed since. */
  readAgain(accounts: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** Builds an index from what people's servers hold now, and from nothing else. What cannot be read at once is not waited for. */
export async function rebuildIndex(options: RebuildOptions): Promise<Rebuilt> {
  const { identity, reader, relay, now, failed } = options
  const index = openDatabase(options.path)
  await migrate(index.db)
  const { db, sync } = index
  const ingest = createIngest({ index, now, service: 'rebuild', failed })
  await ingest.submit([{ kind: 'want', dids: [...options.accounts], priority: priorities.former }])
  const budget = createBudget(options.budget ?? usualBudget)
  const backfill = startBackfill({ ingest, identity, reader, budget, jobs: createJobs(index), relay, now, bounds: usualBounds }, failed)
  ingest.onOutcome(outcome => {
    if (outcome.wanted) backfill.kick()
  })

  async function settled(): Promise<void> {
    for (let rows = -1; rows !== rowsOf(index); ) {
      rows = rowsOf(index)
      await backfill.idle()
      await ingest.idle()
    }
  }

  await settled()
  return {
    index,
    unread() {
      const rows = sync.all(db.selectFrom('backfill').select(['subject', 'error']).where('state', '=', 'pending'))
      return rows.map(({ subject, error }) => ({ subject, error: error ?? 'not read in time' }))
    },
    async readAgain(accounts) {
      await ingest.submit([{ kind: 'want', dids: accounts, priority: priorities.former }])
      const anew = { state: 'pending', rev: null, progress: null, next_at: 0 } as const
      sync.run(db.updateTable('backfill').set(anew).where('subject', 'in', oneOf(accounts)))
      await settled()
    },
    async close() {
      await backfill.stop()
      await ingest.stop()
      await index.close()
    },
  }
}

function rowsOf({ sync, db }: IndexDatabase): number {
  const records = sync.first(db.selectFrom('record').select(eb => eb.fn.countAll<number>().as('n')))?.n ?? 0
  const jobs = sync.first(db.selectFrom('backfill').select(eb => eb.fn.countAll<number>().as('n')))?.n ?? 0
  return records + jobs
}

/** Every account that an index has a record of, or knows. */
export function accountsIn({ sync, db }: IndexDatabase): string[] {
  const writers = sync.all(db.selectFrom('record').select('did').distinct().where('deleted', '=', 0))
  const known = sync.all(db.selectFrom('account').select('did'))
  return [...new Set([...writers, ...known].map(row => row.did))]
}
