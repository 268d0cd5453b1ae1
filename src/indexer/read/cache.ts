import { LRUCache } from 'lru-cache'
import type { RepositoryFacts } from '../../queue/facts.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { IndexDatabase } from '../database.ts'
import { loadFacts, loadPullFacts, versionOf } from './facts.ts'

export interface VersionedView {
  view: RepositoryView
  version: number
}

/** Folded repositories, each kept until something about it changes or its time comes. */
export interface RepositoryCache {
  /** The repository at this address as it is now; undefined when there is none. */
  viewOf(repo: string): VersionedView | undefined
  /**
   * The repository of a pull, with that pull in it: as `viewOf` where it is there, else folded for that pull alone, since what was closed or
   * merged long ago is not in it. Undefined when the pull or its repository is not known.
   */
  viewOfPull(pull: string): (VersionedView & { alone: boolean }) | undefined
}

export interface CacheOptions {
  index: IndexDatabase
  /** Milliseconds since 1970. */
  now: () => number
  fold: (facts: RepositoryFacts, now: number) => RepositoryView
  /** Repositories kept; default 500. */
  entries?: number
  /** Records kept in all of them together; default 20,000. */
  rows?: number
}

export function createRepositoryCache({ index, now, fold, entries = 500, rows = 20_000 }: CacheOptions): RepositoryCache {
  const kept = new LRUCache<string, VersionedView>({ max: entries, maxSize: rows })

  function viewOf(repo: string): VersionedView | undefined {
    const time = now()
    const known = kept.get(repo)
    if (known !== undefined && known.version === versionOf(index, repo) && time < (known.view.wakesAt ?? Number.POSITIVE_INFINITY))
      return known
    const loaded = loadFacts(index, repo)
    if (loaded === undefined) {
      kept.delete(repo)
      return undefined
    }
    const entry = { view: fold(loaded.facts, time), version: loaded.version }
    kept.set(repo, entry, { size: 1 + loaded.rows })
    return entry
  }

  return {
    viewOf,
    viewOfPull(pull) {
      const row = index.sync.first(index.db.selectFrom('pull').select(['repo']).where('uri', '=', pull))
      const whole = row === undefined ? undefined : viewOf(row.repo)
      if (whole?.view.pulls.has(pull)) return { ...whole, alone: false }
      const loaded = loadPullFacts(index, pull)
      return loaded === undefined ? undefined : { view: fold(loaded.facts, now()), version: loaded.version, alone: true }
    },
  }
}
