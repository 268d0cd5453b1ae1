/** Runs histories one after the other, until one breaks a property, and says what came of them. */
import { type Event, eventsOf, run } from './history.ts'
import { shrink } from './shrink.ts'
import type { Planner } from './world.ts'

/** Runs of a history at most, to make it shorter: some seconds. */
const shrinkTries = 1_500

export interface Asked {
  /** The first seed. */
  from: number
  histories: number
  /** In each. */
  events: number
}

export interface Done {
  /** Histories that were run. */
  histories: number
  events: number
  counts: ReadonlyMap<string, number>
  /** Of the one history that was asked for. */
  trace: readonly string[]
  broken: { seed: number; property: string; said: string; shortest: readonly Event[]; trace: readonly string[] } | undefined
}

/** `traced`: keep the trace of the history although it does not break anything. */
export function simulate(plan: Planner, asked: Asked, traced = false): Done {
  const counts = new Map<string, number>()
  let trace: readonly string[] = []
  for (let n = 0; n < asked.histories; n++) {
    const seed = asked.from + n
    const events = eventsOf(seed, asked.events)
    const outcome = run(plan, seed, events, traced)
    trace = outcome.trace
    for (const [what, times] of outcome.counts) {
      counts.set(what, what.startsWith('most') ? Math.max(counts.get(what) ?? 0, times) : (counts.get(what) ?? 0) + times)
    }
    const { broken } = outcome
    if (broken === undefined) continue
    const shortest = shrink(plan, seed, events, broken.property, shrinkTries)
    const again = run(plan, seed, shortest, true)
    const { property, said } = again.broken ?? broken
    return { histories: n + 1, events: asked.events, counts, trace, broken: { seed, property, said, shortest, trace: again.trace } }
  }
  return { histories: asked.histories, events: asked.events, counts, trace, broken: undefined }
}

/** What came of it, in lines. */
export function report(done: Done, seconds: number): readonly string[] {
  const { broken } = done
  const lines: string[] = []
  if (broken === undefined) lines.push(...done.trace)
  for (const [what, times] of [...done.counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const said = Number.isInteger(times) ? String(times) : times.toFixed(1)
    lines.push(`${said.padStart(10)}  ${what}`)
  }
  const rate = Math.round(done.histories / seconds)
  lines.push(`${done.histories} histories of ${done.events} events in ${seconds.toFixed(1)} s, ${rate} a second`)
  if (broken === undefined) return [...lines, 'every property holds']
  return [
    ...lines,
    '',
    `seed ${broken.seed} breaks “${broken.property}”: ${broken.said}`,
    `again with: npm run simulate -- --seed ${broken.seed} --events ${done.events}`,
    `the shortest history found has ${broken.shortest.length} events:`,
    ...broken.trace.map(line => `  ${line}`),
  ]
}
