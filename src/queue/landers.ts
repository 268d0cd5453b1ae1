/** Who lands a repository's queues, as far as records say (WHO-1, WHO-2, WHO-7). */
import type { LanderRecord, Stored } from './facts.ts'
import { millis, order } from './runs.ts'
import type { RepositoryView, Roles } from './view.ts'

/** A lander whose lease ended longer ago than this, in milliseconds, does not run, whatever its record says: it went without a word (WHO-8). */
const GONE_AFTER = 2 * 60_000

/**
 * The first running one of those that may push, in the order of WHO-7; failing that, the first named runner that may push, else the first
 * named runner, running or not. Undefined when nobody lands.
 */
export function readLander(
  records: readonly Stored<LanderRecord>[],
  roles: Roles,
  addresses: ReadonlySet<string>,
  now: number,
): RepositoryView['lander'] {
  const newest = new Map<string, Stored<LanderRecord>>()
  for (const record of records) {
    if (!addresses.has(record.value.repo) || !(roles.mayMerge(record.did) || roles.namedRunner(record.did))) continue
    const other = newest.get(record.did)
    if (other === undefined || isNewer(record, other)) newest.set(record.did, record)
  }
  const namedPushers = roles.runners.filter(did => roles.mayMerge(did))
  const pushers = [...namedPushers, roles.owner, ...roles.collaborators]
  const running = pushers.find(did => {
    const record = newest.get(did)
    return record !== undefined && runsNow(record.value, now)
  })
  const did = running ?? namedPushers[0] ?? roles.runners[0]
  return did === undefined ? undefined : { did, named: roles.namedRunner(did), running: did === running, record: newest.get(did) }
}

/** Whether a lander's record says that it runs, at `now` in milliseconds since 1970. One that names no lease is believed. */
export function runsNow({ stoppedAt, lease }: LanderRecord, now: number): boolean {
  return stoppedAt === undefined && now <= (millis(lease?.until) ?? Number.POSITIVE_INFINITY) + GONE_AFTER
}

/** The next time after `now` at which one that runs is gone unless it renews its lease; undefined for none. */
export function nextGone(records: readonly Stored<LanderRecord>[], now: number): number | undefined {
  const ends = records.flatMap(({ value }) => {
    const until = runsNow(value, now) ? millis(value.lease?.until) : undefined
    return until === undefined ? [] : [until + GONE_AFTER + 1]
  })
  return ends.length === 0 ? undefined : Math.min(...ends)
}

function isNewer(record: Stored<LanderRecord>, other: Stored<LanderRecord>): boolean {
  const started = (lander: Stored<LanderRecord>) => millis(lander.value.startedAt) ?? 0
  return (started(record) - started(other) || order(record.rkey, other.rkey)) > 0
}
