import { type AtUri, type Did, parseDid } from '../../atproto/ids.ts'
import type { RecordEvent } from '../../indexer/ingest/events.ts'

/** What rings, and how: by the repository that its record names, or only when its account is one that matters (NOT-2). */
const named: ReadonlySet<string> = new Set(['dev.knotless.queue', 'dev.knotless.pull', 'dev.knotless.state'])
const concerned: ReadonlySet<string> = new Set(['dev.knotless.refs', 'dev.knotless.repo', 'dev.knotless.rerun'])

export interface Bell {
  repo: AtUri
  /** Rung by an account that nothing is known of: anybody may write a record that names a repository. */
  strange: boolean
}

export interface Watched {
  /** The repository that is watched at an address; undefined for one that is not. */
  at(address: string): AtUri | undefined
  /** Repositories for which an account matters. */
  by(did: Did): ReadonlySet<AtUri>
}

/**
 * The repositories that a frame rings. It is unsigned, and so is what it says: nothing of it is believed but that something may have happened. A
 * deletion carries no record: it rings by its account.
 */
export function bellsOf(event: RecordEvent, watched: Watched): Bell[] {
  const did = parseDid(event.did)
  if (did === undefined || !(named.has(event.collection) || concerned.has(event.collection))) return []
  const own = watched.by(did)
  const repo = repoOf(event)
  const known = repo === undefined ? undefined : watched.at(repo)
  if (known === undefined) {
    // Of what names another repository only git states and repositories concern this one: forks that hold heads, a move.
    const byAccount = repo === undefined || event.collection === 'dev.knotless.refs' || event.collection === 'dev.knotless.repo'
    return byAccount ? [...own].map(ring => ({ repo: ring, strange: false })) : []
  }
  const strange = !own.has(known)
  return strange && concerned.has(event.collection) ? [] : [{ repo: known, strange }]
}

/** The repository that a record is about: a git state and a repository lie at its name. */
function repoOf({ did, collection, rkey, record }: RecordEvent): string | undefined {
  if (collection === 'dev.knotless.refs' || collection === 'dev.knotless.repo') return `at://${did}/dev.knotless.repo/${rkey}`
  if (typeof record !== 'object' || record === null || !('repo' in record)) return undefined
  return typeof record.repo === 'string' ? record.repo : undefined
}
