/** Whether a move has nothing left to do (GWY-15): a landing or push that is asked for again once it is true. */
import { isRefName } from '../../../git/ref-names.ts'
import type { RefMove } from '../types.ts'

/**
 * True when the ref is at the new commit, or gone, by the refs of the record. For askers whom the rules let ask at all (`turnedAway`); it says
 * nothing of whether they may have done it. A name that can be none is never gone.
 */
export function isDone(refs: ReadonlyMap<string, string>, move: RefMove): boolean {
  return isRefName(move.name) && (refs.get(move.name) ?? null) === move.new && move.old !== move.new
}
