/** Wakes whoever waits: each `next()` settles at the following `fire()`. Nothing is remembered between them, so look before you wait. */
export interface Signal {
  next(): Promise<void>
  fire(): void
}

/** Makes a signal nobody waits for yet. */
export function createSignal(): Signal {
  let waiters: Array<() => void> = []
  return {
    next: () => new Promise(resolve => waiters.push(resolve)),
    fire() {
      const woken = waiters
      waiters = []
      for (const wake of woken) wake()
    },
  }
}
