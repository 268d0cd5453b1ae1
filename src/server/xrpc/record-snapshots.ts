import { LRUCache } from 'lru-cache'
import type { IndexDatabase } from '../../indexer/database.ts'
import { loadFacts, openIssuesOf, recordAt, versionOf } from '../../indexer/read.ts'
import type { RepositoryFacts, Stored } from '../../queue/facts.ts'

/** What the index has about a repository at one version, as it is sent. */
export interface Snapshot {
  version: string
  /** Each record as JSON, as `dev.knotless.getQueueRecords#indexed`. */
  records: readonly string[]
  /** Accounts that are gone, by DID. */
  gone: readonly string[]
  /** Issues that are open, the newest first (LND-6). */
  issues: readonly string[]
}

export interface RecordSnapshots {
  /** The version of what is known about a repository now; undefined when it is not known here. */
  versionOf(repo: string): string | undefined
  /** What is known now: as it was made before where nothing has changed since. Undefined when the repository is not known here. */
  of(repo: string): Snapshot | undefined
}

/** Characters kept of all snapshots together, and of one. */
const KEPT = 64 * 2 ** 20
const KEPT_OF_ONE = 16 * 2 ** 20
const MOST_ISSUES = 5_000

/**
 * A version is made of the index's own and of when the repository was first seen, so that one of an index that was since built anew is never
 * taken for one of this.
 */
export function createRecordSnapshots(index: IndexDatabase): RecordSnapshots {
  const kept = new LRUCache<string, Snapshot>({ max: 500, maxSize: KEPT, maxEntrySize: KEPT_OF_ONE })

  function versionNow(repo: string): string | undefined {
    const record = recordAt(index, repo)
    return record === undefined ? undefined : `${versionOf(index, repo)}-${record.seenAt.toString(36)}`
  }

  return {
    versionOf: versionNow,
    of(repo) {
      const known = kept.get(repo)
      const version = versionNow(repo)
      if (known !== undefined && known.version === version) return known
      const loaded = version === undefined ? undefined : loadFacts(index, repo)
      if (loaded === undefined || version === undefined) {
        kept.delete(repo)
        return undefined
      }
      // Nothing comes between the two reads: both are made in this step.
      const { facts } = loaded
      const snapshot = { version, records: recordsOf(facts).map(asIndexed), gone: [...facts.gone], issues: issuesOf(index, facts) }
      kept.set(repo, snapshot, { size: [...snapshot.records, ...snapshot.issues].reduce((all, text) => all + text.length, 1) })
      return snapshot
    },
  }
}

/** Those that a runner folds; git states and checks it reads where they lie. */
function recordsOf(facts: RepositoryFacts): Stored<object>[] {
  const { repo, transferredFrom, transferredTo, pulls, queue, states, landers } = facts
  return [repo, transferredFrom, transferredTo, ...pulls, ...queue, ...states, ...landers].filter(record => record !== undefined)
}

/** Of all its addresses (HON-4), as those say that it names (HON-6). */
function issuesOf(index: IndexDatabase, { repo, transferredFrom, transferredTo }: RepositoryFacts): string[] {
  const { collaborators, runners } = (transferredTo ?? repo).value
  const records = [repo, transferredFrom, transferredTo].filter(record => record !== undefined)
  const members = [...records.map(record => record.did), ...[...collaborators, ...runners].map(named => named.did)]
  return records.flatMap(record => openIssuesOf(index, record.uri, members)).slice(0, MOST_ISSUES)
}

function asIndexed({ uri, cid, seenAt, backfilled, value }: Stored<object>): string {
  return JSON.stringify({ uri, cid, seenAt: new Date(seenAt).toISOString(), backfilled, value })
}
