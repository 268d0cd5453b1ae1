import { LRUCache } from 'lru-cache'

/** How old an answer may be that a caller who wants a fresh one still gets, in milliseconds: so that nobody can make us ask without end. */
const FRESH_MS = 5_000

export interface Remembered<Key, Value> {
  /** The answer, remembered or asked for now. Throws what asking throws. */
  get(key: Key, fresh: boolean): Promise<Value | undefined>
  /** What is remembered, without asking. */
  peek(key: Key): Value | undefined
  forget(key: Key): void
}

/**
 * Remembers answers within bounds and asks once where many ask at the same time. An answer of undefined is remembered for a twentieth of
 * `ttlMs`, a failure not at all.
 */
export function remember<Key extends string, Value>(
  ask: (key: Key) => Promise<Value | undefined>,
  { ttlMs, maxEntries, now }: { ttlMs: number; maxEntries: number; now: () => number },
): Remembered<Key, Value> {
  const known = new LRUCache<Key, { value: Value | undefined; at: number }>({
    max: maxEntries,
    ttl: ttlMs,
    ttlResolution: 0,
    perf: { now },
  })
  const asking = new Map<Key, Promise<Value | undefined>>()

  function askNow(key: Key): Promise<Value | undefined> {
    const answer = ask(key)
      .then(value => {
        // What was forgotten meanwhile stays forgotten: the answer may be from before the change.
        if (asking.get(key) === answer) known.set(key, { value, at: now() }, value === undefined ? { ttl: Math.max(1, ttlMs / 20) } : {})
        return value
      })
      .finally(() => {
        if (asking.get(key) === answer) asking.delete(key)
      })
    asking.set(key, answer)
    return answer
  }

  return {
    get(key, fresh) {
      const hit = known.get(key)
      if (hit !== undefined && (!fresh || now() - hit.at < FRESH_MS)) return Promise.resolve(hit.value)
      return asking.get(key) ?? askNow(key)
    },
    peek: key => known.peek(key)?.value,
    forget(key) {
      known.delete(key)
      asking.delete(key)
    },
  }
}
