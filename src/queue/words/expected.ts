/** How long things take, and when something lands, in words: ranges with what they go by, never a false minute. */
import type { RunState } from '../runs.ts'
import { lasting, type Phrase, type PhrasePart, say, span } from './phrase.ts'
import { rangeText } from './range.ts'

const MINUTE = 60_000

/** When something lands: "in 8–10 min", which ticks on a page. Times in milliseconds since 1970. */
export function landsIn(from: number, to: number): PhrasePart {
  return { from, until: to }
}

/** What an estimate goes by. */
export function basisWords(batches: number): Phrase {
  return say`from the last ${batches} batches that passed`
}

/** The same said once, of a list of estimates. */
export function basisSentence(basis: Phrase): Phrase {
  return say`Landing times come ${basis}.`
}

const CONDITIONS = { so: ' if so', below: ', if the one below does' } as const

/** When something lands: a range with what it goes by, or why there is none. `only`: on what that hangs, as said before it or of the batch below. */
export function landsWords(
  expected: { from: number; to: number; basis?: Phrase | undefined } | { none: Phrase },
  only?: keyof typeof CONDITIONS | undefined,
): Phrase {
  if ('none' in expected) return expected.none
  const { from, to, basis } = expected
  return say`Lands ${landsIn(from, to)}${only === undefined ? '' : CONDITIONS[only]}${basis === undefined ? '' : say`, ${basis}`}.`
}

/** The same beside the name of a batch; `ahead`: it stands on another. */
export function batchLandsWords({ from, to }: { from: number; to: number }, ahead: boolean): Phrase {
  return say`lands ${landsIn(from, to)}${ahead ? CONDITIONS.below : ''}`
}

/** In the place of a range, where the reason is said elsewhere. */
export const noEstimate = 'no estimate'

/** Why there is no estimate. */
export type NoEstimate =
  /** Too few batches to go by. */
  | { key: 'few'; passed: number; needed: number }
  | { key: 'failing'; passed: number; of: number }
  /** It has taken longer than any that passed. */
  | { key: 'later'; of: number }
  | { key: 'silent' }
  | { key: 'blocked' }
  | { key: 'unnamed' }
  | { key: 'halving' }
  | { key: 'red' }
  | { key: 'held' }
  | { key: 'conflict' }

/** The sentence that gives the reason. */
export function noEstimateWords(parts: NoEstimate): Phrase {
  return say`No estimate: ${because(parts)}.`
}

function because(parts: NoEstimate): string {
  switch (parts.key) {
    case 'few':
      return parts.passed === 0
        ? 'no batch has passed here yet'
        : `only ${parts.passed} ${parts.passed === 1 ? 'batch has' : 'batches have'} passed here lately, and ${parts.needed} are needed`
    case 'failing':
      return `only ${parts.passed} of the last ${parts.of} batches passed`
    case 'later':
      return `it takes longer than any of the last ${parts.of} batches`
    case 'silent':
      return 'no lander is seen'
    case 'blocked':
      return 'nothing lands here for now'
    case 'unnamed':
      return 'who lands here is not named, so its batches are not known'
    case 'halving':
      return 'a failed batch is checked in halves'
    case 'red':
      return 'a check of its batch failed, which is not decided yet'
    case 'conflict':
      return 'it does not apply on its branch as it is'
    case 'held':
      return 'it hangs on what becomes of a pull ahead of it'
  }
}

/** What is said of a batch in flight while its lander is not seen. */
export function silentBatchWords(): Phrase {
  return say`Its checks said nothing since the runner was last seen. When a runner starts again it builds this batch afresh; the pulls keep their places.`
}

/** How long a run usually takes: spans in milliseconds. */
export interface UsualSpan {
  from: number
  typical: number
  to: number
}

export interface RunSays {
  state: RunState
  /** Times in milliseconds since 1970. */
  startedAt?: number | undefined
  finishedAt?: number | undefined
  verdict?: string | undefined
  usual?: UsualSpan | undefined
  now: number
  /** When whoever runs it was last seen, where that is too long ago. */
  silentSince?: number | undefined
}

/** How a run of a batch goes, beside its name: what it took, or has taken, and what it usually takes. */
export function runWords({ state, startedAt, finishedAt, verdict, usual, now, silentSince }: RunSays): Phrase {
  const took = startedAt === undefined || finishedAt === undefined || finishedAt < startedAt ? undefined : exact(finishedAt - startedAt)
  switch (state) {
    case 'queued':
      return silentSince === undefined ? say`waits for a free job` : say`not started`
    case 'running':
      if (startedAt === undefined) return say`running`
      if (silentSince !== undefined) return say`silent after ${span(Math.max(0, silentSince - startedAt))}`
      if (usual === undefined) return say`running for ${lasting(startedAt)}`
      if (now - startedAt > usual.to) return say`${lasting(startedAt)}, usually ${rangeText(usual.from, usual.to)}`
      return say`${lasting(startedAt)} of about ${roughly(usual.typical)}`
    case 'passed':
      return took === undefined ? say`passed` : say`passed in ${took}`
    case 'failed':
      return took === undefined ? say`failed` : say`failed after ${took}`
    case 'reused':
      return say`passed before with the same tree`
    case 'no-verdict':
      return say`no verdict: ${silence(verdict)}`
    case 'cancelled':
      return say`cancelled`
    case 'skipped':
      return say`skipped`
    case 'unknown':
      return say`did not pass`
  }
}

function silence(verdict: string | undefined): string {
  switch (verdict) {
    case 'timeout':
      return 'out of time'
    case 'executor-lost':
      return 'machine lost'
    case 'disk':
      return 'disk full'
    case 'restart':
      return 'cut off by a restart'
    default:
      return 'it ended without one'
  }
}

/** The same for the name of a bar, without what grows old while one looks. */
export function runName(of: RunSays): Phrase {
  if (of.state !== 'running' || of.silentSince !== undefined) return runWords(of)
  return of.usual === undefined ? say`running` : say`running, usually ${rangeText(of.usual.from, of.usual.to)}`
}

/** To the second below ten minutes. */
function exact(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60 || seconds >= 600 || seconds % 60 === 0) return span(ms)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** A span to the nearest whole unit that people would say. */
function roughly(ms: number): string {
  if (ms < 10_000) return span(ms)
  return ms < MINUTE ? span(Math.ceil(ms / 10_000) * 10_000) : span(Math.round(ms / MINUTE) * MINUTE)
}
