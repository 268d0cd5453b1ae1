/** What is to be read from people's servers, noted in the same transaction as the record that makes it interesting. */
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { IndexDatabase } from '../database.ts'
import type { BackfillTable } from '../schema.ts'
import { bind } from '../sync-queries.ts'

/** Who goes first. From `AUTHOR` on only what authors write is read. */
export const priorities = { owner: 0, member: 1, former: 2, author: 3 } as const

/** Repositories that are looked for at a time: names cost nothing to make up. */
const MOST_LOOKUPS = 10_000

/** In `next_at`: all of it is to be read, also where a reading is under way now, which may have come too early. */
export const ANEW = -1

export interface Wanted {
  /** The records of an account; true when that is news. */
  account(did: string, priority: number): boolean
  /** A repository that something names and nobody told us of; true when it is to be looked for now. */
  repository(uri: string, now: number): boolean
  /** An account is to be read again: it came back. */
  again(did: string): void
  /** All of an account is to be read again, whatever it has written since it was read last. */
  anew(did: string): void
  /** A transaction was rolled back: what was noted in it is not. */
  forget(): void
}

type Row = Pick<BackfillTable, 'subject' | 'kind' | 'priority'>

export function createWanted({ db, sqlite }: IndexDatabase): Wanted {
  const noted = new LRUCache<string, number>({ max: 20_000 })
  const insert = bind(sqlite, ['subject', 'kind', 'priority'], (p: Row) =>
    db
      .insertInto('backfill')
      .values({ ...p, state: 'pending', rev: null, progress: null, tries: 0, next_at: 0, error: null })
      .onConflict(conflict =>
        conflict
          .column('subject')
          // Somebody who was only an author and is named now is read whole.
          .doUpdateSet(eb => ({
            priority: eb.ref('excluded.priority'),
            state: sql<
              BackfillTable['state']
            >`case when backfill.priority >= 3 and excluded.priority < 3 then 'pending' else backfill.state end`,
            rev: sql<string | null>`case when backfill.priority >= 3 and excluded.priority < 3 then null else backfill.rev end`,
            progress: sql<string | null>`case when backfill.priority >= 3 and excluded.priority < 3 then null else backfill.progress end`,
            next_at: sql<number>`case when backfill.priority >= 3 and excluded.priority < 3 then 0 else backfill.next_at end`,
          }))
          .whereRef('excluded.priority', '<', 'backfill.priority'),
      ),
  )
  const look = bind(sqlite, ['subject', 'now'], (p: { subject: string; now: number }) =>
    db
      .insertInto('backfill')
      .values({
        subject: p.subject,
        kind: 'repository',
        priority: 2,
        state: 'pending',
        rev: null,
        progress: null,
        tries: 0,
        next_at: 0,
        error: null,
      })
      .onConflict(conflict =>
        conflict
          .column('subject')
          .doUpdateSet({ state: 'pending', tries: 0 })
          .where('backfill.state', '=', 'absent')
          .where('backfill.next_at', '<=', p.now),
      ),
  )
  const lookups = bind(sqlite, [], () =>
    db
      .selectFrom('backfill')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .where('state', '=', 'pending')
      .where('kind', '=', 'repository'),
  )
  const looked = new LRUCache<string, true>({ max: 5_000, ttl: 60_000 })
  let pending = 0
  let calls = 0
  const again = bind(sqlite, ['subject'], (p: { subject: string }) =>
    db
      .updateTable('backfill')
      .set({ state: 'pending', progress: null, tries: 0, next_at: 0 })
      .where('subject', '=', p.subject)
      .where('next_at', '!=', ANEW),
  )

  const anew = bind(sqlite, ['subject'], (p: { subject: string }) =>
    db
      .updateTable('backfill')
      .set({ state: 'pending', rev: null, progress: null, tries: 0, next_at: ANEW })
      .where('subject', '=', p.subject),
  )

  function note(subject: string, kind: Row['kind'], priority: number): boolean {
    const known = noted.get(subject)
    if (known !== undefined && known <= priority) return false
    noted.set(subject, priority)
    return insert.run({ subject, kind, priority }).changes > 0
  }

  return {
    account: (did, priority) => note(did, 'account', priority),
    repository(uri, now) {
      if (looked.has(uri)) return false
      looked.set(uri, true)
      if (calls++ % 64 === 0) pending = lookups.get({})?.n ?? 0
      if (pending >= MOST_LOOKUPS) return false
      return look.run({ subject: uri, now }).changes > 0
    },
    again: did => void again.run({ subject: did }),
    anew: did => void anew.run({ subject: did }),
    forget() {
      noted.clear()
      looked.clear()
    },
  }
}
