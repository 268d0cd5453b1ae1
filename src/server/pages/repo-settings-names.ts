import { LRUCache } from 'lru-cache'

/** Handles of accounts that were just found by them: the index has not heard of whoever is named for the first time. */
export interface FoundNames {
  add(did: string, handle: string): void
  of(did: string): string | undefined
}

const MOST = 2_000
const HOUR = 60 * 60_000

/** In memory, for an hour: by then the index knows. Nothing is looked up for a page, which would wait for servers of others' choosing. */
export function createFoundNames(): FoundNames {
  const kept = new LRUCache<string, string>({ max: MOST, ttl: HOUR })
  return {
    add: (did, handle) => void kept.set(did, handle),
    of: did => kept.get(did),
  }
}
