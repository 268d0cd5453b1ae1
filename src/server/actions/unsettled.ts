import { LRUCache } from 'lru-cache'
import type { RecordKey } from '../../atproto/ids.ts'
import type { QueueRecord, StateRecord } from '../../queue/facts.ts'

/** What goes into a record about a pull; its key, type and date come with the write. */
export type Entry = Omit<QueueRecord, '$type' | 'createdAt'> | Omit<StateRecord, '$type' | 'createdAt'>

/** A write that was sent and of which nothing is known: the key and the content that it was tried with. */
export interface Unsettled {
  rkey: RecordKey
  entry: Entry
  createdAt: string
}

/** Unsettled writes by collection, account and pull. Who tries again sends the very same, so that it is written once however often it is tried (STO-7). */
export interface UnsettledWrites {
  get(key: string): Unsettled | undefined
  set(key: string, write: Unsettled): void
  delete(key: string): void
}

/** How long a write is remembered, in milliseconds: for as long as a person tries again. */
const REMEMBERED = 60 * 60_000
const MOST = 10_000

/** Keeps unsettled writes in memory; `now` in milliseconds. */
export function createUnsettledWrites(now: () => number): UnsettledWrites {
  const kept = new LRUCache<string, Unsettled & { at: number }>({ max: MOST })
  return {
    get(key) {
      const found = kept.get(key)
      return found !== undefined && now() - found.at < REMEMBERED ? found : undefined
    },
    set: (key, write) => void kept.set(key, { ...write, at: now() }),
    delete: key => void kept.delete(key),
  }
}
