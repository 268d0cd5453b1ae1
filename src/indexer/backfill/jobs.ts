import { sql } from 'kysely'
import type { IndexDatabase } from '../database.ts'
import { ANEW } from '../ingest/wanted.ts'
import type { BackfillTable } from '../schema.ts'
import { bind } from '../sync-queries.ts'

export type Job = Pick<BackfillTable, 'subject' | 'kind' | 'priority' | 'rev' | 'progress' | 'tries'>

/** What is to be read, in the database, so that a restart goes on. */
export interface Jobs {
  /** The most urgent ones that are due. */
  due(now: number, limit: number): Job[]
  /** When the next one is due; undefined when none waits. */
  nextAt(): number | undefined
  /** A job is taken up. Gives it as it is to be read: from the beginning when all of it is wanted anew. */
  begin(job: Job): Job
  /** How far a job came. Nothing is written when the job was widened meanwhile: it has to start again. */
  progress(job: Job, rev: string, progress: string): void
  done(job: Job, rev: string | null, againAt: number): void
  /** There is nothing to read; looked for again when something names it after `againAt`. */
  absent(subject: string, againAt: number): void
  later(subject: string, at: number, tries: number, error: string | null): void
  /** Asks the relay for a collection's accounts, once in this database's life. */
  addRelay(collection: string): void
  /** Everything is to be read again: the stream has a gap. */
  restart(): void
  /** Named accounts that were read long ago are read again, since an event may have been lost; and those that were not there, since they may be by now. */
  renew(now: number): void
  pending(): number
  /** Whether anything that did not fail is to be read within moments. */
  atHand(now: number): boolean
}

export function createJobs({ db, sqlite }: IndexDatabase): Jobs {
  const due = bind(sqlite, ['now', 'limit'], (p: { now: number; limit: number }) =>
    db
      .selectFrom('backfill')
      .select(['subject', 'kind', 'priority', 'rev', 'progress', 'tries'])
      .where('state', '=', 'pending')
      .where('next_at', '<=', p.now)
      .orderBy('priority')
      .orderBy('next_at')
      .limit(p.limit),
  )
  const nextAt = bind(sqlite, [], () =>
    db
      .selectFrom('backfill')
      .select(eb => eb.fn.min<number | null>('next_at').as('at'))
      .where('state', '=', 'pending'),
  )
  /** Who was read as an author only is not done when a repository names them since. */
  const asWide = (priority: number) => sql<boolean>`(backfill.priority < 3) = (${priority} < 3)`
  const progress = bind(
    sqlite,
    ['subject', 'priority', 'rev', 'progress'],
    (p: { subject: string; priority: number; rev: string; progress: string }) =>
      db.updateTable('backfill').set({ rev: p.rev, progress: p.progress }).where('subject', '=', p.subject).where(asWide(p.priority)),
  )
  const begin = bind(sqlite, ['subject'], (p: { subject: string }) =>
    db.updateTable('backfill').set({ rev: null, progress: null, next_at: 0 }).where('subject', '=', p.subject).where('next_at', '=', ANEW),
  )
  /** What was wanted anew while it was being read stays wanted. */
  const unlessAnew = <T>(value: T, anew: T) => sql<T>`case when next_at = ${sql.lit(ANEW)} then ${anew} else ${value} end`
  const ended = ({ state, rev, next_at }: Pick<BackfillTable, 'state' | 'rev' | 'next_at'>) => ({
    state: unlessAnew<BackfillTable['state']>(state, 'pending'),
    rev: unlessAnew<string | null>(rev, null),
    next_at: unlessAnew<number>(next_at, ANEW),
  })
  const done = bind(
    sqlite,
    ['subject', 'priority', 'rev', 'next_at'],
    ({ subject, priority, ...row }: Pick<BackfillTable, 'subject' | 'priority' | 'rev' | 'next_at'>) =>
      db
        .updateTable('backfill')
        .set({ ...ended({ ...row, state: 'done' }), progress: null, tries: 0, error: null })
        .where('subject', '=', subject)
        .where(asWide(priority)),
  )
  const finish = bind(
    sqlite,
    ['subject', 'state', 'rev', 'next_at'],
    ({ subject, ...row }: Pick<BackfillTable, 'subject' | 'state' | 'rev' | 'next_at'>) =>
      db
        .updateTable('backfill')
        .set({ ...ended(row), progress: null, tries: 0, error: null })
        .where('subject', '=', subject),
  )
  const later = bind(
    sqlite,
    ['subject', 'next_at', 'tries', 'error'],
    ({ subject, next_at, ...row }: Pick<BackfillTable, 'subject' | 'next_at' | 'tries' | 'error'>) =>
      db
        .updateTable('backfill')
        .set({ ...row, next_at: unlessAnew<number>(next_at, ANEW) })
        .where('subject', '=', subject),
  )
  const insert = bind(sqlite, ['subject', 'priority'], (p: { subject: string; priority: number }) =>
    db
      .insertInto('backfill')
      .values({ ...p, kind: 'relay', state: 'pending', rev: null, progress: null, tries: 0, next_at: 0, error: null })
      .onConflict(conflict => conflict.doNothing()),
  )
  const restart = bind(sqlite, [], () =>
    db
      .updateTable('backfill')
      .set({ state: 'pending', progress: null, tries: 0, next_at: 0 })
      .where('kind', '!=', 'repository')
      .where('state', '!=', 'absent'),
  )
  const renew = bind(sqlite, ['now', 'limit'], (p: { now: number; limit: number }) =>
    db
      .updateTable('backfill')
      .set({ state: 'pending', progress: null })
      .where('subject', 'in', eb =>
        eb
          .selectFrom('backfill')
          .select('subject')
          .where('kind', '=', 'account')
          .where('next_at', '<=', p.now)
          .where(eb => eb.or([eb.and([eb('state', '=', 'done'), eb('priority', '<', 3)]), eb('state', '=', 'absent')]))
          .limit(p.limit),
      ),
  )
  const count = bind(sqlite, [], () =>
    db
      .selectFrom('backfill')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .where('state', '=', 'pending'),
  )
  const atHand = bind(sqlite, ['by'], (p: { by: number }) =>
    db
      .selectFrom('backfill')
      .select('subject')
      .where('state', '=', 'pending')
      .where('error', 'is', null)
      .where('next_at', '<=', p.by)
      .limit(sql.lit(1)),
  )
  return {
    due: (now, limit) => due.all({ now, limit }),
    nextAt: () => nextAt.get({})?.at ?? undefined,
    begin: job => (begin.run({ subject: job.subject }).changes > 0 ? { ...job, rev: null, progress: null } : job),
    progress: ({ subject, priority }, rev, text) => void progress.run({ subject, priority, rev, progress: text }),
    done: ({ subject, priority }, rev, againAt) => void done.run({ subject, priority, rev, next_at: againAt }),
    absent: (subject, againAt) => void finish.run({ subject, state: 'absent', rev: null, next_at: againAt }),
    later: (subject, at, tries, error) => void later.run({ subject, next_at: at, tries, error }),
    addRelay: collection => void insert.run({ subject: collection, priority: 1 }),
    restart: () => void restart.run({}),
    renew: now => void renew.run({ now, limit: 100 }),
    pending: () => count.get({})?.n ?? 0,
    atHand: now => atHand.get({ by: now + 1_000 }) !== undefined,
  }
}
