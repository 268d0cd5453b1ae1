/** Who a repository names, within its bounds (REC-11, HON-1, HON-3). */
import type { RepoRecord, Stored } from './facts.ts'
import type { Roles } from './view.ts'

const MOST_COLLABORATORS = 100
const MOST_RUNNERS = 10
const MOST_RULES = 100

/** Accounts by the repository's record, each once, in its order; the owner is no collaborator of their own. */
export function readRoles(repo: Stored<RepoRecord>): Roles {
  const collaborators = accounts(repo.value.collaborators, MOST_COLLABORATORS).filter(did => did !== repo.did)
  const runners = accounts(repo.value.runners, MOST_RUNNERS)
  const merging = new Set([repo.did, ...collaborators])
  const named = new Set(runners)
  return {
    owner: repo.did,
    collaborators,
    runners,
    mayMerge: did => merging.has(did),
    namedRunner: did => named.has(did),
  }
}

export interface BranchRule {
  queueOnly: boolean
  pinned: boolean
}

/** Rules by branch name; of several rows for one branch the stricter holds. */
export function readRules(repo: RepoRecord): ReadonlyMap<string, BranchRule> {
  const rules = new Map<string, BranchRule>()
  for (const row of (repo.protections ?? []).slice(0, MOST_RULES)) {
    const rule = rules.get(row.branch) ?? { queueOnly: false, pinned: false }
    rules.set(row.branch, { queueOnly: rule.queueOnly || row.queue, pinned: rule.pinned || row.pinned === true })
  }
  return rules
}

/** How many of the names and rules of a record lie over their bounds, and so count for nothing. */
export function overBounds(repo: RepoRecord): number {
  const over = (list: readonly unknown[] | undefined, most: number) => Math.max(0, (list?.length ?? 0) - most)
  return over(repo.collaborators, MOST_COLLABORATORS) + over(repo.runners, MOST_RUNNERS) + over(repo.protections, MOST_RULES)
}

function accounts(list: readonly { did: string }[], most: number): string[] {
  return [...new Set(list.slice(0, most).map(entry => entry.did))]
}
