import type { RefusedReason } from '../validate/reasons.ts'
import type { IngestEvent } from './events.ts'

/** What the events of one transaction left to be done at its end. */
export interface Batch {
  /** Milliseconds since 1970; the same for all of it. */
  readonly time: number
  /** Repositories whose answers may have changed. */
  readonly changed: Set<string>
  /** Pulls of which to look again whether they are settled. */
  readonly pulls: Set<string>
  /** Repositories of which to look again whom they name. */
  readonly membersOf: Set<string>
  /** Rows of batches' checks that ended, to be kept past their pruning (REA-4). */
  readonly ended: Set<number>
  readonly refused: Map<RefusedReason, number>
  /** Accounts whose handle or server is to be looked up again. */
  readonly identities: Set<string>
  /** What goes on in a later batch. */
  readonly next: IngestEvent[]
  /** Something is to be read from people's servers. */
  wanted: boolean
}

export function startBatch(time: number): Batch {
  return {
    time,
    changed: new Set(),
    pulls: new Set(),
    membersOf: new Set(),
    ended: new Set(),
    refused: new Map(),
    identities: new Set(),
    next: [],
    wanted: false,
  }
}

export function refuse(batch: Batch, reason: RefusedReason): void {
  batch.refused.set(reason, (batch.refused.get(reason) ?? 0) + 1)
}
