/** What happened to a queue, line by line; the pull that a line is about follows it. */
import type { Tone } from './labels.ts'
import { commit, list, type Phrase, say, who } from './phrase.ts'
import { type DropSaid, dropWhy } from './runner.ts'
import { requeueWords } from './steward.ts'

/** People are DIDs, commits whole ids. */
export type ActivityParts =
  | { kind: 'queued'; by: string; again: boolean; requeue?: { kind: string; attempt: number } | undefined }
  | { kind: 'left'; by: string }
  | { kind: 'ejected'; reason: string }
  | { kind: 'merged'; by: string }
  | { kind: 'closed'; by: string }
  | { kind: 'reopened'; by: string }
  | { kind: 'built'; by: string; size: number; base: string; ahead: boolean }
  | { kind: 'landed'; size: number; branch: string; tip: string }
  | { kind: 'failed'; size: number; names: readonly string[]; verdict: boolean }
  | { kind: 'dropped'; size: number; branch: string; cause?: DropSaid | undefined }
  | { kind: 'rejected' }
  | { kind: 'started'; by: string }
  | { kind: 'stopped'; by: string }

/** What a line of the activity says, before its pull, and its tone. */
export function activityWords(parts: ActivityParts): { tone: Tone | undefined; says: Phrase } {
  switch (parts.kind) {
    case 'queued':
      if (parts.requeue !== undefined) return { tone: 'attention', says: [...requeueWords(parts.requeue)] }
      return { tone: undefined, says: say`${who(parts.by)} queued${parts.again ? ' again' : ''}` }
    case 'left':
      return { tone: undefined, says: say`${who(parts.by)} took out` }
    case 'ejected':
      return { tone: 'danger', says: say`Ejected, ${parts.reason}` }
    case 'merged':
      return { tone: 'done', says: say`${who(parts.by)} merged` }
    case 'closed':
      return { tone: undefined, says: say`${who(parts.by)} closed` }
    case 'reopened':
      return { tone: undefined, says: say`${who(parts.by)} opened again` }
    case 'built':
      return {
        tone: 'accent',
        says: parts.ahead
          ? say`${who(parts.by)} built a batch of ${parts.size} ahead`
          : say`${who(parts.by)} built a batch of ${parts.size} on ${commit(parts.base)}`,
      }
    case 'landed':
      return { tone: 'done', says: say`Landed: a batch of ${parts.size}, ${parts.branch} is at ${commit(parts.tip)}` }
    case 'failed':
      return parts.verdict
        ? { tone: 'danger', says: say`A batch of ${parts.size} failed: ${list(parts.names)}` }
        : { tone: 'attention', says: say`A batch of ${parts.size} ended without a verdict: ${list(parts.names)}` }
    case 'dropped':
      return { tone: 'attention', says: say`A batch of ${parts.size} was dropped: ${dropWhy(parts.cause, parts.branch)}` }
    case 'rejected':
      return { tone: 'danger', says: say`The steward rejected` }
    case 'started':
      return { tone: undefined, says: say`${who(parts.by)} started` }
    case 'stopped':
      return { tone: 'attention', says: say`${who(parts.by)} was stopped` }
  }
}
