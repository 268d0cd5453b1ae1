/** How many runs ended, and how. */

export interface Counts {
  /** Runs by how they ended: `success`, `failure`, `cancelled`, `error`, or `error-` and why there was no verdict. */
  ended: Readonly<Record<string, number>>
  /** Runs that an executor has now. */
  running: number
  /** Checks with something still to be written. */
  unwritten: number
}

export interface Counter {
  began(): void
  /** The executor has given it back. */
  left(): void
  ended(how: string): void
  counts(): Pick<Counts, 'ended' | 'running'>
}

export function createCounter(): Counter {
  const ended = new Map<string, number>()
  let running = 0
  return {
    began: () => void running++,
    left: () => void running--,
    ended: how => void ended.set(how, (ended.get(how) ?? 0) + 1),
    counts: () => ({ ended: Object.fromEntries(ended), running }),
  }
}
