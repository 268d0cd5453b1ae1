import { requestLocalLock } from '@atproto/oauth-client-node'
import type { ServerDb } from '../tables.ts'

/** Locks that hold over all processes that share the database. */
export interface SharedLock {
  /** Runs `work` alone under a name. Rejects when others hold it for too long. */
  run<T>(name: string, work: () => T | PromiseLike<T>): Promise<T>
  /** Runs `work` alone under a name; gives undefined at once when another process holds it. */
  tryRun<T>(name: string, work: () => T | PromiseLike<T>): Promise<T | undefined>
}

/** A lease lapses this long after a process that held it died, in milliseconds; one that lives renews it. */
const LEASE_MS = 20_000
const WAIT_MS = 45_000
const POLL_MS = 20

/**
 * Leases in the database, one row each: within a process callers wait in line, between processes they look again and again. `now` is the machine's
 * clock, which all of them share; `holder` names this process.
 */
export function createSharedLock(ctx: { db: ServerDb; now: () => number; holder: string }): SharedLock {
  const { db, now, holder } = ctx

  async function take(name: string): Promise<boolean> {
    const at = now()
    const taken = await db
      .insertInto('lease')
      .values({ name, holder, until: at + LEASE_MS })
      .onConflict(conflict =>
        conflict
          .column('name')
          .doUpdateSet({ holder, until: at + LEASE_MS })
          .where('lease.until', '<=', at),
      )
      .executeTakeFirst()
    return (taken.numInsertedOrUpdatedRows ?? 0n) > 0n
  }

  async function wait(name: string): Promise<void> {
    const patience = AbortSignal.timeout(WAIT_MS)
    while (!(await take(name))) {
      if (patience.aborted) throw new Error('another process holds the lock for too long')
      await new Promise(resolve => setTimeout(resolve, POLL_MS))
    }
  }

  async function hold<T>(name: string, work: () => T | PromiseLike<T>): Promise<T> {
    const mine = () => db.updateTable('lease').where('name', '=', name).where('holder', '=', holder)
    const renew = () =>
      mine()
        .set({ until: now() + LEASE_MS })
        .execute()
    // A renewal that fails leaves the lease to lapse; the work itself meets the same database.
    const renewing = setInterval(() => void renew().catch(() => undefined), LEASE_MS / 4)
    try {
      return await work()
    } finally {
      clearInterval(renewing)
      await db.deleteFrom('lease').where('name', '=', name).where('holder', '=', holder).execute()
    }
  }

  return {
    run: async (name, work) =>
      requestLocalLock(`${holder} ${name}`, async () => {
        await wait(name)
        return hold(name, work)
      }),
    tryRun: async (name, work) => requestLocalLock(`${holder} ${name}`, async () => ((await take(name)) ? hold(name, work) : undefined)),
  }
}
