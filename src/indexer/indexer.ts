import type { Identity } from '../atproto/identity.ts'
import type { Reader } from '../atproto/reader.ts'
import type { Mirrors } from '../git/mirror.ts'
import type { SyncLimits } from '../git/sync.ts'
import { type BudgetOptions, createBudget, usualBudget } from './backfill/budget.ts'
import { type BackfillBounds, type BackfillContext, usualBounds } from './backfill/context.ts'
import { createJobs } from './backfill/jobs.ts'
import { type BackfillWorker, startBackfill } from './backfill/worker.ts'
import type { IndexDatabase } from './database.ts'
import { asJson } from './ingest/as-json.ts'
import type { ChangeListener } from './ingest/bus.ts'
import { createIngest } from './ingest/queue.ts'
import type { WaitingBounds } from './ingest/waiting-rows.ts'
import { followJetstream, type Stream, type StreamStatus, type StreamTiming } from './jetstream.ts'
import { ensureMirror } from './mirrors/ensure.ts'
import { type MirrorWorker, startMirrors } from './mirrors/worker.ts'
import { startUpkeep } from './upkeep.ts'

export interface IndexerOptions {
  /** Open, with its tables up to date. It is not closed here. */
  index: IndexDatabase
  identity: Pick<Identity, 'resolveDid' | 'forget'>
  reader: Pick<Reader, 'getBlob'> & BackfillContext['reader']
  mirrors: Mirrors
  /** Jetstream's address, `ws://…/subscribe`. */
  jetstream: string
  /** The relay's address, for first contact. */
  relay?: string | undefined
  /** Milliseconds since 1970. */
  now: () => number
  /** Something of ours failed: for the log. Never fatal. */
  failed: (error: unknown) => void
  /** What is not as usual; for tests and for large servers. */
  stream?: Partial<StreamTiming>
  queue?: { events: number; bytes: number }
  waiting?: WaitingBounds
  backfill?: Partial<BackfillBounds> & { budget?: BudgetOptions }
  git?: SyncLimits
}

/** A record that this server has just written, as the account's server answered. */
export interface OwnWrite {
  did: string
  collection: string
  rkey: string
  /** Absent for a deletion. */
  cid?: string | undefined
  /** Of the commit that holds the write. */
  rev: string
  /** In atproto's data model or as JSON; absent for a deletion. */
  record?: unknown
}

export interface IndexerStatus extends StreamStatus {
  queued: number
  backfill: { pending: number; running: number }
  mirrors: { running: number; waiting: number }
}

export interface Indexer {
  /** Starts to follow the stream, to backfill and to mirror. */
  start(): void
  stop(): Promise<void>
  status(): IndexerStatus
  /** How far the index is behind the network, in milliseconds. */
  behindMs(): number
  /** Indexes a write of this server's at once; its echo from the stream changes nothing. Settles when it can be read. */
  indexOwnWrite(write: OwnWrite): Promise<void>
  /** Tells of each repository whose answers may have changed, once per batch. Gives the function that ends it. */
  onChanged(listener: ChangeListener): () => void
  /** What answers say of an account's repositories has changed, though no record has: their versions go up, and it is told. */
  touch(owner: string): Promise<void>
  /** Settles when everything received is written, what is due of backfill is read and the mirrors are at rest. */
  settled(): Promise<void>
  /** Brings the mirror of a repository to a refs record that was just read from its account. */
  ensureMirror(repo: string, record: unknown, signal?: AbortSignal): ReturnType<typeof ensureMirror>
  /** Asks whether the commit of a pull that landed long ago is on its branch; a change is announced when it is known. */
  lookAt(pull: string, repo: string): void
}

/** All of the index together: the stream, what was before it, and git, into one database. */
export function createIndexer(options: IndexerOptions): Indexer {
  const { index, now, failed, mirrors, reader, identity } = options
  const ingest = createIngest({
    index,
    now,
    failed,
    service: new URL(options.jetstream).host,
    ...(options.queue === undefined ? {} : { bounds: options.queue }),
    ...(options.waiting === undefined ? {} : { waiting: options.waiting }),
  })
  const { budget = usualBudget, ...bounds } = options.backfill ?? {}
  const jobs = createJobs(index)
  const mirroring = { index, mirrors, reader, ingest, now, limits: options.git }
  let parts: { stream: Stream; backfill: BackfillWorker; git: MirrorWorker; upkeep: () => void } | undefined

  ingest.onOutcome(outcome => {
    if (outcome.wanted) parts?.backfill.kick()
    for (const did of outcome.identities) parts?.backfill.identity(did)
  })
  ingest.onChanged(change => parts?.git.changed(change))

  return {
    start() {
      if (parts !== undefined) return
      const context = {
        ingest,
        identity,
        reader,
        budget: createBudget(budget),
        jobs,
        relay: options.relay,
        now,
        bounds: { ...usualBounds, ...bounds },
      }
      const backfill = startBackfill(context, failed)
      const git = startMirrors(mirroring, failed)
      const onGap = () => backfill.gap()
      const stream = followJetstream({
        endpoint: options.jetstream,
        ingest,
        now,
        onGap,
        ...(options.stream === undefined ? {} : { timing: options.stream }),
      })
      parts = { stream, backfill, git, upkeep: startUpkeep({ index, ingest, backfill, git, failed }) }
    },
    async stop() {
      const running = parts
      parts = undefined
      running?.upkeep()
      await Promise.all([running?.stream.stop(), running?.backfill.stop(), running?.git.stop()])
      await ingest.stop()
    },
    behindMs: () => parts?.stream.status().behindMs ?? 0,
    status() {
      const stream = parts?.stream.status() ?? { connected: false, connectedBefore: false, behindMs: 0, connections: 0, garbage: 0 }
      return {
        ...stream,
        queued: ingest.size(),
        backfill: parts?.backfill.status() ?? { pending: jobs.pending(), running: 0 },
        mirrors: parts?.git.status() ?? { running: 0, waiting: 0 },
      }
    },
    indexOwnWrite({ did, collection, rkey, cid, rev, record }) {
      const what =
        record === undefined ? ({ operation: 'delete' } as const) : ({ operation: 'update', cid, record: asJson(record) } as const)
      return ingest.now({ kind: 'record', source: 'own', did, collection, rkey, rev, ...what })
    },
    onChanged: listener => ingest.onChanged(listener),
    async touch(owner) {
      const owned = index.sync.all(index.db.selectFrom('repo').select('uri').where('did', '=', owner))
      if (owned.length > 0) await ingest.now({ kind: 'touch', repos: owned.map(repo => repo.uri) })
    },
    async settled() {
      // Each may give the others something to do.
      for (let quiet = 0; quiet < 2; ) {
        const before = index.sqlite.prepare<[], { total_changes: number }>('select total_changes() as total_changes').get()?.total_changes
        await ingest.idle()
        await parts?.backfill.idle()
        await parts?.git.idle()
        await ingest.idle()
        const after = index.sqlite.prepare<[], { total_changes: number }>('select total_changes() as total_changes').get()?.total_changes
        quiet = before === after ? quiet + 1 : 0
      }
    },
    ensureMirror: (repo, record, signal) => ensureMirror(mirroring, repo, record, signal),
    lookAt: (pull, repo) => parts?.git.lookAt(pull, repo),
  }
}
