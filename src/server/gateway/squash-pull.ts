import type { Did } from '../../atproto/ids.ts'
import { readCommits, writeCommit } from '../../git/commit-objects.ts'
import { mergePairs } from '../../git/merge-pairs.ts'
import type { Mirror } from '../../git/mirror.ts'
import { openQuarantine } from '../../git/quarantine.ts'
import { squashCommit, squashMessage } from '../../git/squash.ts'
import { mayPass } from '../../indexer/read.ts'
import { headRepoOf } from '../../queue/admission.ts'
import { isOwn } from '../../queue/spent.ts'
import type { PullView } from '../../queue/view.ts'
import { nothingToLand } from '../../queue/words/gateway.ts'
import { conflict, notMergeable, type Refusal } from '../../queue/words/refusals.ts'
import { gitRefused, repositoryUnreadable } from '../../queue/words/writing.ts'
import type { GatewayContext } from './context.ts'
import type { Ground } from './gather.ts'
import { bringMirror } from './mirror.ts'
import type { ChainCommit } from './types.ts'

/** The squash of a pull as the gateway made it. Its objects lie where `env` finds them, until it is closed. */
export interface Squashed {
  ok: true
  mirror: Mirror
  env: Readonly<Record<string, string>>
  /** The commit, as the rules are told of it. */
  commit: ChainCommit
  baseTree: string
  message: string
  close(): Promise<void>
}

interface SquashAsked {
  ground: Ground
  pull: PullView
  tip: string
  head: string
  /** Who merges: the commit's committer. */
  caller: Did
}

/** Merges a pull's head onto a tip and makes the commit of it (BLD-3), in a place of its own. Refused: a conflict, and what would change nothing (BLD-8). */
export async function squashPull(ctx: GatewayContext, asked: SquashAsked): Promise<Squashed | { ok: false; refusal: Refusal }> {
  const { ground, pull } = asked
  const { repo: headRepo } = pull.pull.value.head
  const own = isOwn(ground.view, headRepo)
  const [target, source] = await Promise.all([
    bringMirror(ctx, ground.repo, ground.found.record),
    own ? undefined : bringMirror(ctx, headRepo, ground.sources.get(headRepo)),
  ])
  if (!target.ok) return { ok: false, refusal: repositoryUnreadable('merge', ground, target) }
  if (source?.ok === false) {
    const at = { branch: pull.branch, repo: headRepoOf(ground.view, pull) }
    return { ok: false, refusal: notMergeable('merge', { of: 'head', ...source, passing: mayPass(source.code) }, at) }
  }
  const { mirror } = target
  const quarantine = await openQuarantine(mirror, source === undefined ? [] : [source.mirror.objects])
  let made: Squashed | { ok: false; refusal: Refusal } | undefined
  try {
    made = await squashIn(asked, mirror, quarantine.env, () => quarantine.close())
    return made
  } finally {
    if (made?.ok !== true) await quarantine.close()
  }

  async function squashIn(
    { tip, head, caller }: SquashAsked,
    mirror: Mirror,
    env: Record<string, string>,
    close: () => Promise<void>,
  ): Promise<Squashed | { ok: false; refusal: Refusal }> {
    const place = { dir: mirror.dir, env }
    const [merged, [base, last]] = await Promise.all([mergePairs(place, [{ onto: tip, head }]), readCommits(place, [tip, head])])
    const outcome = merged.ok ? merged.outcomes[0] : { applies: null, unread: merged }
    if (outcome === undefined || base === undefined || last === undefined || outcome.applies === null) {
      const fault = outcome?.applies === null ? outcome.unread : { code: 'failed', message: '' }
      const at = { branch: pull.branch, repo: headRepoOf(ground.view, pull) }
      return { ok: false, refusal: notMergeable('merge', { of: 'merge', ...fault, passing: mayPass(fault.code) }, at) }
    }
    if (!outcome.applies) {
      const { conflicts: files, moreConflicts: more } = outcome
      return { ok: false, refusal: conflict('merge', { branch: pull.branch, tip, files, more }) }
    }
    if (outcome.tree === base.tree) return { ok: false, refusal: nothingToLand('merge', pull.branch, tip) }
    const { value, uri } = pull.pull
    const text = { title: value.title, body: value.body, branch: value.head.branch, pull: uri }
    const time = Math.floor(ctx.now() / 1000)
    const written = await writeCommit(
      place,
      squashCommit({ ...text, tree: outcome.tree, parent: tip, head: last, committer: caller, time }),
    )
    if (!written.ok) return { ok: false, refusal: gitRefused('merge', written) }
    const { tree } = outcome
    const commit = { id: written.id, parents: [tip], tree, lastLine: uri, clean: true, merged: { kind: 'clean' as const, tree } }
    return { ok: true, mirror, env, commit, baseTree: base.tree, message: squashMessage(text), close }
  }
}
