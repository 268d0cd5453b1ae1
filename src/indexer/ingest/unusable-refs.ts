import type { IndexDatabase } from '../database.ts'
import { bind } from '../sync-queries.ts'
import { refsFault } from '../validate/refs-fault.ts'

/** Refs records that accounts hold and that cannot be used: kept as they are nowhere, but said, so that an owner can mend them. */
export interface UnusableRefs {
  /** Notes what is wrong with a repository's refs record. */
  note(repo: string, record: unknown): void
  /** The record is another now, or gone. */
  forget(repo: string): void
}

export function createUnusableRefs({ db, sqlite }: IndexDatabase): UnusableRefs {
  const put = bind(sqlite, ['repo', 'code', 'message'], (p: { repo: string; code: string; message: string }) =>
    db.insertInto('unusable_refs').orReplace().values(p),
  )
  const remove = bind(sqlite, ['repo'], (p: { repo: string }) => db.deleteFrom('unusable_refs').where('repo', '=', p.repo))
  return {
    note(repo, record) {
      put.run({ repo, ...refsFault(record, repo) })
    },
    forget: repo => void remove.run({ repo }),
  }
}
