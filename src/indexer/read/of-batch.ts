/** Batches by what merged states say of them. */
import { sql } from 'kysely'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'
import { type ChosenPull, chooseOne } from './pull-choice.ts'

/** More than any batch holds, since whoever writes can name a batch. */
const MOST = 200

/** Batches that one pull may be said to have landed in. */
const MOST_TIPS = 5

/** The tips of the batches that members say a pull landed in, newest record first. */
export function tipsOfLanded(index: IndexDatabase, pull: string, members: Iterable<string>): string[] {
  const query = index.db
    .selectFrom('state')
    .select('batch')
    .where('subject', '=', pull)
    .where('state', '=', sql.lit('merged'))
    .where('did', 'in', oneOf(members))
    .orderBy('rkey', 'desc')
    .limit(MOST_TIPS)
  return [...new Set(index.sync.all(query).flatMap(row => row.batch ?? []))]
}

/** The pulls that landed in these batches (REA-5). */
export function chooseOfBatches(index: IndexDatabase, repos: readonly string[], tips: readonly string[]): ChosenPull[] {
  return tips.flatMap(tip => pullsOfBatch(index, repos, tip)).flatMap(pull => chooseOne(index, pull) ?? [])
}

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
