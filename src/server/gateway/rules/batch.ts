/** A push of a lander that may not push otherwise: a batch of queued pulls, whole or not at all (GWY-3, GWY-4, GWY-11). */
import { branchName } from '../../../git/ref-names.ts'
import { isOwn, type SpentBranch, spentBranches } from '../../../queue/spent.ts'
import type { RepositoryView } from '../../../queue/view.ts'
import { batchRefused, checksMissing, forceRefused, memberRefused, notKnown, type Refusal, refMoved } from '../../../queue/words/index.ts'
import type { GatewayQuestion, GatewayVerdict, RefMove } from '../types.ts'
import { type BranchUse, refNow } from './asked.ts'
import { type Brought, judgeChain, type Refused } from './chain.ts'
import { titled } from './force.ts'
import { headInBatches } from './members.ts'

type Uses = (branch: string) => BranchUse

/** Every move is let through as part of the batch, or every one is refused for the same reason. */
export function judgeBatch(question: GatewayQuestion, uses: Uses): GatewayVerdict {
  const { moves } = question
  const landing = landingOf(moves)
  if ('code' in landing) return moves.map(() => ({ ok: false, refusal: landing }))
  const judged = judgeLanding(question, landing, uses)
  if (!judged.ok) return moves.map(() => judged)
  const pulls = judged.brought.map(({ pull, commit }) => ({ pull: pull.pull.uri, commit }))
  return moves.map(move => ({ ok: true, as: 'batch', pulls: move === landing ? pulls : [] }))
}

/** The one branch that a batch moves, of a push that may only delete others beside. */
function landingOf(moves: readonly RefMove[]): RefMove | Refusal {
  const [landing, other] = moves.filter(isLanding)
  if (landing === undefined) {
    const made = moves.find(move => move.old === null && move.new !== null)
    if (made === undefined) return batchRefused({ what: 'not-moved' })
    const branch = branchName(made.name)
    return batchRefused(branch === undefined ? { what: 'other-ref', ref: made.name } : { what: 'makes-branch', branch })
  }
  const beside = other ?? moves.find(move => move !== landing && move.new !== null)
  return beside === undefined ? landing : batchRefused({ what: 'other-ref', ref: beside.name })
}

/** Whether a move takes a branch that is there to another commit. */
export function isLanding(move: RefMove): boolean {
  return branchName(move.name) !== undefined && move.old !== null && move.new !== null
}

function judgeLanding(question: GatewayQuestion, landing: RefMove, uses: Uses): { ok: true; brought: readonly Brought[] } | Refused {
  const { view, facts, moves } = question
  const now = refNow(question, landing)
  if (now !== landing.old) return { ok: false, refusal: refMoved('land', landing.name, { old: landing.old, now }) }
  const about = facts.get(landing.name)
  if (about?.forward !== true) return { ok: false, refusal: forceRefused('land', landing.name, 'force', { why: 'landing' }) }
  const branch = branchName(landing.name) ?? ''
  const olds = new Map(moves.map(move => [branchName(move.name), move.old]))
  const chain = judgeChain(view, landing, about, {
    branch,
    pinned: uses(branch).pinned,
    mayMerge: did => view.roles.mayMerge(did),
    squashed(pull, commit) {
      const { head } = pull.pull.value
      const old = isOwn(view, head.repo) ? olds.get(head.branch) : undefined
      return old ?? headInBatches(view.branches.get(branch), pull.pull.uri, commit)
    },
  })
  if (!chain.ok) return chain
  const refusal = besideRefused(question, chain.brought) ?? checksRefused(about.checks, branch, landing)
  return refusal === undefined ? chain : refusal
}

/** LND-4: beside the branch only the spent head branches of the batch's own pulls are deleted, each at the commit that was squashed. */
function besideRefused(question: GatewayQuestion, brought: readonly Brought[]): Refused | undefined {
  const spent = spentBy(question.view, brought)
  for (const move of question.moves) {
    if (move.new !== null) continue
    const found = spent.get(branchName(move.name) ?? '')
    const pull = question.view.pulls.get(found?.pull ?? '')
    if (found === undefined || pull === undefined) return { ok: false, refusal: batchRefused({ what: 'other-ref', ref: move.name }) }
    if (found.at === move.old && found.at === refNow(question, move)) continue
    return { ok: false, refusal: memberRefused(titled(pull), { what: 'head-moved', head: found.at }), pull: found.pull }
  }
  return undefined
}

/** The head branches that are spent once these have landed, by name. */
export function spentBy(view: RepositoryView, brought: readonly Brought[]): ReadonlyMap<string, SpentBranch> {
  const landing = brought.map(({ pull }) => ({ pull: pull.pull.uri, head: pull.head ?? '' }))
  return new Map(spentBranches(view, landing).map(one => [one.branch, one]))
}

function checksRefused(checks: { missing: readonly { workflow: string; status: string }[] } | undefined, branch: string, landing: RefMove) {
  if (checks === undefined) return { ok: false, refusal: notKnown('land', 'the checks at its tip') } as const
  if (checks.missing.length === 0) return undefined
  return { ok: false, refusal: checksMissing(branch, landing.new ?? '', checks.missing) } as const
}
