/** What may be forced or deleted (GWY-5). */
import type { PullView } from '../../../queue/view.ts'
import type { ForceFault, Titled } from '../../../queue/words/index.ts'
import type { BranchUse } from './asked.ts'

/**
 * Why a branch may not be moved backwards or deleted by `caller`; undefined where it may. It holds the owner as well: a mishap through this server
 * is as bad as anybody's, and to their own account they can push without it. A branch is somebody else's while an open pull of another author has
 * it as its head; no record says more about who made a branch.
 */
export function forceFault(use: BranchUse, caller: string): ForceFault | undefined {
  if (use.isDefault) return { why: 'default' }
  if (use.hasRule) return { why: 'rule' }
  const [target] = use.targetedBy
  if (target !== undefined) return { why: 'target', pull: titled(target), more: use.targetedBy.length - 1 }
  const needed = use.broughtBy.find(pull => pull.pull.did !== caller)
  return needed === undefined ? undefined : { why: 'head', pull: titled(needed) }
}

/** A pull as sentences name it. */
export function titled(pull: PullView): Titled {
  return { title: pull.pull.value.title, pull: pull.pull.uri }
}
