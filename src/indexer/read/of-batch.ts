import { sql } from 'kysely'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'

/** More than any batch holds, since whoever writes can name a batch. */
const MOST = 200

/** Addresses of the pulls that somebody says landed in the batch of this tip; whose word counts is the fold's to say. Oldest record first. */
export function pullsOfBatch(index: IndexDatabase, repos: readonly string[], tip: string): string[] {
  const query = index.db
    .selectFrom('state')
    .select('subject')
    .where('repo', 'in', oneOf(repos))
    .where('state', '=', sql.lit('merged'))
    .where('batch', '=', tip)
    .orderBy('rkey')
    .limit(MOST)
  return [...new Set(index.sync.all(query).map(row => row.subject))]
}
