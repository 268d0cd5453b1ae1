import { type AtUri, type Did, makeAtUri, parseAtUri } from '../../atproto/ids.ts'
import { isAncestor } from '../../git/chain.ts'
import { readCommits } from '../../git/commit-objects.ts'
import { mergePairs } from '../../git/merge-pairs.ts'
import type { Mirror } from '../../git/mirror.ts'
import { openQuarantine } from '../../git/quarantine.ts'
import { lastLineOf } from '../../git/squash.ts'
import type { PullView } from '../../queue/view.ts'
import type { GatewayContext } from './context.ts'
import type { Ground } from './gather.ts'
import { bringMirror } from './mirror.ts'

/** How a pull landed. */
export interface Landed {
  commit: string
  /** The merged state. */
  uri: AtUri
}

/**
 * GWY-15: how a pull that is merged already landed, if it landed for this caller and with this head; undefined where it did not. The commit on the
 * branch tells: its committer is who merged, its last line names the pull, and merging the head onto its parent gives its tree.
 */
export async function landedBefore(
  ctx: GatewayContext,
  asked: { ground: Ground; pull: PullView; caller: Did; head?: string | undefined },
): Promise<Landed | undefined> {
  const { ground, pull, caller, head } = asked
  const { found, refs, repo } = ground
  const commit = pull.stateRecord?.value.commit
  const tip = refs?.refs.find(row => row.name === `refs/heads/${pull.branch}`)?.commit
  const address = parseAtUri(pull.stateRecord?.uri)
  if (commit === undefined || tip === undefined || address === undefined || found.record === undefined) return undefined
  const brought = await bringMirror(ctx, repo, found.record)
  if (!brought.ok) return undefined
  const [[landed], onBranch] = await Promise.all([readCommits(brought.mirror, [commit]), isAncestor(brought.mirror, commit, tip)])
  if (landed === undefined || !onBranch.ok || !onBranch.ancestor) return undefined
  const parent = landed.parents[0]
  if (!landed.committer.toString('latin1').startsWith(`committer ${caller} <`) || parent === undefined) return undefined
  if (lastLineOf(landed.message) !== pull.pull.uri) return undefined
  if (head !== undefined && !(await isSquashOf(ctx, brought.mirror, { pull, head, parent, tree: landed.tree }))) return undefined
  return { commit, uri: makeAtUri(address.did, address.collection, address.rkey) }
}

async function isSquashOf(
  ctx: GatewayContext,
  target: Mirror,
  of: { pull: PullView; head: string; parent: string; tree: string },
): Promise<boolean> {
  const source = await ctx.mirrors.of(of.pull.pull.value.head.repo)
  const place = await openQuarantine(target, source.objects === target.objects ? [] : [source.objects])
  try {
    const merged = await mergePairs({ dir: target.dir, env: place.env }, [{ onto: of.parent, head: of.head }])
    const outcome = merged.ok ? merged.outcomes[0] : undefined
    return outcome?.applies === true && outcome.tree === of.tree
  } finally {
    await place.close()
  }
}
