/** What a new pass no longer needs to remember. */
import { headOf } from './ejecting.ts'
import type { Done, Flown } from './memory.ts'
import { remember, type Turn } from './turn.ts'

/** How long a queueing that is done is passed over after the queue as read last listed it: a reading that lags may list it once more (FAI-6). */
const LINGERS = 10 * 60_000

/** A pass begins: it read everything afresh, and whatever was asked for and not answered is asked for again. */
export function beginPass(turn: Turn): Turn {
  const { seen, memory } = turn
  const queued = new Set([...seen.queue, ...seen.drafts].map(({ key }) => key))
  const heads = new Map(seen.queue.map(waiting => [waiting.key, headOf(waiting)]))
  const stillDone = (one: Done): Done[] => {
    if (queued.has(one.key)) return [{ ...one, listedAt: seen.now }]
    const isOver = seen.standBy?.why !== 'clock' && seen.now - one.listedAt > LINGERS
    return isOver ? [] : [one]
  }
  const stillFlown = (one: Flown): Flown[] => {
    const holds = heads.get(one.key) === one.head && seen.tip?.commit === one.tip && one.state !== 'asked'
    return holds ? [{ ...one, state: 'flown' }] : []
  }
  return remember(turn, {
    done: memory.done.flatMap(stillDone),
    owed: memory.owed.filter(({ key }) => queued.has(key)),
    setbacks: memory.setbacks.filter(({ keys }) => keys.length === 0 || keys.some(key => queued.has(key))),
    flown: memory.flown.flatMap(stillFlown),
    asked: null,
    pass: { over: [], halted: false },
  })
}
