/** How long things take, and when something lands, in words: ranges with what they go by, never a false minute. */
import type { RunState } from '../runs.ts'
import { lasting, type Phrase, say, span } from './phrase.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A range of spans in milliseconds: "8–10 min", "under 3 min", "50 min to 2 h", "5–7 h". */
export function rangeText(from: number, to: number): string {
  if (to < 90 * MINUTE) return range(from, to, MINUTE, 'min')
  if (to < 2 * DAY)
    return from < HOUR && from >= MINUTE ? `${Math.floor(from / MINUTE)} min to ${Math.ceil(to / HOUR)} h` : range(from, to, HOUR, 'h')
  return to > 14 * DAY ? 'more than a week' : range(from, to, DAY, 'days')
}

function range(from: number, to: number, unit: number, name: string): string {
  const [low, high] = [Math.max(0, Math.floor(from / unit)), Math.max(1, Math.ceil(to / unit))]
  if (low === 0) return `under ${high} ${high === 1 ? name.replace(/s$/, '') : name}`
  return low === high ? `about ${low} ${low === 1 ? name.replace(/s$/, '') : name}` : `${low}–${high} ${name}`
}

/** When something lands, from `now`: "in 8–10 min". Times in milliseconds since 1970. */
export function landsInWords(from: number, to: number, now: number): string {
  return `in ${rangeText(from - now, to - now)}`
}

/** What an estimate goes by. */
export function basisWords(batches: number): Phrase {
  return say`from the last ${batches} batches that passed`
}

/** Why there is no estimate. */
export type NoEstimate =
  /** Too few batches to go by. */
  | { key: 'few'; passed: number; needed: number }
  | { key: 'failing'; passed: number; of: number }
  /** It has taken longer than any that passed. */
  | { key: 'later'; of: number }
  | { key: 'silent' }
  | { key: 'blocked' }
  | { key: 'halving' }
  | { key: 'red' }
  | { key: 'held' }

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
    case 'halving':
      return 'a failed batch is checked in halves'
    case 'red':
      return 'a check of its batch failed, which is not decided yet'
    case 'held':
      return 'it hangs on what becomes of a pull ahead of it'
  }
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
