/** When this runner does not land: because it was told so beforehand, or because the gateway refused it as such (WHO-3, WHO-8, REC-8, GWY-8). */
import { emptyMemory } from './memory.ts'
import { heldBy } from './setbacks.ts'
import { dropFrom, remember, type Turn } from './turn.ts'
import type { StandBy } from './types.ts'

/** Why the runner stands by; undefined when it lands. After a refusal it looks again when the back-off is over. */
export function standsBy(turn: Turn): StandBy | undefined {
  const { seen, memory } = turn
  if (seen.standBy !== undefined) return seen.standBy
  if (heldBy(turn, 'lander') !== undefined) return { why: 'not-lander' }
  return heldBy(turn, 'differs') !== undefined && memory.versions !== null ? { why: 'git-version', ...memory.versions } : undefined
}

/** While the runner stops or stands by, nothing begins, and what waits keeps its place (MOV-5, GWY-8). */
export function isResting(turn: Turn): boolean {
  return turn.seen.stopping || standsBy(turn) !== undefined
}

/** WHO-3, WHO-8, GWY-8: what another one lands is left alone: the line is dropped, and nobody is ejected. */
export function leaveToOthers(turn: Turn): Turn {
  const why = standsBy(turn)?.why
  if (why !== 'not-lander' && why !== 'lease') return turn
  const { nextId, done, setbacks } = turn.memory
  const kept = { ...emptyMemory(), nextId, done, setbacks: setbacks.filter(({ kind }) => kind === 'lander') }
  return { ...remember(dropFrom(turn, 0, 'not-lander'), kept), over: true }
}
