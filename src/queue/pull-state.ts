/** Where a pull stands by its state records (HON-6, HON-8, QUE-2). */
import type { StateRecord, Stored } from './facts.ts'
import type { Ground } from './honour.ts'
import type { Position } from './positions.ts'
import type { PullState } from './view.ts'

/** A state record that counts, with the ground it counts on. */
export interface HonouredState {
  record: Stored<StateRecord>
  ground: Ground
}

export interface StateReading {
  state: PullState
  /** The record that made it so; absent while nothing changed. */
  record?: Stored<StateRecord> | undefined
  /** The last reopening: what was queued before it does not count any more (QUE-8). */
  reopenedAt?: Position | undefined
}

/**
 * Reads the honoured state records of one pull, oldest first. `contains` says of a commit whether the pull's branch has it; undefined when
 * that is not known, and then nobody opens what was merged (HON-8).
 */
export function readState(states: readonly HonouredState[], contains: (commit: string) => boolean | undefined): StateReading {
  let reading: StateReading = { state: 'open' }
  let merges: Stored<StateRecord>[] = []
  let noneThere = true
  for (const { record, ground } of states) {
    const { state, commit } = record.value
    if (state === 'merged') {
      merges.push(record)
      noneThere &&= commit === undefined || contains(commit) === false
      reading = { ...reading, state: 'merged', record }
    } else if (state === 'closed') {
      if (reading.state === 'open') reading = { ...reading, state: 'closed', record }
    } else if (reading.state === 'closed' || (reading.state === 'merged' && ground === 'maintainer' && noneThere)) {
      merges = []
      reading = { state: 'open', record, reopenedAt: record }
    }
  }
  return reading.state === 'merged' ? { ...reading, record: tellingMerge(merges, contains) } : reading
}

/** Of several merged records the first whose commit is on the branch tells how it landed; else the first. */
function tellingMerge(
  merges: readonly Stored<StateRecord>[],
  contains: (commit: string) => boolean | undefined,
): Stored<StateRecord> | undefined {
  return merges.find(({ value }) => value.commit !== undefined && contains(value.commit) === true) ?? merges[0]
}
