import { LRUCache } from 'lru-cache'

/** Pages as they were rendered, by what was asked and the version they are of. */
export interface PageCache {
  /** The page kept under `key` if it is of this version and fresh, else the one that `make` gives, which is kept. */
  get(key: string, version: number, make: () => string): string
}

/** A page says how long ago things were, so that it is kept this long at most, in milliseconds. */
const FRESH_MS = 1_000
const MOST_CHARS = 16_000_000

export function createPageCache(now: () => number): PageCache {
  const kept = new LRUCache<string, { version: number; at: number; html: string }>({
    maxSize: MOST_CHARS,
    sizeCalculation: (page, key) => page.html.length + key.length,
  })
  return {
    get(key, version, make) {
      const known = kept.get(key)
      const time = now()
      if (known !== undefined && known.version === version && time - known.at < FRESH_MS && time >= known.at) return known.html
      const html = make()
      kept.set(key, { version, at: time, html })
      return html
    },
  }
}
