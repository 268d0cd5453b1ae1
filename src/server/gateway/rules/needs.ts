/** What has to be asked of git and of the lander's account before a move can be judged: as little as the rules need. */
import { branchName } from '../../../git/ref-names.ts'
import type { RefMove } from '../types.ts'
import { type Asked, readUses, refNow, turnedAway } from './asked.ts'
import { isLanding } from './batch.ts'
import { forceFault } from './force.ts'
import { roleOf } from './roles.ts'

/** Whether `MoveFacts.forward` is needed: of every ref that is there and stays. */
export function needsForward(asked: Asked, move: RefMove): boolean {
  return move.old !== null && move.new !== null && refNow(asked, move) === move.old && turnedAway(asked) === undefined
}

/**
 * Whether `MoveFacts.chain` (and `baseTree`) is needed: for a batch, for a merge, and where a push deletes the head branch of somebody's open pull,
 * which it may once it lands that pull.
 */
export function needsChain(asked: Asked, move: RefMove): boolean {
  if (!isLanding(move) || !needsForward(asked, move)) return false
  if (isLander(asked) || asked.door === 'merge') return true
  const deletions = asked.moves.filter(other => other.new === null)
  if (deletions.length === 0) return false
  const uses = readUses(asked.view)
  return deletions.some(other => forceFault(uses(branchName(other.name) ?? ''), asked.caller)?.why === 'head')
}

/** Whether the gateway has to merge each commit's pull itself (`ChainCommit.merged`): what it made itself, or takes from the lander as it is, it need not. */
export function needsMerges(asked: Asked, move: RefMove): boolean {
  const role = roleOf(asked.view, asked.caller)
  return asked.door === 'push' && (role === 'lander' || role === 'collaborator') && needsChain(asked, move)
}

/** Whether `MoveFacts.checks` is needed (GWY-11): of batches. */
export function needsChecks(asked: Asked, move: RefMove): boolean {
  return isLander(asked) && needsChain(asked, move)
}

function isLander(asked: Asked): boolean {
  return roleOf(asked.view, asked.caller) === 'lander'
}
