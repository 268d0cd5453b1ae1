/** Work over many rows, a bounded number of them per batch; the rest goes on in a later one. */
import type { IndexDatabase } from '../database.ts'
import { bind } from '../sync-queries.ts'
import { kindOf, usable } from '../validate/usable.ts'
import { type Batch, refuse } from './batch.ts'
import type { ReleaseEvent, SweepEvent } from './events.ts'
import type { Placer, Tables } from './placer.ts'

export interface Steps {
  /** Places records that waited for a repository; the accounts of those that could not wait are read again. */
  release(batch: Batch, event: ReleaseEvent): void
  /** Leaves tombstones for rows that a list read up to a revision lacks. */
  sweep(batch: Batch, event: SweepEvent): void
  /** Forgets what has waited too long (REC-11) and tombstones that nothing late can meet any more. */
  tidy(batch: Batch): void
}

const STEP = 200
const TOMBSTONE_MS = 7 * 24 * 3_600_000
const LOOKUP_MS = 24 * 3_600_000

export function createSteps({ db, sqlite }: IndexDatabase, tables: Tables, placer: Placer): Steps {
  const { records, waiting, missed } = tables
  const stored = bind(sqlite, ['id'], (p: { id: number }) =>
    db.selectFrom('record').select(['uri', 'did', 'collection', 'rkey', 'json']).where('id', '=', p.id).where('deleted', '=', 0),
  )
  const oldTombstones = bind(sqlite, ['before', 'limit'], (p: { before: number; limit: number }) =>
    db.deleteFrom('record').where('id', 'in', eb =>
      eb
        .selectFrom('record')
        .select('id')
        .where('deleted', '=', 1)
        .where('seen_at', '<', p.before)
        // That a repository was there keeps records that name it from waiting.
        .where('collection', '!=', 'dev.knotless.repo')
        .limit(p.limit),
    ),
  )
  const oldLookups = bind(sqlite, ['before'], (p: { before: number }) =>
    db.deleteFrom('backfill').where('kind', '=', 'repository').where('state', '=', 'absent').where('next_at', '<', p.before),
  )

  return {
    release(batch, event) {
      for (const did of missed.take(event.repo)) placer.readAgain(batch, did)
      const ids = waiting.for(event.repo, STEP)
      for (const id of ids) {
        waiting.remove(id)
        const row = stored.get({ id })
        const record = row === undefined || row.json === null ? undefined : usable(row, JSON.parse(row.json), row.json)
        if (row !== undefined && record !== undefined && typeof record !== 'string') placer.place(batch, id, row, record)
      }
      if (ids.length === STEP) batch.next.push(event)
    },
    sweep(batch, event) {
      const { did, collection, rev, listed } = event
      const kind = kindOf(collection)
      if (kind === undefined) return
      const prefix = `at://${did}/${collection}`
      const rows = records.range(`${prefix}/${event.from ?? ''}`, `${prefix}0`, STEP)
      for (const { id, uri, rkey, ...row } of rows) {
        if (row.deleted === 1 || row.rev > rev || listed.has(rkey)) continue
        placer.remove(batch, { uri, did, collection, rkey, rev }, kind, { id, rev: row.rev, cid: null, deleted: 0 })
      }
      const last = rows.at(-1)
      if (rows.length === STEP && last !== undefined) batch.next.push({ ...event, from: last.rkey })
    },
    tidy(batch) {
      for (const out of waiting.expire(batch.time)) {
        records.forget(out.record_id)
        missed.note(out)
        refuse(batch, 'waiting-expired')
      }
      oldTombstones.run({ before: batch.time - TOMBSTONE_MS, limit: 5_000 })
      oldLookups.run({ before: batch.time - LOOKUP_MS })
    },
  }
}
