import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** An answer as it was made, with the version of the repository that it is of. Without one it is only good for its time. */
export interface Made<B> {
  body: B
  of?: { repo: string; version: number } | undefined
}

/** An answer as it is sent. */
export interface Encoded<B> {
  body: B
  bytes: Buffer
  etag: string
}

/** The answers of one method. */
export interface AnswerCache<B> {
  /** The answer under a key: one made less than a moment ago, if the repository is at the same version still; else a new one. */
  get(key: string, make: () => Made<B> | Promise<Made<B>>): Promise<Encoded<B>>
}

export interface CacheContext {
  /** A repository's present version. */
  versionOf: (repo: string) => number
  count: (result: 'hit' | 'miss') => void
}

/** How long an answer is good, in milliseconds: it says times in words. */
const GOOD_FOR = 1_000
const ENTRIES = 1_000
const BYTES = 8 * 2 ** 20

/** Encoded answers, bounded in number and bytes. */
export function createAnswerCache<B extends object>(ctx: CacheContext): AnswerCache<B> {
  type Entry = Encoded<B> & Pick<Made<B>, 'of'>
  const kept = new LRUCache<string, Entry>({ max: ENTRIES, maxSize: BYTES, ttl: GOOD_FOR })

  function fresh(key: string): Entry | undefined {
    const entry = kept.get(key)
    return entry?.of === undefined || ctx.versionOf(entry.of.repo) === entry.of.version ? entry : undefined
  }

  return {
    async get(key, make) {
      const known = fresh(key)
      ctx.count(known === undefined ? 'miss' : 'hit')
      if (known !== undefined) return known
      const { body, of } = await make()
      const bytes = Buffer.from(JSON.stringify(body))
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
      const entry = { body, bytes, etag, of }
      kept.set(key, entry, { size: bytes.length + key.length })
      return entry
    },
  }
}
