import { LRUCache } from 'lru-cache'

/** Of which queue, at which version of what is known about its repository. */
export interface QueueAt {
  repo: string
  branch: string
  version: number
}

/** Queues as they were lately shown, so that a page that is brought up to date can say which rows are new and which have moved. */
export interface ShownOrders {
  /** Keeps the order of a queue, as the addresses of its pulls. */
  note(at: QueueAt, pulls: readonly string[]): void
  /** The place that a pull had then, counted from 1; 0 where it had none; undefined where that version was not shown, or long ago. */
  placeAt(at: QueueAt, pull: string): number | undefined
}

/** Pulls remembered in all. */
const MOST = 200_000

export function createShownOrders(): ShownOrders {
  const kept = new LRUCache<string, ReadonlyMap<string, number>>({ maxSize: MOST, sizeCalculation: order => order.size + 1 })
  const last = new LRUCache<string, ReadonlyMap<string, number>>({ max: 1_000 })
  const keyOf = ({ repo, branch, version }: QueueAt) => `${repo} ${version} ${branch}`
  return {
    note(at, pulls) {
      const key = keyOf(at)
      if (kept.has(key)) return
      const branch = `${at.repo} ${at.branch}`
      const before = last.get(branch)
      // Most changes leave the order as it was: it is kept once for all versions.
      const same = before?.size === pulls.length && pulls.every((pull, index) => before.get(pull) === index + 1)
      const order = same ? before : new Map(pulls.map((pull, index) => [pull, index + 1]))
      last.set(branch, order)
      kept.set(key, order, { size: same ? 1 : order.size + 1 })
    },
    placeAt(at, pull) {
      const order = kept.get(keyOf(at))
      return order && (order.get(pull) ?? 0)
    },
  }
}
