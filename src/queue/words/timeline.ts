/** What happened to a pull, line by line. */
import type { RunState } from '../runs.ts'
import type { Tone } from './labels.ts'
import { code, commit, type Phrase, say, who } from './phrase.ts'

/** People are DIDs, commits whole ids. */
export type TimelineParts =
  | { key: 'opened'; by: string; head: string }
  | { key: 'queued'; by: string; again: boolean; requeue?: { kind: string; attempt: number } | undefined }
  | { key: 'left'; by: string }
  | { key: 'ejected'; reason: string; says: Phrase }
  | { key: 'merged'; by: string; branch: string; commit?: string | undefined; there?: boolean | undefined }
  | { key: 'closed'; by: string }
  | { key: 'reopened'; by: string }
  | { key: 'check'; name: string; state: RunState; commit: string; branch: string }
  | { key: 'in-batch'; size: number; branch: string; base: string }

export function timelineWords(parts: TimelineParts): { tone: Tone | undefined; says: Phrase } {
  switch (parts.key) {
    case 'opened':
      return { tone: undefined, says: say`${who(parts.by)} opened it from ${code(parts.head)}` }
    case 'queued':
      return {
        tone: 'attention',
        says:
          parts.requeue === undefined
            ? say`${who(parts.by)} queued it${parts.again ? ' again' : ''}`
            : say`${who(parts.by)} put it back as the steward decided: ${parts.requeue.kind}, attempt ${parts.requeue.attempt} at this head`,
      }
    case 'left':
      return { tone: undefined, says: say`${who(parts.by)} took it out of the queue` }
    case 'ejected':
      return { tone: 'danger', says: say`Ejected: ${parts.reason}${parts.says.length === 0 ? [] : say`. ${parts.says}`}` }
    case 'merged': {
      const as = parts.commit === undefined ? say`` : say` as ${commit(parts.commit)}`
      if (parts.there === true) return { tone: 'done', says: say`Landed in ${parts.branch}${as}` }
      const marked = say`${who(parts.by)} marked it merged${as}`
      if (parts.there === false) return { tone: 'danger', says: say`${marked}, which is not on ${parts.branch}` }
      return { tone: 'accent', says: marked }
    }
    case 'closed':
      return { tone: 'danger', says: say`${who(parts.by)} closed it` }
    case 'reopened':
      return { tone: 'success', says: say`${who(parts.by)} opened it again` }
    case 'check':
      return checkWords(parts)
    case 'in-batch':
      return { tone: 'accent', says: say`In a batch of ${parts.size} on ${parts.branch} at ${commit(parts.base)}` }
  }
}

const RUNS: Readonly<Record<RunState, { says: string; tone: Tone | undefined }>> = {
  queued: { says: 'waits for a free job', tone: undefined },
  running: { says: 'is running', tone: 'accent' },
  passed: { says: 'passed', tone: 'success' },
  failed: { says: 'failed', tone: 'danger' },
  'no-verdict': { says: 'ended without a verdict', tone: 'attention' },
  cancelled: { says: 'was cancelled', tone: undefined },
  skipped: { says: 'was skipped', tone: undefined },
  reused: { says: 'passed before with the same tree', tone: 'success' },
  unknown: { says: 'did not pass', tone: 'attention' },
}

function checkWords(parts: Extract<TimelineParts, { key: 'check' }>): { tone: Tone | undefined; says: Phrase } {
  const run = RUNS[parts.state]
  return { tone: run.tone, says: say`${parts.name} ${run.says} at ${commit(parts.commit)} merged with ${parts.branch}` }
}
