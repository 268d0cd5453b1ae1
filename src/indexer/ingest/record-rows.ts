import { LRUCache } from 'lru-cache'
import type { IndexDatabase } from '../database.ts'
import { bind } from '../sync-queries.ts'

/** What the index has at an address. */
export interface Held {
  id: number
  rev: string
  cid: string | null
  deleted: number
}

export interface Incoming {
  uri: string
  did: string
  collection: string
  rkey: string
  /** Null for a tombstone, as is `json`. */
  cid: string | null
  rev: string
  json: string | null
  deleted: number
  seen_at: number
  backfilled: number
}

export interface RecordRows {
  find(uri: string): Held | undefined
  /** Inserts and gives the new row's id; undefined when there is a row at its address. */
  insert(row: Incoming): number | undefined
  /** Whether the index has, or had, something at an address that is asked for often. */
  known(uri: string): boolean
  replace(row: {
    id: number
    cid: string | null
    rev: string
    json: string | null
    deleted: number
    seen_at: number
    backfilled: number
  }): void
  /** The content is the same at a later revision. */
  setRev(id: number, rev: string): void
  forget(id: number): void
  /** What was written since the last commit is not there. */
  rolledBack(): void
  /** Rows of a collection in an account from an address on, in order. */
  range(from: string, to: string, limit: number): { id: number; uri: string; rkey: string; rev: string; deleted: number }[]
}

/** Statements over `record`, prepared once. */
export function createRecordRows({ db, sqlite }: IndexDatabase): RecordRows {
  const seen = new LRUCache<string, true>({ max: 20_000 })
  const find = bind(sqlite, ['uri'], (p: { uri: string }) =>
    db.selectFrom('record').select(['id', 'rev', 'cid', 'deleted']).where('uri', '=', p.uri),
  )
  const insert = bind(
    sqlite,
    ['uri', 'did', 'collection', 'rkey', 'cid', 'rev', 'json', 'deleted', 'seen_at', 'backfilled'],
    (p: Incoming) =>
      db
        .insertInto('record')
        .values(p)
        .onConflict(conflict => conflict.column('uri').doNothing()),
  )
  const replace = bind(
    sqlite,
    ['id', 'cid', 'rev', 'json', 'deleted', 'seen_at', 'backfilled'],
    ({ id, ...changed }: Parameters<RecordRows['replace']>[0]) => db.updateTable('record').set(changed).where('id', '=', id),
  )
  const setRev = bind(sqlite, ['id', 'rev'], (p: { id: number; rev: string }) =>
    db.updateTable('record').set({ rev: p.rev }).where('id', '=', p.id),
  )
  const forget = bind(sqlite, ['id'], (p: { id: number }) => db.deleteFrom('record').where('id', '=', p.id))
  const range = bind(sqlite, ['from', 'to', 'limit'], (p: { from: string; to: string; limit: number }) =>
    db
      .selectFrom('record')
      .select(['id', 'uri', 'rkey', 'rev', 'deleted'])
      .where('uri', '>', p.from)
      .where('uri', '<', p.to)
      .orderBy('uri')
      .limit(p.limit),
  )
  return {
    find: uri => find.get({ uri }),
    insert(row) {
      const { changes, lastInsertRowid } = insert.run(row)
      return changes === 0 ? undefined : Number(lastInsertRowid)
    },
    known(uri) {
      if (seen.has(uri)) return true
      if (find.get({ uri }) === undefined) return false
      seen.set(uri, true)
      return true
    },
    rolledBack: () => seen.clear(),
    replace: row => void replace.run(row),
    setRev: (id, rev) => void setRev.run({ id, rev }),
    forget: id => void forget.run({ id }),
    range: (from, to, limit) => range.all({ from, to, limit }),
  }
}
