/** Makes a failing history shorter by leaving events out, as long as the same property breaks. */
import { type Event, run } from './history.ts'
import type { Planner } from './world.ts'

/** Gives the shortest history found in at most `tries` runs; `events` itself when it does not break `property`. */
export function shrink(plan: Planner, seed: number, events: readonly Event[], property: string, tries: number): readonly Event[] {
  let left = tries
  const broke = (some: readonly Event[]): number | undefined => {
    left--
    const { broken } = run(plan, seed, some)
    return broken?.property === property ? broken.at : undefined
  }
  const at = broke(events)
  if (at === undefined) return events
  let best = events.slice(0, at)
  for (let size = Math.ceil(best.length / 2); size >= 1 && left > 0; ) {
    const before = best.length
    for (let from = best.length - size; from > -size && left > 0; from -= size) {
      const start = Math.max(0, from)
      const some = [...best.slice(0, start), ...best.slice(from + size)]
      const end = broke(some)
      if (end !== undefined) best = some.slice(0, end)
    }
    if (size > 1) size = Math.floor(size / 2)
    else if (best.length === before) break
  }
  return best
}
