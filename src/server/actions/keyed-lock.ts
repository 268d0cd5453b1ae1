/** Runs work alone among all work of the same key, in the order in which it was asked for. */
export interface KeyedLock {
  run<T>(key: string, work: () => Promise<T>): Promise<T>
}

/** A lock whose keys cost nothing once nobody waits for them. */
export function createKeyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>()
  return {
    async run(key, work) {
      const before = last.get(key)
      const mine = (async () => {
        if (before !== undefined) await before.catch(() => undefined)
        return await work()
      })()
      last.set(key, mine)
      try {
        return await mine
      } finally {
        if (last.get(key) === mine) last.delete(key)
      }
    },
  }
}
