/** Indexes without a network: events in, rows out. */
import { createHash } from 'node:crypto'
import { type IndexDatabase, migrate, openDatabase } from '../../src/indexer/database.ts'
import type { IngestEvent, RecordEvent } from '../../src/indexer/ingest/events.ts'
import { createIngest, type Ingest, type IngestOptions } from '../../src/indexer/ingest/queue.ts'
import { ignoredCounts } from '../../src/indexer/read.ts'
import type { RepositoryFacts, Stored } from '../../src/queue/facts.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { alice, bob, carol, type Did, iso, MINUTE, rigby, START } from '../queue/made-up.ts'

export interface Bench {
  readonly index: IndexDatabase
  readonly ingest: Ingest
  readonly failures: unknown[]
  /** Takes events in and waits until they are written. */
  take(...events: IngestEvent[]): Promise<void>
  ignored(): Record<string, number>
  close(): Promise<void>
}

export interface BenchOptions extends Partial<Omit<IngestOptions, 'index' | 'failed'>> {
  path?: string
}

let template: Promise<Buffer> | undefined

/** A new database's file, made once. */
async function makeTemplate(): Promise<Buffer> {
  const index = openDatabase(':memory:')
  await migrate(index.db)
  const file = index.sqlite.serialize()
  await index.close()
  return file
}

/** An index in memory (or in the file at `path`), with its tables. */
export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const { path, ...rest } = options
  template ??= makeTemplate()
  const index = openDatabase(path ?? (await template))
  if (path !== undefined) await migrate(index.db)
  const failures: unknown[] = []
  const ingest = createIngest({
    index,
    now: () => START + 60 * MINUTE,
    service: 'test',
    failed: error => void failures.push(error),
    ...rest,
  })
  return {
    index,
    ingest,
    failures,
    async take(...events) {
      await ingest.submit(events)
      await ingest.idle()
    },
    ignored: () => Object.fromEntries(ignoredCounts(index)),
    async close() {
      await ingest.stop()
      await index.close()
    },
  }
}

/** The revision of the n-th commit of an account. */
export function rev(n: number): string {
  return tidAt(START + n * 1_000)
}

/** What a record of these fields is called by its content. */
export function cidOf(value: unknown): string {
  return `bafyrei${createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 52)}`
}

/** A create as it comes from the stream: `kind` is the collection's last word. */
export function put(
  by: Did,
  kind: string,
  rkey: string,
  record: Record<string, unknown>,
  n: number,
  more: Partial<RecordEvent> = {},
): RecordEvent {
  const collection = `dev.knotless.${kind}`
  const value = { $type: collection, ...record }
  return {
    kind: 'record',
    source: 'live',
    did: by,
    collection,
    rkey,
    rev: rev(n),
    operation: 'create',
    cid: cidOf(value),
    record: value,
    timeUs: (START + n * 1_000) * 1_000,
    ...more,
  }
}

export function removal(by: Did, kind: string, rkey: string, n: number): RecordEvent {
  const at = { did: by, collection: `dev.knotless.${kind}`, rkey }
  return { kind: 'record', source: 'live', ...at, rev: rev(n), operation: 'delete', timeUs: (START + n * 1_000) * 1_000 }
}

export const orchard = `at://${alice}/dev.knotless.repo/orchard`

/** A key, and the address of a record of that kind under it. */
export const key = (n: number, clockId = 0) => tidAt(START + n * MINUTE, clockId)
export const uriOf = (by: Did, kind: string, rkey: string) => `at://${by}/dev.knotless.${kind}/${rkey}`
export const made = (n = 0) => iso(START + n * MINUTE)

export function repoRecord(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { defaultBranch: 'main', collaborators: [{ did: bob }, { did: carol }], runners: [{ did: rigby }], createdAt: made(), ...more }
}

export function pullRecord(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { repo: orchard, branch: 'main', head: { repo: orchard, branch: 'topic' }, title: 'Ripen', createdAt: made(1), ...more }
}

export function queueRecord(subject: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { repo: orchard, subject, state: 'queued', createdAt: made(2), ...more }
}

export function stateRecord(subject: string, state: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { repo: orchard, subject, state, createdAt: made(2), ...more }
}

export function refsRecord(repo: string, branches: Record<string, string>, more: Record<string, unknown> = {}): Record<string, unknown> {
  const refs = Object.entries(branches).map(([name, commit]) => ({ name: `refs/heads/${name}`, commit, generation: 1 }))
  return { repo, refs, packs: [], updatedAt: made(), ...more }
}

/** Everything that the index holds of records, without what only the order of arrival decides: row numbers, times of arrival, versions. */
export function contentOf({ sync, db }: IndexDatabase): unknown {
  const records = sync.all(db.selectFrom('record').select(['id', 'uri', 'cid', 'rev', 'json', 'deleted']).orderBy('uri'))
  const uris = new Map(records.map(row => [row.id, row.uri]))
  const tables = ['repo', 'refs', 'pull', 'queue_record', 'state', 'issue', 'check_run', 'lander', 'rerun', 'decision'] as const
  const typed = tables.map(table => {
    const rows = sync.all(db.selectFrom(table).selectAll())
    return [table, rows.map(({ record_id, ...row }) => ({ at: uris.get(record_id), ...row })).sort(byAddress)]
  })
  const waiting = sync.all(db.selectFrom('waiting').select(['record_id', 'repo'])).map(row => `${uris.get(row.record_id)} for ${row.repo}`)
  const members = sync.all(db.selectFrom('member').selectAll().orderBy('repo').orderBy('did').orderBy('role'))
  return { records: records.map(({ id: _id, ...row }) => row), typed: Object.fromEntries(typed), waiting: waiting.sort(), members }
}

function byAddress(a: { at: string | undefined }, b: { at: string | undefined }): number {
  return (a.at ?? '') < (b.at ?? '') ? -1 : 1
}

/** Facts as events: one revision each, in the order of their keys. */
export function eventsOf(facts: RepositoryFacts): RecordEvent[] {
  const records: Stored<object>[] = [
    ...[facts.repo, facts.transferredFrom, facts.transferredTo].filter(record => record !== undefined),
    ...facts.refs.values(),
    ...facts.pulls,
    ...facts.states,
    ...facts.queue,
    ...facts.checks,
    ...facts.landers,
    ...(facts.decisions ?? []),
  ]
  return records.map((record, n) => {
    const collection = record.uri.split('/')[3] ?? ''
    const { did, rkey, value } = record
    return { kind: 'record', source: 'live', did, collection, rkey, rev: rev(n), operation: 'create', cid: cidOf(value), record: value }
  })
}
