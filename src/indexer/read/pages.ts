/** Lists of records, page by page and newest first, for queries that list. */
import type * as knotless from '../../lexicons/dev/knotless.ts'
import type { CheckRecord, Stored } from '../../queue/facts.ts'
import type { IndexDatabase } from '../database.ts'
import { oneOf } from './json-list.ts'
import { readCheck, readIssue, readRows, recordColumns } from './stored.ts'

export interface Page<T> {
  items: T[]
  cursor?: string
}

const bounded = (limit: number | undefined) => Math.min(100, Math.max(1, limit ?? 50))

/** Addresses of a repository's pulls by key; the cursor is a key and an address. The caller reads each one's state by its fold. */
export function pagePulls(
  index: IndexDatabase,
  options: { repo: string; branch?: string; author?: string; settled?: boolean; cursor?: string; limit?: number },
): Page<string> {
  const limit = bounded(options.limit)
  let query = index.db
    .selectFrom('pull')
    .select(['uri', 'rkey'])
    .where('repo', '=', options.repo)
    .orderBy('rkey', 'desc')
    .orderBy('uri', 'desc')
    .limit(limit + 1)
  if (options.branch !== undefined) query = query.where('branch', '=', options.branch)
  if (options.author !== undefined) query = query.where('did', '=', options.author)
  if (options.settled !== undefined) query = query.where('settled', '=', options.settled ? 1 : 0)
  const [rkey, uri] = splitCursor(options.cursor)
  if (rkey !== undefined && uri !== undefined) {
    query = query.where(eb => eb.or([eb('rkey', '<', rkey), eb.and([eb('rkey', '=', rkey), eb('uri', '<', uri)])]))
  }
  const rows = index.sync.all(query)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { items: rows.slice(0, limit).map(row => row.uri), ...(last === undefined ? {} : { cursor: `${last.rkey} ${last.uri}` }) }
}

/** The same of one author over all repositories. */
export function pagePullsOf(
  index: IndexDatabase,
  options: { author: string; settled: boolean; cursor?: string; limit?: number },
): Page<string> {
  const limit = bounded(options.limit)
  let query = index.db
    .selectFrom('pull')
    .select(['uri', 'rkey'])
    .where('did', '=', options.author)
    .where('settled', '=', options.settled ? 1 : 0)
    .orderBy('rkey', 'desc')
    .limit(limit + 1)
  // An author's keys are each there once.
  if (options.cursor !== undefined) query = query.where('rkey', '<', options.cursor.slice(0, 512))
  const rows = index.sync.all(query)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { items: rows.slice(0, limit).map(row => row.uri), ...(last === undefined ? {} : { cursor: last.rkey }) }
}

/** A repository's checks by when they were filed: of a pull's own runs, of a commit, or of a branch's batches; by `writers` only. */
export function pageChecks(
  index: IndexDatabase,
  options: { repo: string; writers: readonly string[]; pull?: string; commit?: string; branch?: string; cursor?: string; limit?: number },
): Page<Stored<CheckRecord>> {
  const limit = bounded(options.limit)
  let query = index.db
    .selectFrom('check_run')
    .innerJoin('record', 'record.id', 'check_run.record_id')
    .select([...recordColumns, 'check_run.filed_at', 'check_run.record_id'])
    .where('check_run.repo', '=', options.repo)
    .where('check_run.did', 'in', oneOf(options.writers))
    .orderBy('check_run.filed_at', 'desc')
    .orderBy('check_run.record_id', 'desc')
    .limit(limit + 1)
  if (options.pull !== undefined) query = query.where('check_run.pull', '=', options.pull)
  if (options.commit !== undefined) query = query.where('check_run.commit_id', '=', options.commit)
  if (options.branch !== undefined)
    query = query.where('check_run.is_batch', '=', 1).where('check_run.ref', '=', `refs/heads/${options.branch}`)
  const [filed, id] = splitCursor(options.cursor).map(Number)
  if (Number.isSafeInteger(filed) && Number.isSafeInteger(id) && filed !== undefined && id !== undefined) {
    query = query.where(eb =>
      eb.or([eb('check_run.filed_at', '<', filed), eb.and([eb('check_run.filed_at', '=', filed), eb('check_run.record_id', '<', id)])]),
    )
  }
  const rows = index.sync.all(query)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return {
    items: readRows(rows.slice(0, limit), readCheck),
    ...(last === undefined ? {} : { cursor: `${last.filed_at} ${last.record_id}` }),
  }
}

/** A repository's issues, newest first, at most `limit`. */
export function issuesOf(index: IndexDatabase, repo: string, limit = 100): Stored<knotless.issue.Main>[] {
  const query = index.db
    .selectFrom('issue')
    .innerJoin('record', 'record.id', 'issue.record_id')
    .select(recordColumns)
    .where('issue.repo', '=', repo)
    .orderBy('issue.rkey', 'desc')
    .limit(limit)
  return readRows(index.sync.all(query), readIssue)
}

function splitCursor(cursor: string | undefined): string[] {
  return cursor === undefined ? [] : cursor.slice(0, 512).split(' ')
}
