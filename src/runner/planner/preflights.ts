/** Pre-flights: what each pull has to pass on its own before it joins a batch (PRE-1 to PRE-9). */
import type { Setback } from './memory.ts'
import { heldBy, setbackOf } from './setbacks.ts'
import type { Turn } from './turn.ts'
import type { Flight, Waiting } from './types.ts'

/** How often a pull's pre-flights are tried to be run before the building of its batch decides. */
const TRIES = 3

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
  const { key, flights, head } = waiting
  if (head.state !== 'at') return 'unread'
  // One that cannot be run at all, such as a head that cannot be fetched or taken, is left to the building as well: it says why (BLD-4, STO-11).
  if ((setbackOf(turn.memory, 'fly', flightAbout(key, head.commit))?.times ?? 0) >= TRIES) return []
  if (flights === 'unread') return 'unread'
  return preflights.map(workflow => {
    const flight = flights.find(one => one.workflow === workflow) ?? { workflow, state: 'none' as const }
    return { workflow, flight, says: readFlight(turn, waiting, head.commit, flight) }
  })
}

/** How a pull's flights at a head are remembered. */
export function flightAbout(key: string, head: string): string {
  return `${key} ${head}`
}

/** PRE-5: ready when all have passed. */
export function isReady(turn: Turn, waiting: Waiting): boolean {
  const told = preflightsOf(turn, waiting)
  return told !== 'unread' && told.every(({ says }) => says === 'passed')
}

function readFlight(turn: Turn, { key }: Waiting, head: string, flight: Flight): Says {
  const tip = turn.seen.tip?.commit
  const orFlown = (otherwise: Says) => flownSays(turn, key, head, flight) ?? otherwise
  switch (flight.state) {
    case 'passed':
    case 'not-needed':
      return 'passed'
    case 'running':
    case 'queued':
      return 'waits'
    case 'failed':
      return flight.tip === tip ? 'failed' : orFlown('fly')
    case 'none':
    case 'cancelled':
      return orFlown('fly')
    case 'timeout': {
      const times = silenceOf(turn, key, head, flight)?.times ?? 0
      return times > 1 && flight.tip === tip ? 'timed-out' : orFlown('fly')
    }
    case 'trouble': {
      const isHeld = heldBy(turn, 'flight', silenceAbout(key, head, flight)) !== undefined
      return orFlown(isHeld ? 'held' : 'fly')
    }
  }
}

/** PRE-8: once it was run at this head on this tip it is not waited for, as long as nothing newer is to be seen. In the pass that filed it, it is. */
function flownSays({ seen, memory }: Turn, key: string, head: string, { workflow, check }: Flight): Says | undefined {
  const tip = seen.tip?.commit
  const flown = memory.flown.find(one => one.key === key && one.head === head && one.workflow === workflow && one.tip === tip)
  if (flown === undefined || flown.after !== (check ?? null)) return undefined
  return flown.state === 'flown' ? 'passed' : 'waits'
}

/** How often a pre-flight ended without a verdict at a head. */
export function silenceOf({ memory }: Turn, key: string, head: string, flight: Flight): Setback | undefined {
  return setbackOf(memory, 'flight', silenceAbout(key, head, flight))
}

/** A time-out and trouble are counted apart. */
export function silenceAbout(key: string, head: string, { workflow, state }: Flight): string {
  return `${key} ${head} ${state} ${workflow}`
}
