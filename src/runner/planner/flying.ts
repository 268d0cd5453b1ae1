/** Pre-flights that failed eject; those that are missing are flown (PRE-3, PRE-6 to PRE-8). */
import { ejection, owe, reading } from './ejecting.ts'
import type { Flown } from './memory.ts'
import { flightAbout, preflightsOf, silenceAbout, silenceOf, type Told } from './preflights.ts'
import { backOff, heldBy, noPause, setBack, wentWell } from './setbacks.ts'
import { isResting } from './standing-by.ts'
import { act, outsideBatches, remember, type Turn } from './turn.ts'
import type { FailedRun, Flight, Result, Waiting } from './types.ts'

/** FAI-8: counts each run that ended without a verdict, once. */
export function countSilences(turn: Turn): Turn {
  return outsideBatches(turn).reduce((so, { key, head, flights }) => {
    if (flights === 'unread' || head.state !== 'at') return so
    return flights.reduce((inner, flight) => countSilence(inner, key, head.commit, flight), so)
  }, turn)
}

function countSilence(turn: Turn, key: string, head: string, flight: Flight): Turn {
  const { state, check, endedAt, workflow } = flight
  if (state !== 'timeout' && state !== 'trouble') return turn
  const before = silenceOf(turn, key, head, flight)
  if (before !== undefined && before.check === (check ?? null)) return turn
  const pause = state === 'timeout' ? noPause : backOff
  return setBack(turn, { kind: 'flight', about: silenceAbout(key, head, flight), keys: [key], check, from: endedAt, pause, said: workflow })
}

/** PRE-3, PRE-6: a pull that failed on the branch's present tip is ejected, before it was in any batch; so is one that timed out once more. */
export function ejectGrounded(turn: Turn): Turn {
  return isResting(turn) ? turn : outsideBatches(turn).reduce(groundOne, turn)
}

function groundOne(turn: Turn, waiting: Waiting): Turn {
  const { branch, tip } = turn.seen
  const told = preflightsOf(turn, waiting)
  if (told === 'unread' || tip === null || waiting.head.state !== 'at') return turn
  const head = waiting.head.commit
  const failed = told.filter(({ says }) => says === 'failed')
  const late = told.filter(({ says }) => says === 'timed-out')
  const checks = [...failed, ...late].flatMap(failedRun)
  if (failed.length > 0) {
    const why = { key: 'preflight' as const, names: failed.map(({ workflow }) => workflow), head, branch, tip: tip.commit }
    return owe(turn, ejection(waiting, head, 'preflight', why, checks), reading)
  }
  const names = late.map(({ workflow }) => workflow)
  return names.length === 0 ? turn : owe(turn, ejection(waiting, head, 'timeout', { key: 'timeout', names }, checks), reading)
}

function failedRun({ workflow, flight: { check, status } }: Told): FailedRun[] {
  return check === undefined ? [] : [{ workflow, status: status ?? 'error', check }]
}

/** PRE-7: runs what is missing, on the head merged with the tip. */
export function fly(turn: Turn): Turn {
  return isResting(turn) ? turn : outsideBatches(turn).reduce(flyOne, turn)
}

function flyOne(turn: Turn, waiting: Waiting): Turn {
  const { pull, key, head } = waiting
  const { tip } = turn.seen
  if (tip === null || head.state !== 'at' || heldBy(turn, 'fly', flightAbout(key, head.commit)) !== undefined) return turn
  const told = preflightsOf(turn, waiting)
  const missing = told === 'unread' ? [] : told.filter(({ says }) => says === 'fly')
  if (missing.length === 0) return turn
  const workflows = missing.map(({ workflow }) => workflow)
  const asked = missing.map(({ workflow, flight }): Flown => {
    return { key, head: head.commit, tip: tip.commit, workflow, after: flight.check ?? null, state: 'asked' }
  })
  const others = turn.memory.flown.filter(one => one.key !== key || !workflows.includes(one.workflow))
  const flying = remember(turn, { flown: [...others, ...asked] })
  return act(flying, { do: 'fly', pull, head: head.commit, tip: tip.commit, generation: tip.generation, workflows })
}

/** PRE-8: what is filed is remembered; what could not be is tried again after a back-off. */
export function learnFlight(turn: Turn, { pull, head, tip, ok }: Extract<Result, { of: 'fly' }>): Turn {
  const key = turn.seen.queue.find(waiting => waiting.pull === pull)?.key
  if (key === undefined) return turn
  const isIt = (one: Flown) => one.key === key && one.head === head && one.tip === tip && one.state === 'asked'
  const flown = turn.memory.flown.flatMap((one): Flown[] => (isIt(one) ? (ok ? [{ ...one, state: 'now' }] : []) : [one]))
  const noted = remember(turn, { flown })
  const about = flightAbout(key, head)
  return ok ? wentWell(noted, 'fly', about) : setBack(noted, { kind: 'fly', about, keys: [key] })
}
