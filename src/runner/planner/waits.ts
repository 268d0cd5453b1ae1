/** Why what waits waits, and when something is due though nothing rings (STA-4). */

import { fillsUntil, readyPulls } from './building.ts'
import { isGoing } from './checking.ts'
import { preflightsOf } from './preflights.ts'
import { heldBy } from './setbacks.ts'
import { standsBy } from './standing-by.ts'
import { outsideBatches, type Turn } from './turn.ts'
import type { Wait } from './types.ts'

/** After a pass that found its own reading out of date, in milliseconds. */
const SOON = 1_000
/** Pulls that are named one by one at most. */
const MOST = 20

/** In the order in which a person would want to know. */
export function waitsOf(turn: Turn): Wait[] {
  return [standBy, troubles, ejections, landing, suspects, checks, preflights, filling, unreadable].flatMap(waits => waits(turn))
}

/** The earliest time, later than now, at which something is due. */
export function wakeAt({ seen, memory }: Turn, waits: readonly Wait[]): number | undefined {
  const times = [...memory.setbacks.map(({ until }) => until), ...waits.flatMap(wait => ('until' in wait ? [wait.until] : []))]
  if (memory.pass.halted) times.push(seen.now + SOON)
  const later = times.filter(time => time > seen.now)
  return later.length === 0 ? undefined : Math.min(...later)
}

function standBy(turn: Turn): Wait[] {
  const why = standsBy(turn)
  return why === undefined ? [] : [{ for: 'stand-by', standBy: why }]
}

function troubles(turn: Turn): Wait[] {
  const held = (['build', 'file', 'checks'] as const).flatMap(kind => heldBy(turn, kind) ?? [])
  const waits = held.map(({ until, times, said }): Wait => ({ for: 'trouble', until, times, said }))
  const { tip, preflights } = turn.seen
  if (outsideBatches(turn).length === 0) return waits
  if (tip === null) return [...waits, { for: 'branch' }]
  return preflights === 'unknown' ? [...waits, { for: 'workflows' }] : waits
}

function ejections(turn: Turn): Wait[] {
  const held = turn.memory.owed.flatMap(({ key }) => heldBy(turn, 'eject', key) ?? [])
  return held.length === 0 ? [] : [{ for: 'ejections', pulls: held.length, until: Math.min(...held.map(({ until }) => until)) }]
}

function landing(turn: Turn): Wait[] {
  const held = turn.batches[0] === undefined ? undefined : heldBy(turn, 'land', turn.batches[0].tip)
  return held === undefined ? [] : [{ for: 'landing-again', until: held.until, said: held.said }]
}

function suspects({ memory }: Turn): Wait[] {
  return memory.suspects === null ? [] : [{ for: 'suspects', left: memory.suspects.members.length, of: memory.suspects.of }]
}

function checks({ seen, batches }: Turn): Wait[] {
  return batches.flatMap(({ id, tip }) => {
    const workflows = (seen.runs.get(id) ?? []).filter(({ state }) => isGoing(state)).map(({ workflow }) => workflow)
    return workflows.length === 0 ? [] : [{ for: 'checks' as const, tip, workflows }]
  })
}

function preflights(turn: Turn): Wait[] {
  const missing = outsideBatches(turn).flatMap(waiting => {
    const told = preflightsOf(turn, waiting)
    if (told === 'unread') return turn.seen.preflights === 'unknown' ? [] : [turn.seen.preflights]
    const open = told.filter(({ says }) => says !== 'passed').map(({ workflow }) => workflow)
    return open.length === 0 ? [] : [open]
  })
  return missing.length === 0 ? [] : [{ for: 'preflights', pulls: missing.length, workflows: [...new Set(missing.flat())] }]
}

function filling(turn: Turn): Wait[] {
  const { seen, batches, memory } = turn
  if (batches.length > 0 || memory.asked !== null || memory.suspects !== null) return []
  const ready = readyPulls(turn)
  const until = fillsUntil(turn, ready)
  return until === undefined ? [] : [{ for: 'filling', until, ready: ready.length, most: seen.settings.batch }]
}

function unreadable(turn: Turn): Wait[] {
  return outsideBatches(turn)
    .flatMap(({ pull, key }) => {
      const held = heldBy(turn, 'unreadable', key)
      return held === undefined ? [] : [{ for: 'unreadable' as const, pull, server: held.said, until: held.until }]
    })
    .slice(0, MOST)
}
