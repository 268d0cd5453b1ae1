import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'

/** What an account's state records about pulls of a repository are about, newest key first, each pull once; `limit` records are looked at. */
export function statesBy(
  index: IndexDatabase,
  asked: { repos: readonly string[]; did: string; limit: number },
): { subject: string; rkey: string }[] {
  const rows = index.sync.all(
    index.db
      .selectFrom('state')
      .innerJoin('pull', 'pull.uri', 'state.subject')
      .select(['state.subject', 'state.rkey'])
      .where('state.repo', 'in', oneOf(asked.repos))
      .where('state.did', '=', asked.did)
      .orderBy('state.rkey', 'desc')
      .limit(asked.limit),
  )
  return [...new Map(rows.reverse().map(row => [row.subject, row])).values()].reverse()
}
