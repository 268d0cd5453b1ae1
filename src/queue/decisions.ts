/** What the steward decided about pulls (STW-10), as far as it counts. */
import type { DecisionRecord, Stored } from './facts.ts'
import { byPosition } from './positions.ts'
import { isTid } from './tid.ts'
import type { PullView, Roles } from './view.ts'

const MOST_PER_PULL = 50

/**
 * Decisions by pull, oldest key first: those about this repository by owner, collaborators and named runners, since whoever else says something about
 * an ejection is nobody's steward here (HON-2). At most the 50 newest of a pull.
 */
export function readDecisions(
  records: readonly Stored<DecisionRecord>[],
  roles: Roles,
  addresses: ReadonlySet<string>,
): ReadonlyMap<string, readonly Stored<DecisionRecord>[]> {
  const counted = new Map<string, Stored<DecisionRecord>>()
  for (const record of records) {
    const counts = isTid(record.rkey) && addresses.has(record.value.repo) && (roles.mayMerge(record.did) || roles.namedRunner(record.did))
    if (counts) counted.set(record.uri, record)
  }
  const byPull = Map.groupBy([...counted.values()].sort(byPosition), record => record.value.subject)
  return new Map([...byPull].map(([pull, decisions]) => [pull, decisions.slice(-MOST_PER_PULL)]))
}

/** The last decision about an ejection; undefined where there is none. */
export function decisionOn(pull: PullView, ejection: string): Stored<DecisionRecord> | undefined {
  return pull.decisions?.findLast(({ value }) => value.ejection === ejection)
}
