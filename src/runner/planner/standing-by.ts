import { emptyMemory } from './memory.ts'
import { dropFrom, remember, type Turn } from './turn.ts'

/** WHO-3, WHO-8, GWY-8: what another one lands is left alone: the line is dropped, and nobody is ejected. */
export function leaveToOthers(turn: Turn): Turn {
  const { standBy } = turn.seen
  if (standBy?.why !== 'not-lander' && standBy?.why !== 'lease') return turn
  const { nextId, done } = turn.memory
  return { ...remember(dropFrom(turn, 0, 'not-lander'), { ...emptyMemory(), nextId, done }), over: true }
}
