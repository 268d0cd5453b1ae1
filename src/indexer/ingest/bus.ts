import type { Change } from './writer.ts'

export type ChangeListener = (change: Change) => void

/** Who wants to know that a repository's answers may have changed. */
export interface ChangeBus {
  /** Adds a listener and gives the function that takes it away again. */
  on(listener: ChangeListener): () => void
  announce(changes: readonly Change[]): void
}

/** `failed` is told of a listener that throws; the others hear of the change all the same. */
export function createChangeBus(failed: (error: unknown) => void): ChangeBus {
  const listeners = new Set<ChangeListener>()
  return {
    on(listener) {
      // The same function may be added twice, each time with an end of its own.
      const own: ChangeListener = change => listener(change)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    announce(changes) {
      for (const change of changes) {
        for (const listener of listeners) {
          try {
            listener(change)
          } catch (error) {
            failed(error)
          }
        }
      }
    },
  }
}
