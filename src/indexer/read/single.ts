import type { CheckRecord, Stored } from '../../queue/facts.ts'
import type { IndexDatabase } from '../database.ts'
import { readCheck, recordColumns } from './stored.ts'

/** One record as the account holds it, by its address; undefined when the index knows of none. */
export function recordAt(
  index: IndexDatabase,
  uri: string,
): { uri: string; did: string; collection: string; rkey: string; cid: string; json: string; seenAt: number } | undefined {
  const row = index.sync.first(
    index.db
      .selectFrom('record')
      .select(['uri', 'did', 'collection', 'rkey', 'cid', 'json', 'seen_at as seenAt'])
      .where('uri', '=', uri)
      .where('deleted', '=', 0),
  )
  if (row === undefined || row.cid === null || row.json === null) return undefined
  return { ...row, cid: row.cid, json: row.json }
}

/** A run's record by its address; undefined when the index has none there. */
export function checkAt(index: IndexDatabase, uri: string): Stored<CheckRecord> | undefined {
  const row = index.sync.first(index.db.selectFrom('record').select(recordColumns).where('uri', '=', uri).where('deleted', '=', 0))
  return row === undefined ? undefined : readCheck(row)
}

/** How many records were passed over, by reason (REC-3), since the index was made. */
export function ignoredCounts(index: IndexDatabase): Map<string, number> {
  const rows = index.sync.all(index.db.selectFrom('ignored').select(['reason', 'count']))
  return new Map(rows.map(row => [row.reason, row.count]))
}

export interface MirrorState {
  ok: boolean
  /** Why not, in words for people, and its code. */
  code?: string
  message?: string
  /** When it was last brought up to date, and when that last failed. */
  syncedAt?: number
  failedAt?: number
}

/** How the mirror of a repository stands, and why it is not at a refs record that cannot be used; undefined while it was not looked at. */
export function mirrorStateOf(index: IndexDatabase, repo: string): MirrorState | undefined {
  const row = index.sync.first(index.db.selectFrom('mirror_state').selectAll().where('repo', '=', repo))
  const unusable = index.sync.first(index.db.selectFrom('unusable_refs').select(['code', 'message']).where('repo', '=', repo))
  if (unusable !== undefined) return { ok: false, ...unusable, ...(row?.synced_at == null ? {} : { syncedAt: row.synced_at }) }
  if (row === undefined) return undefined
  return {
    ok: row.status === 'ok',
    ...(row.code === null ? {} : { code: row.code }),
    ...(row.message === null ? {} : { message: row.message }),
    ...(row.synced_at === null ? {} : { syncedAt: row.synced_at }),
    ...(row.failed_at === null ? {} : { failedAt: row.failed_at }),
  }
}
