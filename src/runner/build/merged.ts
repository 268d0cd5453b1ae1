/** Heads of pulls merged with commits of their branch, for pull runs and pre-flights (PRE-7, PRE-9). */
import { mergeTrees } from '../../git/merge-trees.ts'
import type { Mirror } from '../../git/mirror.ts'
import { type GitRefusal, refuse } from '../../git/refusal.ts'
import { words } from '../../git/words.ts'
import type { Ground } from '../types.ts'
import { findHeads, type HeadsDeps, refusalOf } from './heads.ts'

export type MergedHead = { ok: true; tree: string } | { ok: false; why: 'conflict'; files: readonly string[] } | GitRefusal

/** What each merge gives, in the order asked; trees of clean ones are in the mirror. A head that cannot be had keeps no other from it. */
export async function mergeHeads(
  deps: HeadsDeps,
  ground: Ground,
  mirror: Mirror,
  asked: readonly { pull: string; head: string; tip: string }[],
): Promise<MergedHead[]> {
  const outcomes: MergedHead[] = asked.map(({ head }) => refuse('missing-commit', words.missingCommit(head)))
  // What a fork lacks is told apart from one tip on; there is one for each branch.
  for (const tip of new Set(asked.map(one => one.tip))) {
    const some = [...asked.entries()].flatMap(([at, one]) => {
      const pull = one.tip === tip ? ground.view.pulls.get(one.pull) : undefined
      return pull === undefined ? [] : [{ at, pull, head: one.head }]
    })
    const found = await findHeads(deps, { ground, mirror, base: tip, pulls: some.map(({ pull, head }) => ({ pull, at: head })) })
    const ready = some.flatMap((one, n) => {
      const head = found[n]
      if (head?.ok === false) outcomes[one.at] = refusalOf(head.left)
      return head?.ok === true ? [{ at: one.at, head: head.head }] : []
    })
    const merged = await mergeTrees(mirror, { onto: tip, heads: ready.map(({ head }) => head), checked: deps.checked })
    for (const [n, { at }] of ready.entries()) {
      const outcome = merged[n]
      if (outcome === undefined) continue
      if (outcome.applies === null) outcomes[at] = outcome.unread
      else outcomes[at] = outcome.applies ? { ok: true, tree: outcome.tree } : { ok: false, why: 'conflict', files: outcome.conflicts }
    }
  }
  return outcomes
}
