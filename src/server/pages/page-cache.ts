import { LRUCache } from 'lru-cache'

/** What a page is of: a repository at a version. One that is of none is only of its time. */
export interface PageOf {
  repo: string
  version: number
}

/** Pages as they were rendered for those who bring no cookie, by their address. */
export interface PageCache {
  /** The page kept for an address, if it was made less than a moment ago and what it is of has not changed since. */
  take(url: string): Buffer | undefined
  keep(url: string, html: string, of: readonly PageOf[]): Buffer
  /** Drops the pages that are of a repository. */
  forget(repo: string): void
}

/** A page says how long ago things were, so that it is good this long at most, in milliseconds. */
const GOOD_FOR = 1_000
const MOST_BYTES = 8 * 2 ** 20
const MOST_PAGES = 500

export function createPageCache(versionOf: (repo: string) => number): PageCache {
  const kept = new LRUCache<string, { bytes: Buffer; of: readonly PageOf[] }>({
    max: MOST_PAGES,
    maxSize: MOST_BYTES,
    ttl: GOOD_FOR,
    sizeCalculation: (page, url) => page.bytes.length + url.length,
  })
  const versions = new Map<string, number>()
  /** When a thousand ask at once, one look is for all whose requests came in one turn. */
  function versionNow(repo: string): number {
    const known = versions.get(repo)
    if (known !== undefined) return known
    if (versions.size === 0) setImmediate(() => versions.clear())
    const version = versionOf(repo)
    versions.set(repo, version)
    return version
  }
  return {
    take(url) {
      const page = kept.get(url)
      return page?.of.every(({ repo, version }) => versionNow(repo) === version) ? page.bytes : undefined
    },
    keep(url, html, of) {
      const bytes = Buffer.from(html)
      kept.set(url, { bytes, of })
      return bytes
    },
    forget(repo) {
      versions.delete(repo)
      for (const [url, page] of kept.entries()) if (page.of.some(of => of.repo === repo)) kept.delete(url)
    },
  }
}
