/**
 * The rules of the gateway (GWY, PRO): one pure function for git push, mergePull, the Merge button and createCommit. It reads nothing and knows no
 * clock; what it is told was read at its sources for this very question (GWY-13), and a fact that is missing refuses.
 */
import { branchName, isRefName } from '../../../git/ref-names.ts'
import { repoOf } from '../../../queue/admission.ts'
import {
  type Force,
  forceRefused,
  namedTwice,
  noRunners,
  notARef,
  queueOnly,
  type Refusal,
  refMoved,
  type WriteAct,
} from '../../../queue/words/index.ts'
import type { GatewayQuestion, GatewayVerdict, MoveVerdict, RefMove } from '../types.ts'
import { actOf, type BranchUse, readUses, refNow, turnedAway } from './asked.ts'
import { judgeBatch } from './batch.ts'
import { forceFault } from './force.ts'
import { landedBeside, type MergeVerdict, mergedBy } from './landed.ts'
import { type Role, roleOf } from './roles.ts'

/** A verdict for each move, in their order. */
export function judgeGateway(question: GatewayQuestion): GatewayVerdict {
  const role = roleOf(question.view, question.caller)
  const act = actOf(question, role)
  const nameless = nameFault(question.moves, act)
  const all = turnedAway(question) ?? (role === 'lander' ? nameless.values().next().value : undefined)
  if (all !== undefined) return question.moves.map(() => no(all))
  const uses = readUses(question.view)
  if (role === 'lander') return judgeBatch(question, uses)
  const asker = { question, role, act, uses }
  const verdicts = new Map<RefMove, MoveVerdict>()
  for (const move of question.moves) {
    const refusal = nameless.get(move)
    if (refusal !== undefined) verdicts.set(move, no(refusal))
    else if (move.new !== null) verdicts.set(move, judgeMove(asker, move))
  }
  const passed = question.moves.filter(move => verdicts.get(move)?.ok === true)
  const spent = landedBeside(question, role, passed)
  return question.moves.map(move => verdicts.get(move) ?? judgeDeletion(asker, move, spent))
}

/** Somebody who may push, asking. */
interface Asker {
  question: GatewayQuestion
  role: Role
  act: WriteAct
  uses: (branch: string) => BranchUse
}

/** Names that are none, and names that come twice, by the move. */
function nameFault(moves: readonly RefMove[], act: WriteAct): ReadonlyMap<RefMove, Refusal> {
  const faults = new Map<RefMove, Refusal>()
  const times = Map.groupBy(moves, move => move.name)
  for (const move of moves) {
    if (!isRefName(move.name)) faults.set(move, notARef(act, move.name))
    else if ((times.get(move.name)?.length ?? 0) > 1) faults.set(move, namedTwice(act, move.name))
  }
  return faults
}

/** A ref that is made or moved. */
function judgeMove(asker: Asker, move: RefMove): MoveVerdict {
  const { question, role, act, uses } = asker
  const now = refNow(question, move)
  if (now !== move.old) return no(refMoved(act, move.name, { old: move.old, now }))
  const branch = branchName(move.name)
  if (branch === undefined) return judgeTag(asker, move, 'force')
  const use = uses(branch)
  const held = heldByQueue(asker, branch, use)
  if (held !== undefined) return no(held)
  if (move.old !== null && question.facts.get(move.name)?.forward !== true) {
    // GWY-5: whoever is let past the queue is let past it forwards.
    const fault = question.door === 'merge' || (role === 'lander-collaborator' && use.queueOnly) ? ({ why: 'landing' } as const) : undefined
    const refused = fault ?? forceFault(use, question.caller)
    if (refused !== undefined) return no(forceRefused(act, move.name, 'force', refused))
  }
  const merged: MergeVerdict = question.door === 'merge' ? mergedBy(question, move) : { ok: true, pulls: [] }
  return merged.ok ? { ok: true, as: standing(role, use), pulls: merged.pulls } : merged
}

/** A ref that is deleted. `spent` are the branches that this push may delete since it lands what they bring, with where each has to be. */
function judgeDeletion(asker: Asker, move: RefMove, spent: ReadonlyMap<string, { at: string }>): MoveVerdict {
  const { question, role, act, uses } = asker
  const now = refNow(question, move)
  if (now === null || now !== move.old) return no(refMoved(act, move.name, { old: move.old, now }))
  const branch = branchName(move.name)
  if (branch === undefined) return judgeTag(asker, move, 'delete')
  const use = uses(branch)
  if (spent.get(branch)?.at === now) return { ok: true, as: standing(role, use), pulls: [] }
  const held = heldByQueue(asker, branch, use)
  if (held !== undefined) return no(held)
  const fault = forceFault(use, question.caller)
  return fault === undefined ? { ok: true, as: standing(role, use), pulls: [] } : no(forceRefused(act, move.name, 'delete', fault))
}

/** GWY-5: a tag is made by whoever may push, and moved and deleted by the owner alone. */
function judgeTag({ question, role, act }: Asker, move: RefMove, force: Force): MoveVerdict {
  if (move.old === null || role === 'owner') return { ok: true, as: role === 'owner' ? 'owner' : 'collaborator', pulls: [] }
  return no(forceRefused(act, move.name, force, { why: 'tag', owner: question.view.roles.owner }))
}

/**
 * GWY-2, PRO-3 to PRO-5: what a queue-only branch is closed to. A merge is refused whoever asks for it: the owner has pushes of their own for
 * that, and the lander has batches.
 */
function heldByQueue({ question, role, act }: Asker, branch: string, use: BranchUse): Refusal | undefined {
  if (!use.queueOnly || (question.door !== 'merge' && role !== 'collaborator')) return undefined
  const { view } = question
  return view.roles.runners.length === 0 ? noRunners(repoOf(view), branch, act) : queueOnly(branch, act)
}

/** PRO-5: of collaborators only the lander gets to a queue-only branch; elsewhere it is a collaborator (GWY-9). */
function standing(role: Role, use: BranchUse): 'owner' | 'collaborator' | 'lander' {
  if (role === 'owner') return 'owner'
  return use.queueOnly ? 'lander' : 'collaborator'
}

function no(refusal: Refusal): MoveVerdict {
  return { ok: false, refusal }
}
