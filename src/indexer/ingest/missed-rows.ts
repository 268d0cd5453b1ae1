/** Whose records waited for which repository in vain: they were too many, or too early. Once the repository is known they are read again. */
import { LRUCache } from 'lru-cache'
import type { IndexDatabase } from '../database.ts'
import { bind } from '../sync-queries.ts'

/** Pairs that are remembered; names of repositories cost nothing to make up. */
const MOST = 10_000

export interface MissedRows {
  note(missed: { repo: string; did: string }): void
  /** The accounts, once. */
  take(repo: string): string[]
  /** A transaction was rolled back. */
  forget(): void
}

export function createMissedRows({ db, sqlite }: IndexDatabase): MissedRows {
  const noted = new LRUCache<string, true>({ max: MOST })
  const insert = bind(sqlite, ['repo', 'did'], (p: { repo: string; did: string }) =>
    db
      .insertInto('missed')
      .values(p)
      .onConflict(conflict => conflict.doNothing()),
  )
  const count = bind(sqlite, [], () => db.selectFrom('missed').select(eb => eb.fn.countAll<number>().as('n')))
  const of = bind(sqlite, ['repo'], (p: { repo: string }) => db.selectFrom('missed').select('did').where('repo', '=', p.repo))
  const remove = bind(sqlite, ['repo'], (p: { repo: string }) => db.deleteFrom('missed').where('repo', '=', p.repo))
  return {
    note({ repo, did }) {
      const pair = `${repo} ${did}`
      if (noted.has(pair)) return
      noted.set(pair, true)
      if ((count.get({})?.n ?? 0) < MOST) insert.run({ repo, did })
    },
    take(repo) {
      const dids = of.all({ repo }).map(row => row.did)
      if (dids.length > 0) remove.run({ repo })
      for (const did of dids) noted.delete(`${repo} ${did}`)
      return dids
    },
    forget: () => noted.clear(),
  }
}
