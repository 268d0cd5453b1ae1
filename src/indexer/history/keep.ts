/** Keeps what batches' checks say, so that figures and estimates outlive their pruning (REA-4). */
import { DAY } from '../../queue/stats/figures.ts'
import { endingOf, keptOf } from '../../queue/stats/kept.ts'
import type { IndexDatabase } from '../database.ts'
import type { Batch } from '../ingest/batch.ts'
import type { KeepEvent } from '../ingest/events.ts'
import { readCheck, recordColumns } from '../read/stored.ts'
import type { PastBatchTable, PastRunTable } from '../schema.ts'
import { bind } from '../sync-queries.ts'
import { batchRow, type Place, runOf, runRow } from './rows.ts'

export interface Keeper {
  /**
   * Keeps these rows of `record`: checks of batches that ended, by runners that their repository names (STA-7). Gives the repositories that they are of.
   * `now` in milliseconds.
   */
  keep(ids: Iterable<number>, now: number): ReadonlySet<string>
  /** Whether the index holds any check of a batch, of this repository or of any. */
  holds(repo?: string): boolean
  /** Keeps what the index holds already, a bounded number of rows at a time; what is kept is passed over. */
  keepHeld(batch: Batch, event: KeepEvent): void
  /** Forgets what is too old, a bounded number of batches at a time. */
  forget(now: number): void
}

/** As far back as any answer goes. */
const KEPT_FOR = 400 * DAY
/** Of one repository; past that its oldest go. */
const MOST_BATCHES = 50_000
const MOST_RUNS_OF_BATCH = 2_000
const STEP = 300
const MOST_OF_REPOSITORY = 1_000
const FORGET_AT_ONCE = 500

/** Over an index; what it writes is of the transaction that it is called in. */
export function createKeeper({ db, sqlite }: IndexDatabase): Keeper {
  const recordOf = bind(sqlite, ['id'], (p: { id: number }) =>
    db
      .selectFrom('record')
      .innerJoin('check_run', 'check_run.record_id', 'record.id')
      .select([...recordColumns, 'check_run.repo'])
      .where('record.id', '=', p.id),
  )
  const named = bind(sqlite, ['repo', 'did'], (p: { repo: string; did: string }) =>
    db.selectFrom('member').select('did').where('repo', '=', p.repo).where('did', '=', p.did).where('role', '=', 'runner'),
  )
  const batchAt = bind(sqlite, ['repo', 'tip', 'base', 'branch', 'did'], (p: Place) =>
    db
      .selectFrom('past_batch')
      .select(['id', 'checks'])
      .where('repo', '=', p.repo)
      .where('tip', '=', p.tip)
      .where('base', '=', p.base)
      .where('branch', '=', p.branch)
      .where('did', '=', p.did),
  )
  const insertBatch = bind(
    sqlite,
    ['repo', 'branch', 'generation', 'did', 'tip', 'base', 'members', 'size', 'checks'],
    (p: Omit<PastBatchTable, 'id' | 'outcome' | 'started_at' | 'ended_at' | 'longest_ms'>) => db.insertInto('past_batch').values(p),
  )
  const setEnding = bind(
    sqlite,
    ['id', 'checks', 'outcome', 'started_at', 'ended_at', 'longest_ms'],
    ({ id, ...ending }: Ended & { id: number }) => db.updateTable('past_batch').set(ending).where('id', '=', id),
  )
  const putRun = bind(
    sqlite,
    ['uri', 'batch', 'workflow', 'state', 'verdict', 'filed_at', 'started_at', 'ended_at', 'cause', 'retried'],
    (p: PastRunTable) => db.insertInto('past_run').orReplace().values(p),
  )
  const runsOf = bind(sqlite, ['batch', 'limit'], (p: { batch: number; limit: number }) =>
    db.selectFrom('past_run').selectAll().where('batch', '=', p.batch).limit(p.limit),
  )
  const going = bind(sqlite, ['repo', 'tip', 'base', 'did'], (p: Omit<Place, 'branch'>) =>
    db
      .selectFrom('check_run')
      .select('record_id')
      .where('repo', '=', p.repo)
      .where('commit_id', '=', p.tip)
      .where('base_commit', '=', p.base)
      .where('did', '=', p.did)
      .where('is_batch', '=', 1)
      .where('status', 'in', ['queued', 'running']),
  )
  const checks = db
    .selectFrom('check_run')
    .innerJoin('record', 'record.id', 'check_run.record_id')
    .leftJoin('past_run', 'past_run.uri', 'record.uri')
    .select(['check_run.record_id as id', 'past_run.uri as kept'])
  const held = bind(sqlite, ['after', 'limit'], (p: { after: number; limit: number }) =>
    checks.where('check_run.record_id', '>', p.after).orderBy('check_run.record_id').limit(p.limit),
  )
  const heldOf = bind(sqlite, ['repo', 'limit'], (p: { repo: string; limit: number }) =>
    checks.where('check_run.repo', '=', p.repo).where('check_run.is_batch', '=', 1).orderBy('check_run.filed_at', 'desc').limit(p.limit),
  )
  const counted = bind(sqlite, ['repo'], (p: { repo: string }) =>
    db
      .selectFrom('past_batch')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .where('repo', '=', p.repo),
  )
  const oldest = bind(sqlite, ['repo', 'limit'], (p: { repo: string; limit: number }) =>
    db.selectFrom('past_batch').select('id').where('repo', '=', p.repo).orderBy('id').limit(p.limit),
  )
  const tooOld = bind(sqlite, ['before', 'limit'], (p: { before: number; limit: number }) =>
    db.selectFrom('past_batch').select('id').where('ended_at', '<', p.before).limit(p.limit),
  )
  const removeRuns = bind(sqlite, ['batch'], (p: { batch: number }) => db.deleteFrom('past_run').where('batch', '=', p.batch))
  const removeBatch = bind(sqlite, ['id'], (p: { id: number }) => db.deleteFrom('past_batch').where('id', '=', p.id))
  const any = sqlite.prepare('select 1 from check_run where is_batch = 1 limit 1')
  const anyOf = sqlite.prepare<[string]>('select 1 from check_run where repo = ? and is_batch = 1 limit 1')
  const counts = new Map<string, number>()

  function remove(ids: readonly { id: number }[]): void {
    for (const { id } of ids) {
      removeRuns.run({ batch: id })
      removeBatch.run({ id })
    }
  }

  function makeRoom(repo: string): void {
    const count = (counts.get(repo) ?? counted.get({ repo })?.n ?? 0) + 1
    const out = count > MOST_BATCHES ? oldest.all({ repo, limit: FORGET_AT_ONCE }) : []
    remove(out)
    if (counts.size > 1_000) counts.clear()
    counts.set(repo, count - out.length)
  }

  function keepOne(id: number, now: number): { place: Place; batch: number; of: number } | undefined {
    const row = recordOf.get({ id })
    const check = row === undefined ? undefined : readCheck(row)
    const kept = check === undefined ? undefined : keptOf(check, now)
    if (row === undefined || kept === undefined || kept.run.endedAt < now - KEPT_FOR) return undefined
    const { repo, did } = row
    if (named.get({ repo, did }) === undefined) return undefined
    const { batch, run } = kept
    const place = { repo, did, tip: batch.tip, base: batch.base, branch: batch.branch }
    const known = batchAt.get(place)
    if (known === undefined) makeRoom(repo)
    const at = known?.id ?? Number(insertBatch.run(batchRow(place, batch)).lastInsertRowid)
    putRun.run(runRow(at, run))
    return { place, batch: at, of: Math.max(batch.of, known?.checks ?? 0) }
  }

  return {
    keep(ids, now) {
      const touched = new Map<number, { place: Place; of: number }>()
      for (const id of ids) {
        const kept = keepOne(id, now)
        if (kept !== undefined) touched.set(kept.batch, kept)
      }
      for (const [id, { place, of }] of touched) {
        const runs = runsOf.all({ batch: id, limit: MOST_RUNS_OF_BATCH }).map(runOf)
        const { repo, tip, base, did } = place
        const ending = endingOf(runs, { of, going: going.get({ repo, tip, base, did }) !== undefined })
        setEnding.run({
          id,
          checks: of,
          outcome: ending?.outcome ?? null,
          started_at: ending?.startedAt ?? null,
          ended_at: ending?.endedAt ?? null,
          longest_ms: ending?.longestMs ?? null,
        })
      }
      return new Set([...touched.values()].map(({ place }) => place.repo))
    },
    keepHeld(batch, { repo, after = 0 }) {
      const rows = repo === undefined ? held.all({ after, limit: STEP }) : heldOf.all({ repo, limit: MOST_OF_REPOSITORY })
      for (const { id, kept } of rows) if (kept === null) batch.ended.add(id)
      const last = rows.at(-1)
      if (repo === undefined && rows.length === STEP && last !== undefined) batch.next.push({ kind: 'keep', after: last.id })
    },
    holds: repo => (repo === undefined ? any.get() : anyOf.get(repo)) !== undefined,
    forget: now => remove(tooOld.all({ before: now - KEPT_FOR, limit: FORGET_AT_ONCE })),
  }
}

type Ended = Pick<PastBatchTable, 'checks' | 'outcome' | 'started_at' | 'ended_at' | 'longest_ms'>
