/** What the page of a run says beside its log. Times in milliseconds since 1970. */
import type { RunState } from '../runs.ts'
import { runLabels } from './labels.ts'
import { ago, capital, clock, commit, count, lasting, list, type Phrase, say, span } from './phrase.ts'
import { sizeWords } from './run.ts'

export interface RunParts {
  state: RunState
  filedAt: number
  startedAt?: number | undefined
  finishedAt?: number | undefined
  /** Why it was cancelled. */
  cause?: string | undefined
  /** What its report says, where it has one. */
  tests?: { failures: number; of: number } | undefined
}

/** How it went: the part in front, and what goes on after it. */
export function runResult({ state, filedAt, startedAt, finishedAt, cause, tests }: RunParts): { bold: string; says: Phrase } {
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
    default: {
      const after = afterWords({ startedAt, finishedAt })
      const failed =
        tests === undefined || tests.failures === 0
          ? ''
          : `${after === '' ? '' : ','} with ${grouped(tests.failures)} of ${testCount(tests.of)}`
      return { bold, says: say`${after}${failed}.` }
    }
  }
}

const begin = /^(?:Passed in|Failed after) \d+ (?:s|min|h|days)(?: \d+ min)?(?=[ ,.]|$)/

/** What the summary of a run says beyond how it ended and after how long, which stands beside it. */
export function summaryRest(summary: string): string {
  const rest = summary.replace(begin, '')
  if (rest === summary) return summary
  return capital(rest.replace(/^[\s,.]+/, ''))
}

/** " after 9 min"; nothing where it is not known. */
function afterWords({ startedAt, finishedAt }: Pick<RunParts, 'startedAt' | 'finishedAt'>): string {
  return startedAt === undefined || finishedAt === undefined ? '' : ` after ${span(finishedAt - startedAt)}`
}

function grouped(n: number): string {
  return n.toLocaleString('en')
}

function testCount(n: number): string {
  return `${grouped(n)} ${n === 1 ? 'test' : 'tests'}`
}

/** Of a report: what ran, where nothing failed; tests that passed on a retry. */
export function testsSay(tests: { failures: number; of: number; skipped: number } | undefined, retried: readonly string[]): Phrase {
  const skipped = tests === undefined || tests.skipped === 0 ? '' : `, ${grouped(tests.skipped)} skipped`
  const ran = tests === undefined || tests.failures > 0 ? say`` : say`${testCount(tests.of)}${skipped}.`
  if (retried.length === 0) return ran
  return say`${ran}${ran.length === 0 ? '' : ' '}${count(retried.length, 'test')} passed on a retry: ${list(retried)}.`
}

export type NoReport =
  | { why: 'gone' }
  | { why: 'broken' }
  | { why: 'busy' }
  | { why: 'unread'; host?: string | undefined }
  /** It was read, and its end is missing. */
  | { why: 'damaged' }

/** Why failed tests are not listed, or not all of them. */
export function noReportWords(parts: NoReport): Phrase {
  switch (parts.why) {
    case 'gone':
      return say`Its report is no longer there: its runner’s account has let go of it.`
    case 'broken':
      return say`Its report cannot be read: it is not JUnit XML, or too long.`
    case 'busy':
      return say`Its report is being read. Reload the page in a moment.`
    case 'unread':
      return say`Its report cannot be read now: ${parts.host ?? 'its runner’s server'} does not answer. Reload the page in a moment.`
    case 'damaged':
      return say`Its report breaks off, so there may be more.`
  }
}

/** Failed tests that a report counts and that are not listed. */
export function moreFailed(n: number): Phrase {
  return say`${grouped(n)} more failed; the log says which.`
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
  | { why: 'no-room' }
  /** It is long; so many lines of it were read so far. */
  | { why: 'reading'; lines: number }

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
    case 'no-room':
      return say`Its log cannot be shown now: this server has no room for it.`
    case 'reading':
      return say`Its log is long and is being read, ${grouped(parts.lines)} lines so far. It appears here by itself.`
  }
}

/** Said beside output that grows, and where some of it is not shown. */
export const logNotes = {
  live: say`New lines appear at the end by themselves.`,
  cutBefore(bytes: number): Phrase {
    return say`The ${sizeWords(bytes)} before this are not kept while it runs.`
  },
  long: say`The log goes on, and the rest is too long to be shown here.`,
  damaged: say`The log breaks off here: what comes after this cannot be unpacked.`,
}
