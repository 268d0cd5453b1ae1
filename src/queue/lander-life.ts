/** Whether a lander has been seen (STA-4): queued and stranded never look alike. */
import type { Asking } from './asking.ts'
import { millis } from './runs.ts'
import type { BatchView, BranchView, RepositoryView } from './view.ts'

/** Past the pass it said was due, a lander has this long before it counts as not seen, in milliseconds. */
export const NOT_SEEN_AFTER = 2 * 60_000
/** A lander that started longer ago than this, in milliseconds, has read the queue. */
export const STARTING = 10 * 60_000
/** Without a report, a check or lease written this lately is a sign of life. */
const SIGN_HOLDS = 60 * 60_000

export interface LanderLife {
  /** Who lands, else the first named runner; absent when the repository names nobody. */
  did?: string | undefined
  /** The last sign of it, in milliseconds since 1970; absent when there never was one. */
  seenAt?: number | undefined
  alive: boolean
}

/** What it reported decides; where nothing reports, its lease and the checks of batches in flight are the signs there are. */
export function landerLife(view: RepositoryView, branch: BranchView | undefined, asking: Asking): LanderLife {
  const did = view.lander?.did ?? view.roles.runners[0]
  if (did === undefined) return { alive: false }
  const told = asking.lastSeen?.get(did)
  const record = view.lander?.did === did ? view.lander.record : undefined
  const lease = record?.value.stoppedAt === undefined ? millis(record?.value.lease?.until) : undefined
  if (told !== undefined) {
    const startedAt = lease === undefined ? undefined : millis(record?.value.startedAt)
    // One that starts again has not told of a pass yet: its first is due as it starts.
    const started = startedAt !== undefined && startedAt <= asking.now ? startedAt : told.at
    const dueAt = Math.max(told.dueAt ?? told.at, started)
    return { did, seenAt: Math.max(told.at, started), alive: asking.now <= dueAt + NOT_SEEN_AFTER }
  }

  const signs = (branch?.batches ?? []).filter(batch => batch.runner === did).flatMap(signsOf)
  if (record?.value.lease !== undefined) signs.push(millis(record.value.stoppedAt) ?? record.seenAt)
  const past = signs.filter(time => time <= asking.now + NOT_SEEN_AFTER)
  if (past.length === 0) return { did, alive: false }
  const seenAt = Math.min(asking.now, Math.max(...past))
  const leased = lease !== undefined && asking.now <= lease + NOT_SEEN_AFTER
  const working = branch?.batches.some(batch => batch.runner === did) === true && asking.now - seenAt <= SIGN_HOLDS
  return { did, seenAt, alive: leased || working }
}

function signsOf(batch: BatchView): number[] {
  return batch.checks
    .flatMap(({ value }) => [value.createdAt, value.startedAt, value.finishedAt].map(millis))
    .filter(time => time !== undefined)
}
