import { LRUCache } from 'lru-cache'

/** How often one address was turned away lately: whoever guesses is told to wait before anything is looked up for them. */
export interface Failures {
  /** Milliseconds that this address has to wait; 0 when it may try. */
  wait(address: string): number
  note(address: string): void
}

const WINDOW_MS = 60_000
const ADDRESSES = 10_000

/** `most` failures a minute and address. `now` in milliseconds since 1970. */
export function createFailures(ctx: { now: () => number; most: number }): Failures {
  const counted = new LRUCache<string, { since: number; count: number }>({ max: ADDRESSES })

  function of(address: string): { since: number; count: number } {
    const known = counted.get(address)
    return known !== undefined && ctx.now() - known.since < WINDOW_MS ? known : { since: ctx.now(), count: 0 }
  }

  return {
    wait(address) {
      const { since, count } = of(address)
      return count < ctx.most ? 0 : since + WINDOW_MS - ctx.now()
    },
    note(address) {
      const { since, count } = of(address)
      counted.set(address, { since, count: count + 1 })
    },
  }
}
