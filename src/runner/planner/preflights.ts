/** Pre-flights: what each pull has to pass on its own before it joins a batch (PRE-1 to PRE-9). */
import type { Flown, Setback } from './memory.ts'
import { setbackOf } from './setbacks.ts'
import type { Turn } from './turn.ts'
import type { Flight, Waiting } from './types.ts'

/** What the newest run of a pre-flight says of a pull (PRE-3). `fly`: run it here; `held`: once the back-off is over. */
export type Says = 'passed' | 'waits' | 'fly' | 'held' | 'failed' | 'timed-out'

export interface Told {
  workflow: string
  says: Says
  flight: Flight
}

/** What is known of a waiting pull's pre-flights; `unread` where that has not been looked at. */
export function preflightsOf(turn: Turn, waiting: Waiting): readonly Told[] | 'unread' {
  const { preflights } = turn.seen
  if (preflights === 'unknown') return 'unread'
  // PRE-9: one that conflicts with the branch is left to the building of its batch.
  if (preflights.length === 0 || waiting.applies === false) return []
  const { flights, head } = waiting
  if (flights === 'unread' || head.state !== 'at') return 'unread'
  return preflights.map(workflow => {
    const flight = flights.find(one => one.workflow === workflow) ?? { workflow, state: 'none' as const }
    return { workflow, flight, says: readFlight(turn, waiting, head.commit, flight) }
  })
}

/** PRE-5: ready when all have passed. */
export function isReady(turn: Turn, waiting: Waiting): boolean {
  const told = preflightsOf(turn, waiting)
  return told !== 'unread' && told.every(({ says }) => says === 'passed')
}

function readFlight(turn: Turn, { key }: Waiting, head: string, flight: Flight): Says {
  const tip = turn.seen.tip?.commit
  const flown = flownOf(turn, { key, head, workflow: flight.workflow })
  switch (flight.state) {
    case 'passed':
    case 'not-needed':
      return 'passed'
    case 'running':
    case 'queued':
      return 'waits'
    case 'failed':
      return flight.tip === tip ? 'failed' : orFlown(flown, flight, 'fly')
    case 'none':
    case 'cancelled':
      return orFlown(flown, flight, 'fly')
    case 'timeout': {
      const times = silenceOf(turn, key, head, flight)?.times ?? 0
      return times > 1 && flight.tip === tip ? 'timed-out' : orFlown(flown, flight, 'fly')
    }
    case 'trouble': {
      const until = silenceOf(turn, key, head, flight)?.until ?? 0
      return orFlown(flown, flight, until > turn.seen.now ? 'held' : 'fly')
    }
  }
}

/** PRE-8: once it was run at this head on this tip it is not waited for, as long as nothing newer is to be seen. In the pass that filed it, it is. */
function orFlown(flown: Flown | undefined, flight: Flight, otherwise: Says): Says {
  if (flown === undefined || flown.after !== (flight.check ?? null)) return otherwise
  return flown.state === 'flown' ? 'passed' : 'waits'
}

function flownOf({ seen, memory }: Turn, asked: { key: string; head: string; workflow: string }): Flown | undefined {
  const { key, head, workflow } = asked
  return memory.flown.find(one => one.key === key && one.head === head && one.workflow === workflow && one.tip === seen.tip?.commit)
}

/** How often a pre-flight ended without a verdict at a head. */
export function silenceOf({ memory }: Turn, key: string, head: string, flight: Flight): Setback | undefined {
  return setbackOf(memory, 'flight', silenceAbout(key, head, flight))
}

/** A time-out and trouble are counted apart. */
export function silenceAbout(key: string, head: string, { workflow, state }: Flight): string {
  return `${key} ${head} ${state} ${workflow}`
}
