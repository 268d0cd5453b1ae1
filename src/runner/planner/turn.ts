/** One question to the planner while it is being answered. Steps take a turn and give the next one; nothing is changed in place. */
import type { Memory } from './memory.ts'
import type { Action, Batch, DropCause, Line, Snapshot, Waiting } from './types.ts'

export interface Turn {
  readonly seen: Snapshot
  readonly batches: readonly Batch[]
  readonly memory: Memory
  readonly actions: readonly Action[]
  /** Nothing more is planned until what was asked for is answered. */
  readonly over: boolean
}

/** A turn in which nothing is asked for yet. */
export function startTurn(line: Line, seen: Snapshot): Turn {
  return { seen, batches: line.batches, memory: line.memory, actions: [], over: false }
}

/** Asks for something, after what is asked for already. */
export function act(turn: Turn, ...actions: readonly Action[]): Turn {
  return { ...turn, actions: [...turn.actions, ...actions] }
}

/** Remembers these things otherwise, and all others as they are. */
export function remember(turn: Turn, what: Partial<Memory>): Turn {
  return { ...turn, memory: { ...turn.memory, ...what } }
}

/** Takes the place of a batch in flight. */
export function putBatch(turn: Turn, batch: Batch): Turn {
  return { ...turn, batches: turn.batches.map(other => (other.id === batch.id ? batch : other)) }
}

/** Drops the batches from a place in the line on, the last one first: what stands on a dropped batch is dropped too (MOV-2, AHD-2). */
export function dropFrom(turn: Turn, at: number, cause: DropCause): Turn {
  const drops = turn.batches.slice(at).map(({ id }): Action => ({ do: 'drop', id, cause }))
  return { ...act(turn, ...drops.reverse()), batches: turn.batches.slice(0, at) }
}

/** The pull that a key queued, while the queue as read lists it. */
export function queuedAs({ seen }: Turn, key: string): Waiting | undefined {
  return seen.queue.find(waiting => waiting.key === key)
}

/** What this queueing is done with: landed, ejected, about to be, or found to be out since this pass read (FAI-6). */
export function isPast({ memory }: Turn, key: string): boolean {
  const { done, owed, pass } = memory
  return done.some(one => one.key === key) || owed.some(one => one.key === key) || pass.over.includes(key)
}

/** Whether the queueing is in a batch. */
export function isInFlight({ batches }: Turn, key: string): boolean {
  return batches.some(batch => batch.members.some(member => member.key === key))
}

/** Pulls that wait for a batch, in queue order. */
export function outsideBatches(turn: Turn): readonly Waiting[] {
  return turn.seen.queue.filter(({ key }) => !isInFlight(turn, key) && !isPast(turn, key))
}
