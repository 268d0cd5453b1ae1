/** Which pulls tell of what happened on a branch lately. */
import { sql } from 'kysely'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'
import type { ChosenPull } from './pull-choice.ts'

const columns = ['pull.record_id', 'pull.uri', 'pull.branch', 'pull.head_repo', 'pull.settled'] as const

/**
 * The pulls onto a branch that the last `most` merged states and the last `most` ejections by `members` are about, at these addresses of the
 * repository. Which of those records count is the fold's to say.
 */
export function choosePast(
  index: IndexDatabase,
  addresses: readonly string[],
  members: ReadonlySet<string>,
  { branch, most }: { branch: string; most: number },
): ChosenPull[] {
  const writers = oneOf(members)
  const chosen = addresses.flatMap(repo => {
    const merged = index.db
      .selectFrom('state')
      .innerJoin('pull', 'pull.uri', 'state.subject')
      .select(columns)
      .where('state.repo', '=', repo)
      .where('state.state', '=', sql.lit('merged'))
      .where('state.did', 'in', writers)
      .where('state.sound', '=', 1)
      .where('pull.branch', '=', branch)
      .orderBy('state.rkey', 'desc')
      .limit(most)
    const ejected = index.db
      .selectFrom('queue_record')
      .innerJoin('pull', 'pull.uri', 'queue_record.subject')
      .select(columns)
      .where('queue_record.repo', '=', repo)
      .where('queue_record.state', '=', sql.lit('ejected'))
      .where('queue_record.did', 'in', writers)
      .where('pull.branch', '=', branch)
      .orderBy('queue_record.rkey', 'desc')
      .limit(most)
    return [...index.sync.all(merged), ...index.sync.all(ejected)]
  })
  return [...new Map(chosen.map(pull => [pull.record_id, pull])).values()]
}
