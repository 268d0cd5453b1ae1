/** Records whose repository is not known yet (REC-11): they have their row in `record` and a place here, and no typed row. */
import type { IndexDatabase } from '../database.ts'
import { bind } from '../sync-queries.ts'

export interface WaitingBounds {
  /** In all. */
  total: number
  /** Of one account. */
  perAccount: number
  /** Milliseconds. */
  forMs: number
}

export const waitingBounds: WaitingBounds = { total: 10_000, perAccount: 1_000, forMs: 24 * 3_600_000 }

export interface WaitingRow {
  record_id: number
  repo: string
  did: string
}

export interface WaitingRows {
  repoOf(recordId: number): string | undefined
  /** For a record that does not wait yet. */
  put(row: { record_id: number; repo: string; did: string; since: number }): void
  remove(recordId: number): void
  /** The next of those that wait for a repository. */
  for(repo: string, limit: number): number[]
  /** Takes out what is over the bounds after a record of `did` came in, oldest first. */
  evict(did: string): WaitingRow[]
  /** Takes out what has waited too long, at most 1,000 at a time. */
  expire(now: number): WaitingRow[]
  /** A transaction was rolled back: what was counted is counted again. */
  recount(): void
}

export function createWaitingRows({ db, sqlite }: IndexDatabase, bounds: WaitingBounds = waitingBounds): WaitingRows {
  let total: number | undefined
  const find = bind(sqlite, ['id'], (p: { id: number }) => db.selectFrom('waiting').select('repo').where('record_id', '=', p.id))
  const insert = bind(sqlite, ['record_id', 'repo', 'did', 'since'], (p: { record_id: number; repo: string; did: string; since: number }) =>
    db.insertInto('waiting').orReplace().values(p),
  )
  const remove = bind(sqlite, ['id'], (p: { id: number }) => db.deleteFrom('waiting').where('record_id', '=', p.id))
  const forRepo = bind(sqlite, ['repo', 'limit'], (p: { repo: string; limit: number }) =>
    db.selectFrom('waiting').select('record_id').where('repo', '=', p.repo).orderBy('record_id').limit(p.limit),
  )
  const oldest = bind(sqlite, ['limit'], (p: { limit: number }) =>
    db.selectFrom('waiting').select(['record_id', 'repo', 'did']).orderBy('since').orderBy('record_id').limit(p.limit),
  )
  const oldestOf = bind(sqlite, ['did', 'limit'], (p: { did: string; limit: number }) =>
    db
      .selectFrom('waiting')
      .select(['record_id', 'repo', 'did'])
      .where('did', '=', p.did)
      .orderBy('since')
      .orderBy('record_id')
      .limit(p.limit),
  )
  const late = bind(sqlite, ['before'], (p: { before: number }) =>
    db.selectFrom('waiting').select(['record_id', 'repo', 'did']).where('since', '<', p.before).limit(1_000),
  )
  const count = bind(sqlite, [], () => db.selectFrom('waiting').select(eb => eb.fn.countAll<number>().as('n')))
  const countOf = bind(sqlite, ['did'], (p: { did: string }) =>
    db
      .selectFrom('waiting')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .where('did', '=', p.did),
  )

  function takeOut<Row extends { record_id: number }>(rows: Row[]): Row[] {
    for (const row of rows) {
      const { changes } = remove.run({ id: row.record_id })
      if (total !== undefined) total -= changes
    }
    return rows
  }

  return {
    repoOf: id => find.get({ id })?.repo,
    put(row) {
      insert.run(row)
      if (total !== undefined) total += 1
    },
    remove: id => void takeOut([{ record_id: id }]),
    for: (repo, limit) => forRepo.all({ repo, limit }).map(row => row.record_id),
    evict(did) {
      total ??= count.get({})?.n ?? 0
      const overOf = (countOf.get({ did })?.n ?? 0) - bounds.perAccount
      const out = overOf > 0 ? takeOut(oldestOf.all({ did, limit: overOf })) : []
      const over = total - bounds.total
      return over > 0 ? [...out, ...takeOut(oldest.all({ limit: over }))] : out
    },
    expire: now => takeOut(late.all({ before: now - bounds.forMs })),
    recount() {
      total = undefined
    },
  }
}
