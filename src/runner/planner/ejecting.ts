/** Ejections: decided once, asked for until they are written, then passed over as long as the queue as read still lists them (FAI-6). */
import type { Ejection } from './memory.ts'
import { heldBy, setBack, wentWell } from './setbacks.ts'
import { act, isPast, remember, type Turn } from './turn.ts'
import type { Result } from './types.ts'

/** Decides on an ejection. Of a queueing that is past already nothing more is said. */
export function owe(turn: Turn, ejection: Omit<Ejection, 'do'>): Turn {
  if (isPast(turn, ejection.key)) return turn
  return remember(turn, { owed: [...turn.memory.owed, { do: 'eject', ...ejection }] })
}

/** Asks for what is owed. While it stops the runner ejects nobody (MOV-5), nor with a clock that is off (REC-8). */
export function askEjections(turn: Turn): Turn {
  if (turn.seen.stopping || turn.seen.standBy?.why === 'clock') return turn
  return act(turn, ...turn.memory.owed.filter(({ key }) => heldBy(turn, 'eject', key) === undefined))
}

export function learnEjection(turn: Turn, { key, ok }: Extract<Result, { of: 'eject' }>): Turn {
  if (!ok) return setBack(turn, { kind: 'eject', about: key, keys: [key] })
  const { done, owed } = turn.memory
  const written = wentWell(turn, 'eject', key)
  return remember(written, {
    owed: owed.filter(one => one.key !== key),
    done: [...done, { key, how: 'ejected', listedAt: turn.seen.now }],
  })
}
