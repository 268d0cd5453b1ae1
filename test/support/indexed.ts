import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity, type Identity } from '../../src/atproto/identity.ts'
import { createReader, type Reader } from '../../src/atproto/reader.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import type { Network } from '../../src/devnet/network.ts'
import { createMirrors } from '../../src/git/mirror.ts'
import { type IndexDatabase, migrate, openDatabase } from '../../src/indexer/database.ts'
import { createIndexer, type Indexer, type IndexerOptions } from '../../src/indexer/indexer.ts'
import { ignoredCounts } from '../../src/indexer/read.ts'
import { until } from './until.ts'

/** An index that follows a local network. */
export interface Indexed {
  readonly dir: string
  readonly index: IndexDatabase
  readonly indexer: Indexer
  readonly reader: Reader
  readonly identity: Identity
  /** What failed inside; a test that expects nothing of the kind looks here. */
  readonly failures: unknown[]
  /** Waits until everything that was written on the network is in the index and nothing is left to be done. */
  caughtUp(): Promise<void>
  /** Stops it; `keep` leaves the files for another one on the same folder. */
  close(options?: { keep?: boolean }): Promise<void>
}

export type IndexedOptions = Partial<Omit<IndexerOptions, 'index' | 'identity' | 'reader' | 'mirrors' | 'failed'>> & {
  dir?: string
  /** Whether the network's relay is used for first contact; it is unless this says no. */
  withRelay?: boolean
  /** Do not start it. */
  idle?: boolean
}

/** Where a local network answers: what a program in another process knows of it. */
export type Addresses = Pick<Network, 'plcUrl' | 'pdsUrl' | 'jetstreamUrl' | 'relayUrl'>

/** Opens an index in a temporary folder (or `dir`) and lets it follow the network. Whoever asks closes it, whatever happens: `t.after(one.close)`. */
export async function startIndexed(network: Network | Addresses, options: IndexedOptions = {}): Promise<Indexed> {
  const { dir = mkdtempSync(join(tmpdir(), 'knotless-index-')), withRelay = true, idle = false, ...rest } = options
  const now = options.now ?? Date.now
  const fetch = createGuardedFetch({ allowLoopback: true })
  const identity = createIdentity({ plcUrl: network.plcUrl, handleResolver: network.pdsUrl, fetch, now })
  const reader = createReader({ identity, fetch, now })
  const index = openDatabase(join(dir, 'index.sqlite'))
  await migrate(index.db)
  const failures: unknown[] = []
  const indexer = createIndexer({
    index,
    identity,
    reader,
    mirrors: createMirrors(join(dir, 'mirrors')),
    jetstream: network.jetstreamUrl,
    now,
    failed: error => void failures.push(error),
    ...(withRelay ? { relay: network.relayUrl } : {}),
    ...rest,
  })
  if (!idle) indexer.start()
  let closed = false
  return {
    dir,
    index,
    indexer,
    reader,
    identity,
    failures,
    async caughtUp() {
      if (!('createAccount' in network)) throw new Error('what was written can only be waited for beside the network')
      await seen(network, index)
      await indexer.settled()
    },
    async close({ keep = false } = {}) {
      if (closed) return
      closed = true
      await indexer.stop()
      fetch.close()
      await index.close()
      if (!keep) rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/**
 * Waits until the index has read the stream up to now: a record of a collection that nobody knows is written, and when it was passed over, all
 * that was written before it had its turn. A stream that was opened again brings older ones of these anew, which do not count.
 */
async function seen(network: Network, index: IndexDatabase): Promise<void> {
  const account = await markerAccount(network)
  await network.settled()
  const since = Date.now() * 1_000
  const before = ignoredCounts(index).get('unknown-collection') ?? 0
  await account.create('dev.knotless.marker', { at: new Date().toISOString() })
  const cursor = index.db.selectFrom('cursor').select('time_us').orderBy('time_us', 'desc')
  const passed = () => (index.sync.first(cursor)?.time_us ?? 0) >= since && (ignoredCounts(index).get('unknown-collection') ?? 0) > before
  await until(passed, { timeout: 30_000, what: 'the index to read the stream up to its end' })
}

async function markerAccount(network: Network): Promise<DevAccount> {
  return network.account('marker.test') ?? (await network.createAccount('marker.test'))
}
