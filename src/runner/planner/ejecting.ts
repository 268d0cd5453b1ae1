/** Ejections: decided once, asked for until they are written, then passed over as long as the queue as read still lists them (FAI-6). */
import type { EjectionParts } from '../../queue/words/ejection.ts'
import type { Ejection, Grounds, Owed } from './memory.ts'
import { heldBy, setBack, wentWell } from './setbacks.ts'
import { act, isPast, queuedAs, remember, type Turn } from './turn.ts'
import type { EjectionKind, FailedRun, Result, Waiting } from './types.ts'

/** The ejection of a queueing at the head that is turned away (REC-2); the head is left out where nobody knows it. */
export function ejection(
  { pull, entry, key }: { pull: string; entry: string; key: string },
  head: string | undefined,
  kind: EjectionKind,
  why: EjectionParts,
  checks: readonly FailedRun[] = [],
): Ejection {
  return { do: 'eject', pull, entry, key, ...(head === undefined ? {} : { head }), kind, why, checks }
}

/** Where the head of a waiting pull is; undefined where that cannot be read. */
export function headOf({ head }: Waiting): string | undefined {
  return head.state === 'at' ? head.commit : undefined
}

/** What is so now, and is looked at again by each turn. */
export const reading: Grounds = { on: 'reading' }
/** What a run or the gateway has said of this queueing. */
export const verdict: Grounds = { on: 'verdict' }

/** What is so of a head as it is, on a tip if one is given. */
export function thisHead(waiting: Waiting, tip: string | null): Grounds {
  return { on: 'head', head: headOf(waiting) ?? null, tip }
}

/** Decides on an ejection. Of a queueing that is past already nothing more is said. */
export function owe(turn: Turn, one: Ejection, grounds: Grounds): Turn {
  return isPast(turn, one.key) ? turn : remember(turn, { owed: [...turn.memory.owed, { ...one, grounds }] })
}

/** Takes back what was decided and not written, where it may be otherwise by now. */
export function reviewOwed(turn: Turn): Turn {
  return remember(turn, { owed: turn.memory.owed.filter(one => stillHolds(turn, one)) })
}

function stillHolds(turn: Turn, { key, grounds }: Owed): boolean {
  if (grounds.on !== 'head') return grounds.on === 'verdict'
  const waiting = queuedAs(turn, key)
  const isThere = grounds.tip === null || grounds.tip === turn.seen.tip?.commit
  return waiting !== undefined && isThere && (headOf(waiting) ?? null) === grounds.head
}

/** Asks for what is owed. While it stops the runner ejects nobody (MOV-5), nor with a clock that is off (REC-8). */
export function askEjections(turn: Turn): Turn {
  if (turn.seen.stopping || turn.seen.standBy?.why === 'clock') return turn
  const due = turn.memory.owed.filter(({ key }) => heldBy(turn, 'eject', key) === undefined)
  return act(turn, ...due.map(({ grounds: _, ...one }): Ejection => one))
}

/** FAI-6: what is written is done with; what could not be is tried again after a back-off. */
export function learnEjection(turn: Turn, { key, ok }: Extract<Result, { of: 'eject' }>): Turn {
  if (!ok) return setBack(turn, { kind: 'eject', about: key, keys: [key] })
  const { done, owed } = turn.memory
  const written = wentWell(turn, 'eject', key)
  return remember(written, {
    owed: owed.filter(one => one.key !== key),
    done: [...done, { key, how: 'ejected', listedAt: turn.seen.now }],
  })
}
