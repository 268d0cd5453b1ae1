import { type Asked, type JobClass, jobClasses, type Slots } from '../types.ts'

interface Waiter {
  order: number
  class: JobClass
  start: () => void
}

/**
 * Slots for `jobs` runs at once (AHD-5). What waits is taken by class, highest first, then by the order of asking; a move to another class keeps
 * that order. What has begun is never pushed out. `failed` takes what a `work` rejects with: the slot is free again all the same.
 */
export function createSlots(options: { jobs: number; failed?: (error: unknown) => void }): Slots {
  const waiting = new Set<Waiter>()
  let running = 0
  let asked = 0

  function next(): Waiter | undefined {
    let best: Waiter | undefined
    for (const one of waiting) if (best === undefined || before(one, best)) best = one
    return best
  }

  function fill(): void {
    while (running < options.jobs) {
      const one = next()
      if (one === undefined) return
      waiting.delete(one)
      running++
      one.start()
    }
  }

  async function work(what: () => Promise<void>): Promise<void> {
    try {
      await what()
    } catch (error) {
      options.failed?.(error)
    } finally {
      running--
      fill()
    }
  }

  return {
    get free() {
      return Math.max(0, options.jobs - running)
    },
    get waiting() {
      return waiting.size
    },
    ask({ class: of, signal, work: what }): Asked {
      const { promise: ended, resolve } = Promise.withResolvers<void>()
      const withdraw = () => {
        if (waiting.delete(one)) resolve()
      }
      const one: Waiter = {
        order: asked++,
        class: of,
        start() {
          signal.removeEventListener('abort', withdraw)
          void work(what).then(resolve)
        },
      }
      if (signal.aborted) {
        resolve()
        return { move() {}, ended }
      }
      signal.addEventListener('abort', withdraw, { once: true })
      waiting.add(one)
      // Not at once: of all that is asked in one breath the highest class begins.
      queueMicrotask(fill)
      return {
        move(to) {
          one.class = to
        },
        ended,
      }
    },
  }
}

function before(one: Waiter, other: Waiter): boolean {
  const classes = jobClasses.indexOf(one.class) - jobClasses.indexOf(other.class)
  return classes < 0 || (classes === 0 && one.order < other.order)
}
