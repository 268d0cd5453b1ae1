/** What is landed by those who may push: the pull of a merge, and pulls that pushed commits name, whose spent head branches may go with it (LND-4). */
import { branchName } from '../../../git/ref-names.ts'
import type { SpentBranch } from '../../../queue/spent.ts'
import { tidMillis } from '../../../queue/tid.ts'
import { isDraft, notKnown, pullNotFound, pullNotOpen, retargeted } from '../../../queue/words/index.ts'
import type { ChainCommit, GatewayQuestion, MoveVerdict, RefMove } from '../types.ts'
import { isLanding, spentBy } from './batch.ts'
import { type Brought, pullOf, type Refused } from './chain.ts'
import type { Role } from './roles.ts'

export type MergeVerdict = { ok: true; pulls: Extract<MoveVerdict, { ok: true }>['pulls'] } | Refused

/**
 * A merge of one pull: the one commit that the gateway made on the tip names a pull that is open, no draft, and onto this branch. It need not be
 * queued (LND-14).
 */
export function mergedBy(question: GatewayQuestion, move: RefMove): MergeVerdict {
  const chain = commitsOf(question, move)
  const [commit] = chain
  if (commit === undefined || chain.length > 1 || commit.id !== move.new || commit.parents.length !== 1 || commit.parents[0] !== move.old) {
    return { ok: false, refusal: notKnown('merge', 'what it brings') }
  }
  const pull = pullOf(question.view, commit)
  if ('what' in pull) return { ok: false, refusal: pullNotFound(), commit: commit.id }
  const about = { commit: commit.id, pull: pull.pull.uri }
  if (pull.state !== 'open') {
    const at = pull.stateRecord === undefined ? undefined : tidMillis(pull.stateRecord.rkey)
    return { ok: false, refusal: pullNotOpen('merge', pull.state, at), ...about }
  }
  if (pull.draft) return { ok: false, refusal: isDraft('merge'), ...about }
  if (pull.branch !== branchName(move.name)) return { ok: false, refusal: retargeted(pull.branch), ...about }
  return { ok: true, pulls: [about] }
}

/**
 * The head branches that are spent by moves that were let through, by name. What a collaborator pushed has to be what merging the pull gives: else a
 * commit that only names a pull would do away with somebody's work.
 */
export function landedBeside(question: GatewayQuestion, role: Role, passed: readonly RefMove[]): ReadonlyMap<string, SpentBranch> {
  const isSquash = (commit: ChainCommit) => commit.merged?.kind === 'clean' && commit.merged.tree === commit.tree
  const needsProof = role === 'collaborator' && question.door === 'push'
  const brought: Brought[] = []
  for (const move of passed.filter(isLanding)) {
    for (const commit of commitsOf(question, move)) {
      const pull = pullOf(question.view, commit)
      if ('what' in pull || pull.branch !== branchName(move.name)) continue
      if (!needsProof || isSquash(commit)) brought.push({ pull, commit: commit.id })
    }
  }
  return spentBy(question.view, brought)
}

function commitsOf(question: GatewayQuestion, move: RefMove): readonly ChainCommit[] {
  const chain = question.facts.get(move.name)?.chain
  return typeof chain === 'object' ? chain : []
}
