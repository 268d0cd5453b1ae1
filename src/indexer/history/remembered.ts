import { LRUCache } from 'lru-cache'
import type { IndexDatabase } from '../database.ts'
import { versionOf } from '../read/facts.ts'

/** Gives what `make` reads about a repository, or what it read of the same before. `of`: what is asked, as plain values. */
export type Remembered<T> = (index: IndexDatabase, repo: string, of: readonly (string | number | undefined)[], make: () => T) => T

/** Remembers at most `max` answers of each index, each until something about its repository changes. */
export function createRemembered<T>(max: number): Remembered<T> {
  const all = new WeakMap<IndexDatabase, LRUCache<string, { version: number; value: T }>>()
  return (index, repo, of, make) => {
    const kept = all.get(index) ?? new LRUCache({ max })
    all.set(index, kept)
    const key = JSON.stringify([repo, ...of])
    const version = versionOf(index, repo)
    const known = kept.get(key)
    if (known?.version === version) return known.value
    const value = make()
    kept.set(key, { version, value })
    return value
  }
}
