/** Checks that readers show, sorted to what they are about (STA-7). */
import type { CheckRecord, Stored } from './facts.ts'
import { commitsHold } from './records.ts'
import { newerRun } from './runs.ts'
import type { Roles } from './view.ts'

type Check = Stored<CheckRecord>

export interface SortedChecks {
  /** Batch checks by branch name, in no order. */
  ofBatches: ReadonlyMap<string, readonly Check[]>
  /** A pull's own checks, newest first. */
  ofPull(pull: string): readonly Check[]
}

/** Takes each check once (records.ts); those of others than named runners, of other repositories or of commits that are none are passed over. */
export function sortChecks(checks: readonly Check[], roles: Roles, addresses: ReadonlySet<string>): SortedChecks {
  const ofBatches = new Map<string, Check[]>()
  const ofPulls = new Map<string, Check[]>()
  const sorted = new Set<string>()
  for (const check of checks) {
    const { repo, commit, baseCommit, tree, ref, batch, pull } = check.value
    if (!roles.namedRunner(check.did) || !addresses.has(repo) || !commitsHold(commit, baseCommit, tree)) continue
    if (batch !== undefined) add(ofBatches, ref.replace(/^refs\/heads\//, ''), check)
    else if (pull !== undefined) add(ofPulls, pull, check)
  }
  return {
    ofBatches,
    ofPull(pull) {
      const found = ofPulls.get(pull) ?? []
      if (!sorted.has(pull)) found.sort(newerRun)
      sorted.add(pull)
      return found
    },
  }
}

function add(groups: Map<string, Check[]>, key: string, check: Check): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [check])
  else group.push(check)
}
