/** What went wrong before, how often, and until when it is left alone: 1, 2, 4 … 30 minutes (FAI-8). */
import type { Memory, Setback, SetbackKind } from './memory.ts'
import { remember, type Turn } from './turn.ts'

const MINUTE = 60_000
const LONGEST = 30 * MINUTE
/** Remembered at most, the newest. */
const MOST = 2_000

/** How long the nth time in a row is waited for, in milliseconds. */
export function backOff(times: number): number {
  return Math.min(LONGEST, MINUTE * 2 ** Math.min(times - 1, 10))
}

/** What is remembered of a setback; of one without `about` the line's. */
export function setbackOf(memory: Memory, kind: SetbackKind, about = ''): Setback | undefined {
  return memory.setbacks.find(one => one.kind === kind && one.about === about)
}

/** The setback for which something is still left alone; after a clock was put back, nothing is for longer than any back-off. */
export function heldBy({ memory, seen }: Turn, kind: SetbackKind, about = ''): Setback | undefined {
  const setback = setbackOf(memory, kind, about)
  const left = (setback?.until ?? 0) - seen.now
  return left > 0 && left <= LONGEST ? setback : undefined
}

/** Counts one more. `pause` gives how long it is left alone from now on, in milliseconds, of how often it happened: the back-off unless it says otherwise. */
export function setBack(
  turn: Turn,
  what: {
    kind: SetbackKind
    about?: string | undefined
    keys?: readonly string[]
    said?: string
    check?: string | undefined
    from?: number | undefined
    pause?: (times: number) => number
  },
): Turn {
  const { kind, about = '', keys = [], said = '', check, from, pause = backOff } = what
  const { now } = turn.seen
  const before = setbackOf(turn.memory, kind, about)
  const times = (before?.times ?? 0) + 1
  const until = (from ?? now) + pause(times)
  const setback: Setback = { kind, about, keys, times, since: before?.since ?? now, until, said, check: check ?? null }
  return remember(turn, { setbacks: [...turn.memory.setbacks.filter(one => one !== before), setback].slice(-MOST) })
}

/** Forgets it: it went well. */
export function wentWell(turn: Turn, kind: SetbackKind, about = ''): Turn {
  if (setbackOf(turn.memory, kind, about) === undefined) return turn
  return remember(turn, { setbacks: turn.memory.setbacks.filter(one => one.kind !== kind || one.about !== about) })
}

/** For what is only counted. */
export function noPause(): number {
  return 0
}
