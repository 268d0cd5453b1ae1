/** Who lands a repository's queues, as far as records say (WHO-1, WHO-2, WHO-7). */
import type { LanderRecord, Stored } from './facts.ts'
import { millis, order } from './runs.ts'
import type { RepositoryView, Roles } from './view.ts'

/**
 * The first running one of those that may push, in the order of WHO-7; failing that, the first named runner that may push, else the first
 * named runner, running or not. Undefined when nobody lands.
 */
export function readLander(
  records: readonly Stored<LanderRecord>[],
  roles: Roles,
  addresses: ReadonlySet<string>,
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
    return record !== undefined && record.value.stoppedAt === undefined
  })
  const did = running ?? namedPushers[0] ?? roles.runners[0]
  return did === undefined ? undefined : { did, named: roles.namedRunner(did), record: newest.get(did) }
}

function isNewer(record: Stored<LanderRecord>, other: Stored<LanderRecord>): boolean {
  const started = (lander: Stored<LanderRecord>) => millis(lander.value.startedAt) ?? 0
  return (started(record) - started(other) || order(record.rkey, other.rkey)) > 0
}
