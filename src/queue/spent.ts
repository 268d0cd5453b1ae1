/** Which head branches a landing leaves behind with nothing in them that has not landed (LND-4). */
import { readRules } from './roles.ts'
import type { PullView, RepositoryView } from './view.ts'

/** A pull that lands, and the commit of its head branch that was squashed. */
export interface LandingPull {
  /** AT-URI. */
  pull: string
  head: string
}

/** A branch to delete in the landing's own push, and only where it is `at` this commit. */
export interface SpentBranch {
  branch: string
  at: string
  /** The pull that brought it. */
  pull: string
}

/**
 * The head branches that a landing of these pulls deletes, in their order and each once. A head branch is spent when it is in the repository
 * itself, stands at the commit that was squashed, is neither the default branch nor the target of a pull that lands, carries no rule, and no
 * other open pull brings or targets it.
 */
export function spentBranches(view: RepositoryView, landing: readonly LandingPull[]): SpentBranch[] {
  const landed = new Set(landing.map(one => one.pull))
  const kept = keptBranches(view, landed)
  const spent = new Map<string, SpentBranch>()
  for (const { pull: uri, head } of landing) {
    const pull = view.pulls.get(uri)
    if (pull === undefined || pull.head !== head || !isHere(view, pull)) continue
    const { branch } = pull.pull.value.head
    if (!kept.has(branch) && !spent.has(branch)) spent.set(branch, { branch, at: head, pull: uri })
  }
  return [...spent.values()]
}

/** Whether a repository's address is one that this repository has or had: what lies there may be its own (HON-4). */
export function isOwn(view: RepositoryView, repo: string): boolean {
  return repo === view.uri || repo === view.record.uri || repo === view.record.value.transferredFrom
}

/** Whether its head branch lies in the repository itself, in the owner's account. That of an address that it had may be another's by now. */
function isHere(view: RepositoryView, pull: PullView): boolean {
  return pull.pull.value.head.repo === view.record.uri
}

/** Branches that stay, whoever brings them: the default one, those with a rule, targets of open pulls and heads of those that do not land. */
function keptBranches(view: RepositoryView, landed: ReadonlySet<string>): ReadonlySet<string> {
  const { value } = view.record
  const kept = new Set([value.defaultBranch, ...readRules(value).keys()])
  for (const pull of view.pulls.values()) {
    const isLanding = landed.has(pull.pull.uri)
    if (!isLanding && pull.state !== 'open') continue
    kept.add(pull.branch)
    if (!isLanding && isOwn(view, pull.pull.value.head.repo)) kept.add(pull.pull.value.head.branch)
  }
  return kept
}
