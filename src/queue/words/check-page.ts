/** What the page of a run says beside its log. Times in milliseconds since 1970. */
import type { RunState } from '../runs.ts'
import { runLabels } from './labels.ts'
import { ago, clock, commit, lasting, type Phrase, say, span } from './phrase.ts'
import { sizeWords } from './run.ts'

export interface RunParts {
  state: RunState
  filedAt: number
  startedAt?: number | undefined
  finishedAt?: number | undefined
  /** Why it was cancelled. */
  cause?: string | undefined
}

/** How it went: the part in front, and what goes on after it. */
export function runResult({ state, filedAt, startedAt, finishedAt, cause }: RunParts): { bold: string; says: Phrase } {
  const bold = runLabels[state].word
  const took = startedAt === undefined || finishedAt === undefined ? undefined : span(finishedAt - startedAt)
  switch (state) {
    case 'queued':
      return { bold, says: say` for ${lasting(filedAt)}: it waits for a free job of its runner.` }
    case 'running':
      return { bold, says: startedAt === undefined ? say`.` : say` for ${lasting(startedAt)}.` }
    case 'passed':
      return { bold, says: took === undefined ? say`.` : say` in ${took}.` }
    case 'reused':
      return { bold, says: say`: an earlier run of the same files passed, and its result was taken over.` }
    case 'skipped':
      return { bold, says: say`: nothing that it looks at was changed.` }
    case 'cancelled':
      return { bold, says: cause === undefined || cause === '' ? say`.` : say`: ${cause}` }
    default:
      return { bold, says: took === undefined ? say`.` : say` after ${took}.` }
  }
}

/** When it began and ended. */
export function runTimes({ startedAt, finishedAt }: RunParts, now: number): Phrase {
  if (startedAt === undefined) return []
  const began = say`Started ${clock(startedAt, now)}`
  return finishedAt === undefined ? say`${began}, ${ago(startedAt)}.` : say`${began}, ended ${clock(finishedAt, now)}, ${ago(finishedAt)}.`
}

/** What ran: on top of what. */
export function ranOn(tip: string, base: string | undefined): Phrase {
  return base === undefined ? say`at ${commit(tip)}` : say`at ${commit(tip)} on ${commit(base)}`
}

export type NoLog =
  | { why: 'going' }
  | { why: 'none' }
  /** It ended a moment ago: its log is on its way. */
  | { why: 'coming' }
  | { why: 'gone' }
  | { why: 'broken' }
  | { why: 'busy' }
  | { why: 'unread'; host?: string | undefined }

/** Why there is no output to show. */
export function noLogWords(parts: NoLog): Phrase {
  switch (parts.why) {
    case 'going':
      return say`It has printed nothing yet.`
    case 'none':
      return say`It has no log.`
    case 'coming':
      return say`Its log is not there yet: its runner uploads it once it can.`
    case 'gone':
      return say`Its log is no longer there: its runner’s account has let go of it.`
    case 'broken':
      return say`Its log cannot be read: it is not what a log should be.`
    case 'busy':
      return say`Too many logs are being read just now. Reload the page in a moment.`
    case 'unread':
      return say`Its log cannot be read now: ${parts.host ?? 'its runner’s server'} does not answer. Reload the page in a moment.`
  }
}

/** Said beside output that grows, and where some of it is not shown. */
export const logNotes = {
  live: say`New lines appear at the end by themselves.`,
  cutBefore(bytes: number): Phrase {
    return say`The ${sizeWords(bytes)} before this are not kept while it runs.`
  },
  cutAfter: say`The log goes on, and the rest is too long for this page.`,
}
