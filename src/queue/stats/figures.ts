/** How a queue did: every figure of REA-3, of a day or a span. */
import { readDrop } from '../words/runner.ts'
import type { EjectedFor, QueueEvent } from './story.ts'

/** Why runs were cancelled, as figures tell them apart. */
export type CancelledFor = 'restart' | 'branch-moved' | 'pull-moved-on' | 'batch-failed' | 'other'

/** A batch that ended, as far as figures need it. Times in milliseconds since 1970. */
export interface FigureBatch {
  branch: string
  outcome: 'passed' | 'failed' | 'no-verdict' | 'cancelled'
  endedAt: number
  longestMs?: number | undefined
}

/** A run of a batch that was cancelled, was cut off by a restart, or had tests that passed on a retry. */
export interface FigureRun {
  branch: string
  workflow: string
  state: string
  verdict?: string | undefined
  cause?: string | undefined
  endedAt: number
  retried: readonly string[]
}

/** What figures are made of. */
export interface FigureFacts {
  events: readonly QueueEvent[]
  batches: readonly FigureBatch[]
  runs: readonly FigureRun[]
}

/** Spans in milliseconds; absent where there is nothing to take them of. */
export interface Figures {
  queued: number
  landed: number
  /** From a pull's first queue record to its landing. */
  medianMs?: number | undefined
  p95Ms?: number | undefined
  ejected: Readonly<Record<EjectedFor, number>>
  ejections: number
  /** Batches whose runs came to a verdict or to none; dropped ones did not end so. */
  batchesEnded: number
  batchesPassed: number
  /** The mean of each batch's longest run. */
  longestMs?: number | undefined
  cancelled: Readonly<Record<CancelledFor, number>>
  cancellations: number
  /** Tests that passed on a retry, most often first. */
  retried: readonly { workflow: string; test: string; times: number }[]
  retries: number
}

export interface DayFigures extends Figures {
  /** YYYY-MM-DD, in UTC. */
  day: string
}

/** The figures of days in a row, each day's and all of them together. */
export interface SpanFigures {
  /** Oldest first, days without anything too. */
  days: readonly DayFigures[]
  all: Figures
  /** Those that anything happened on, in the order of their names. */
  branches: readonly string[]
}

/** In milliseconds. */
export const DAY = 86_400_000
const MOST_RETRIED = 200

/** The day of a time, YYYY-MM-DD in UTC. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** When the span of so many UTC days begins that ends with the day of `now`; milliseconds since 1970. */
export function spanStart(now: number, days: number): number {
  return (Math.floor(now / DAY) - days + 1) * DAY
}

/** The figures of `days` UTC days from the one that begins at `from`, each day's and all of them together. */
export function spanFigures(facts: FigureFacts, from: number, days: number): SpanFigures {
  const to = from + days * DAY
  const within = inSpan(facts, from, to)
  const events = groupByDay(within.events, event => event.at)
  const batches = groupByDay(within.batches, batch => batch.endedAt)
  const runs = groupByDay(within.runs, run => run.endedAt)
  return {
    days: Array.from({ length: days }, (_, n) => {
      const day = dayOf(from + n * DAY)
      return { day, ...figuresOf({ events: events.get(day) ?? [], batches: batches.get(day) ?? [], runs: runs.get(day) ?? [] }) }
    }),
    all: figuresOf(within),
    branches: [...new Set([...within.events, ...within.batches].map(({ branch }) => branch))].sort(),
  }
}

/** The figures of these facts, whenever they are of. */
export function figuresOf({ events, batches, runs }: FigureFacts): Figures {
  const waits = events.flatMap(event => (event.kind === 'landed' ? [event.waitedMs] : [])).sort((a, b) => a - b)
  const ejected = { conflict: 0, checks: 0, preflight: 0, 'branch-gone': 0, other: 0 }
  for (const event of events) if (event.kind === 'ejected') ejected[event.why]++
  const ended = batches.filter(({ outcome }) => outcome !== 'cancelled')
  const longest = ended.flatMap(({ longestMs }) => (longestMs === undefined ? [] : [longestMs]))
  const cancelled = { restart: 0, 'branch-moved': 0, 'pull-moved-on': 0, 'batch-failed': 0, other: 0 }
  for (const run of runs) {
    const why = cancelledFor(run)
    if (why !== undefined) cancelled[why]++
  }
  const retried = retriedOf(runs)
  return {
    queued: events.filter(({ kind }) => kind === 'queued').length,
    landed: waits.length,
    medianMs: median(waits),
    p95Ms: percentile(waits, 0.95),
    ejected,
    ejections: sum(Object.values(ejected)),
    batchesEnded: ended.length,
    batchesPassed: ended.filter(({ outcome }) => outcome === 'passed').length,
    longestMs: longest.length === 0 ? undefined : sum(longest) / longest.length,
    cancelled,
    cancellations: sum(Object.values(cancelled)),
    retried: retried.slice(0, MOST_RETRIED),
    retries: sum(retried.map(({ times }) => times)),
  }
}

/** The figures of the `days` days before a day, and of as many from it on (`--compare`), or of as many as there were until `now`. */
export function compareAt(
  facts: FigureFacts,
  day: number,
  days: number,
  now: number,
): { before: Figures; since: Figures; sinceDays: number } {
  const sinceDays = Math.max(0, Math.min(days, Math.floor((now - day) / DAY) + 1))
  return {
    before: figuresOf(inSpan(facts, day - days * DAY, day)),
    since: figuresOf(inSpan(facts, day, day + sinceDays * DAY)),
    sinceDays,
  }
}

/** The part of the facts from `from` to before `to`, in milliseconds since 1970. */
export function inSpan({ events, batches, runs }: FigureFacts, from: number, to: number): FigureFacts {
  const within = (time: number) => time >= from && time < to
  return {
    events: events.filter(({ at }) => within(at)),
    batches: batches.filter(({ endedAt }) => within(endedAt)),
    runs: runs.filter(({ endedAt }) => within(endedAt)),
  }
}

/** The part of the facts that is of one branch; all of it where none is named. */
export function onBranch(facts: FigureFacts, branch: string | undefined): FigureFacts {
  if (branch === undefined) return facts
  const isOf = (each: { branch: string }) => each.branch === branch
  return { events: facts.events.filter(isOf), batches: facts.batches.filter(isOf), runs: facts.runs.filter(isOf) }
}

/** Why a run was cancelled, by what its check says (MOV-4); undefined for one that was not. */
export function cancelledFor({ state, verdict, cause }: Pick<FigureRun, 'state' | 'verdict' | 'cause'>): CancelledFor | undefined {
  if (state === 'no-verdict') return verdict === 'restart' ? 'restart' : undefined
  if (state !== 'cancelled') return undefined
  const why = readDrop(cause)
  switch (why) {
    case 'stopping':
      return 'restart'
    case 'branch-moved':
    case 'pull-moved-on':
    case 'batch-failed':
      return why
    default:
      return 'other'
  }
}

function retriedOf(runs: readonly FigureRun[]): { workflow: string; test: string; times: number }[] {
  const counted = new Map<string, { workflow: string; test: string; times: number }>()
  for (const { workflow, retried } of runs) {
    for (const test of retried) {
      const key = JSON.stringify([workflow, test])
      const known = counted.get(key)
      if (known === undefined) counted.set(key, { workflow, test, times: 1 })
      else known.times++
    }
  }
  return [...counted.values()].sort(
    (a, b) => b.times - a.times || (a.workflow < b.workflow ? -1 : a.workflow > b.workflow ? 1 : a.test < b.test ? -1 : 1),
  )
}

function groupByDay<T>(items: readonly T[], time: (item: T) => number): Map<string, T[]> {
  const days = new Map<string, T[]>()
  for (const item of items) {
    const day = dayOf(time(item))
    const group = days.get(day)
    if (group === undefined) days.set(day, [item])
    else group.push(item)
  }
  return days
}

/** Of numbers in order; the mean of the middle two of an even number. */
function median(sorted: readonly number[]): number | undefined {
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle]
  const lower = sorted[middle - 1]
  if (upper === undefined) return undefined
  return sorted.length % 2 === 1 || lower === undefined ? upper : (lower + upper) / 2
}

/** Of numbers in order: the least that so large a part of them does not exceed. */
function percentile(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, n) => all + n, 0)
}
