import { type SqlBool, sql } from 'kysely'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'

/**
 * Addresses of a repository's issues that nobody whose word counts has closed: `members`, and each issue's own author (HON-6). Newest first, at
 * most `limit`.
 */
export function openIssuesOf(index: IndexDatabase, repo: string, members: readonly string[], limit = 5_000): string[] {
  const told = (alias: string) => sql<SqlBool>`(${sql.ref(`${alias}.did`)} in ${oneOf(members)} or ${sql.ref(`${alias}.did`)} = issue.did)`
  const later = sql<SqlBool>`exists (select 1 from state later where later.subject = issue.uri and later.rkey > closed.rkey and ${told('later')})`
  const closed = sql<SqlBool>`exists (select 1 from state closed where closed.subject = issue.uri and closed.state = 'closed' and ${told('closed')} and not ${later})`
  const query = index.db
    .selectFrom('issue')
    .select('issue.uri')
    .where('issue.repo', '=', repo)
    .where(sql<SqlBool>`not ${closed}`)
    .orderBy('issue.rkey', 'desc')
    .limit(limit)
  return index.sync.all(query).map(row => row.uri)
}
