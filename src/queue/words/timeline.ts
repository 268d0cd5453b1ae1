/** What happened to a pull, line by line. */
import type { RunState } from '../runs.ts'
import type { Tone } from './labels.ts'
import { code, commit, list, type Phrase, say, who } from './phrase.ts'
import { type DropSaid, dropWhy } from './runner.ts'
import { decisionWords, requeueWords } from './steward.ts'

/** How a pull moved on under a batch that it was in. */
export type MovedOn = 'left' | 'ejected' | 'closed' | 'merged' | 'draft' | 'retargeted' | 'head' | 'gone'

/** People are DIDs, commits whole ids. */
export type TimelineParts =
  | { key: 'opened'; by: string; head: string }
  | { key: 'queued'; by: string; again: boolean; head?: string | undefined; requeue?: { kind: string; attempt: number } | undefined }
  | { key: 'left'; by: string }
  | { key: 'ejected'; reason: string; says: Phrase }
  | { key: 'merged'; by: string; branch: string; commit?: string | undefined; there?: boolean | undefined }
  | { key: 'closed'; by: string }
  | { key: 'reopened'; by: string }
  | { key: 'check'; name: string; state: RunState; commit: string; branch: string }
  /** `ahead`: on top of a batch that was not decided yet. */
  | { key: 'in-batch'; size: number; branch: string; base: string; ahead?: boolean | undefined }
  /** `moved`: the pull that moved on; without a title the one that the timeline is of. */
  | {
      key: 'dropped'
      size: number
      branch: string
      cause?: DropSaid | undefined
      moved?: { pull?: { title: string; pull: string } | undefined; how: MovedOn } | undefined
    }
  | { key: 'batch-failed'; size: number; names: readonly string[]; verdict: boolean }
  | { key: 'decided'; verdict: string; kind: string; attempt: number; assertion?: string | undefined; entry?: string | undefined }

export function timelineWords(parts: TimelineParts): { tone: Tone | undefined; says: Phrase } {
  switch (parts.key) {
    case 'opened':
      return { tone: undefined, says: say`${who(parts.by)} opened it from ${code(parts.head)}` }
    case 'queued':
      return {
        tone: 'attention',
        says:
          parts.requeue === undefined
            ? say`${who(parts.by)} queued it${parts.again ? ' again' : ''}${parts.head === undefined ? '' : say` at ${commit(parts.head)}`}`
            : requeueWords(parts.requeue),
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
      return {
        tone: 'accent',
        says:
          parts.ahead === true
            ? say`In a batch of ${parts.size} ahead, on top of the one being checked at ${commit(parts.base)}`
            : say`In a batch of ${parts.size} on ${parts.branch} at ${commit(parts.base)}`,
      }
    case 'dropped':
      return { tone: undefined, says: say`Its batch of ${parts.size} was dropped: ${droppedWhy(parts)}` }
    case 'batch-failed':
      return parts.verdict
        ? { tone: 'danger', says: say`Its batch of ${parts.size} failed: ${list(parts.names)}` }
        : { tone: 'attention', says: say`Its batch of ${parts.size} ended without a verdict: ${list(parts.names)}` }
    case 'decided':
      return decidedWords(parts)
  }
}

const MOVED: Readonly<Record<MovedOn, string>> = {
  left: 'left the queue',
  ejected: 'was turned away',
  closed: 'was closed',
  merged: 'was merged',
  draft: 'became a draft',
  retargeted: 'was put onto another branch',
  head: 'got a new head',
  gone: 'is gone',
}

function droppedWhy({ cause, moved, branch }: Extract<TimelineParts, { key: 'dropped' }>): Phrase {
  if (moved === undefined) return dropWhy(cause, branch)
  return moved.pull === undefined ? say`it ${MOVED[moved.how]}` : say`“${moved.pull}” ${MOVED[moved.how]}`
}

function decidedWords(parts: Extract<TimelineParts, { key: 'decided' }>): { tone: Tone | undefined; says: Phrase } {
  const { label, says } = decisionWords(parts)
  if (parts.verdict === 'requeue') return { tone: label.tone, says: say`The steward: ${label.word.toLowerCase()} ${says}` }
  if (parts.verdict === 'reject') return { tone: label.tone, says: say`The steward rejected it: ${says}` }
  return { tone: label.tone, says: say`The steward: ${says}` }
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
