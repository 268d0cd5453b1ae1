/** What the audit log keeps of a verdict (GWY-6). */
import { type Phrase, refusedAs, takenFromIndex, writtenAs } from '../../../queue/words/index.ts'
import type { MoveVerdict, RefMove } from '../types.ts'

/** As whom a move was let through, or why not; with the code of a refusal. `note` says what was taken from the index (GWY-13). */
export function auditReason(
  verdict: MoveVerdict,
  move: RefMove,
  fromIndex: readonly string[] = [],
): { reason: Phrase; code?: string | undefined; note?: Phrase | undefined } {
  const note = takenFromIndex(fromIndex)
  if (!verdict.ok) return { reason: refusedAs(verdict.refusal), code: verdict.refusal.code, note }
  return { reason: writtenAs(verdict.as === 'batch' && move.new === null ? 'spent' : verdict.as, verdict.pulls.length), note }
}
