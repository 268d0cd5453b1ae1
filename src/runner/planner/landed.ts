import type { Done } from './memory.ts'
import { wentWell } from './setbacks.ts'
import { suspectsLanded } from './suspects.ts'
import { remember, type Turn } from './turn.ts'
import type { Batch } from './types.ts'

/** The lowest batch is on the branch: its pulls are done with, and what stood on it is the lowest now (AHD-2). */
export function settleLanding(turn: Turn, batch: Batch): Turn {
  const { seen, memory } = turn
  const landed = batch.members.map(({ key }): Done => ({ key, how: 'landed', listedAt: seen.now }))
  const rest = { ...turn, batches: turn.batches.filter(({ id }) => id !== batch.id) }
  const done = remember(rest, { done: [...memory.done, ...landed], suspects: suspectsLanded(memory.suspects, batch) })
  return wentWell(wentWell(wentWell(done, 'land', batch.tip), 'differs'), 'lander')
}
