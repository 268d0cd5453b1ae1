/** Which stack is asked for next: on the branch, or on the tip of the batch being checked (BLD-1, BLD-9, AHD-1). */

import { headOf } from './ejecting.ts'
import { isReady } from './preflights.ts'
import { heldBy } from './setbacks.ts'
import { isResting } from './standing-by.ts'
import { halfOf } from './suspects.ts'
import { act, outsideBatches, queuedAs, remember, type Turn } from './turn.ts'
import type { Batch, Snapshot, Waiting } from './types.ts'

/** Asks for a stack where one is due: on the branch when nothing is in flight, else ahead. */
export function build(turn: Turn): Turn {
  const { tip } = turn.seen
  const [lowest, ...ahead] = turn.batches
  if (tip === null || !mayBuild(turn) || ahead.length > 0) return turn
  return lowest === undefined ? buildOnBranch(turn, tip) : buildAhead(turn, lowest)
}

/** Nothing is built while the runner stops (MOV-5), stands by or waits out trouble of its own (FAI-8), nor on what was found out of date in this pass. */
function mayBuild(turn: Turn): boolean {
  const isTroubled = heldBy(turn, 'build') !== undefined || heldBy(turn, 'checks') !== undefined
  return !isResting(turn) && !isTroubled && !turn.memory.pass.halted && turn.seen.preflights !== 'unknown'
}

/** BLD-1, PRE-5: pulls that are ready, in queue order; one that is not holds up none behind it. */
export function readyPulls(turn: Turn): readonly Waiting[] {
  return outsideBatches(turn).filter(waiting => isTakeable(turn, waiting) && isReady(turn, waiting))
}

function isTakeable(turn: Turn, { key, head }: Waiting): boolean {
  return head.state === 'at' && heldBy(turn, 'unreadable', key) === undefined
}

function buildOnBranch(turn: Turn, { commit: base, generation }: NonNullable<Snapshot['tip']>): Turn {
  const { seen, memory } = turn
  const on = { base, generation, under: null }
  if (memory.suspects !== null) {
    const most = halfOf(memory.suspects)
    const half = memory.suspects.members.slice(0, most).flatMap(({ key }) => queuedAs(turn, key) ?? [])
    return ask(turn, { ...on, half: true }, half, most)
  }
  const ready = readyPulls(turn)
  const again = ready.filter(({ key }) => memory.again?.includes(key))
  if (memory.again !== null && again.length === memory.again.length) return ask(turn, { ...on, half: false }, again, again.length)
  const full = fillsUntil(turn, ready) === undefined
  return full ? ask(remember(turn, { again: null }), { ...on, half: false }, ready, seen.settings.batch) : turn
}

/** BLD-9: until when a batch that is not full waits for more; undefined when it waits no longer. */
export function fillsUntil({ seen }: Turn, ready: readonly Waiting[]): number | undefined {
  const { batch, waitMs } = seen.settings
  const [oldest] = ready
  if (oldest === undefined || ready.length >= batch || waitMs === 0) return undefined
  const until = oldest.queuedAt + waitMs
  return until > seen.now ? until : undefined
}

/** AHD-1, AHD-3: one batch ahead, on the tip of what is being checked; none while there are suspects. */
function buildAhead(turn: Turn, under: Batch): Turn {
  const { seen, memory } = turn
  if (seen.settings.depth < 2 || memory.suspects !== null || !under.filed) return turn
  const { tip: base, generation, id } = under
  const left = memory.aside?.base === base ? memory.aside.left : []
  const isLeft = (waiting: Waiting) => left.some(one => one.key === waiting.key && one.head === headOf(waiting))
  const candidates = readyPulls(turn).filter(waiting => !isLeft(waiting))
  return ask(turn, { base, generation, under: id, half: false }, candidates, seen.settings.batch)
}

function ask(
  turn: Turn,
  on: { base: string; generation: number; under: number | null; half: boolean },
  candidates: readonly Waiting[],
  most: number,
): Turn {
  if (candidates.length === 0) return turn
  const { base, generation, under, half } = on
  const id = turn.memory.nextId
  const asked = { id, base, generation, under, half, keys: candidates.map(({ key }) => key) }
  const ahead = under === null ? {} : { under }
  return act(remember(turn, { nextId: id + 1, asked }), { do: 'build', id, base, generation, ...ahead, candidates, most })
}
