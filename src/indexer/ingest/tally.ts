/** Counts and cursors, written once per batch. */
import { sql } from 'kysely'
import type { IndexDatabase } from '../database.ts'
import type { RepoVersionTable } from '../schema.ts'
import { bind } from '../sync-queries.ts'
import type { RefusedReason } from '../validate/reasons.ts'

export interface Tally {
  /** The repository's next version: grows always, and over rebuilt databases as well, since it is never below the time. */
  bump(repo: string, now: number): number
  refused(counts: ReadonlyMap<RefusedReason, number>): void
  /** Moves the cursor of a stream on; never back. */
  setCursor(service: string, timeUs: number, now: number): void
  /** Of this stream; of the one followed last when it was none yet: times mean the same on each. */
  cursor(service: string): number | undefined
}

export function createTally({ db, sqlite }: IndexDatabase): Tally {
  const bump = bind(sqlite, ['repo', 'version'], (p: RepoVersionTable) =>
    db
      .insertInto('repo_version')
      .values(p)
      .onConflict(conflict =>
        conflict.column('repo').doUpdateSet({ version: sql<number>`max(repo_version.version + 1, excluded.version)` }),
      )
      .returning('version'),
  )
  const count = bind(sqlite, ['reason', 'count'], (p: { reason: string; count: number }) =>
    db
      .insertInto('ignored')
      .values(p)
      .onConflict(conflict => conflict.column('reason').doUpdateSet({ count: sql<number>`ignored.count + excluded.count` })),
  )
  const save = bind(sqlite, ['service', 'time_us', 'saved_at'], (p: { service: string; time_us: number; saved_at: number }) =>
    db
      .insertInto('cursor')
      .values(p)
      .onConflict(conflict =>
        conflict
          .column('service')
          .doUpdateSet(eb => ({ time_us: eb.ref('excluded.time_us'), saved_at: eb.ref('excluded.saved_at') }))
          .whereRef('excluded.time_us', '>', 'cursor.time_us'),
      ),
  )
  const read = bind(sqlite, ['service'], (p: { service: string }) =>
    db.selectFrom('cursor').select('time_us').orderBy(sql`service = ${p.service}`, 'desc').orderBy('time_us', 'desc').limit(sql.lit(1)),
  )
  return {
    bump: (repo, now) => bump.get({ repo, version: now })?.version ?? now,
    refused(counts) {
      for (const [reason, n] of counts) count.run({ reason, count: n })
    },
    setCursor: (service, timeUs, now) => void save.run({ service, time_us: timeUs, saved_at: now }),
    cursor: service => read.get({ service })?.time_us,
  }
}
