/** When something is expected to land: a range with what it goes by, or the reason why there is none. */
import type { Asking } from './asking.ts'
import { fillsFor } from './filling.ts'
import type { BranchHistory } from './history.ts'
import { waitingPlace } from './standing-line.ts'
import type { BatchView, BranchView, RepositoryView } from './view.ts'
import { basisWords, type NoEstimate, noEstimateWords, type UsualSpan } from './words/expected.ts'
import type { Phrase } from './words/phrase.ts'

/** Times in milliseconds since 1970. */
export type Expected = { from: number; to: number; basis: Phrase } | { none: Phrase }

/** So many batches are looked at, and so many of them, or runs of a workflow, have to have passed. */
const LOOKED_AT = 20
const NEEDED = 3
/** What a lander's record does not say: how many pulls a batch takes, and how many batches are in flight. */
const BATCH = 8
const DEPTH = 2
/** Rounds of batches that are thought through; who waits behind more has no use for a minute. */
const MOST_ROUNDS = 500
/** A batch that is said to have taken longer, in milliseconds, tells of a clock and not of its checks. */
const LONGEST = 7 * 24 * 60 * 60_000

/** How long a workflow's runs take in batches here, from those that passed in the last 20; undefined where they are too few. */
export function usualRun(history: BranchHistory | undefined, workflow: string): UsualSpan | undefined {
  const runs = (history?.batches ?? []).slice(0, LOOKED_AT).flatMap(batch => batch.runs.filter(run => run.workflow === workflow))
  const spans = runs.flatMap(({ state, startedAt, finishedAt }) =>
    state !== 'passed' || startedAt === undefined || finishedAt === undefined ? [] : [finishedAt - startedAt],
  )
  const sorted = sane(spans)
  return sorted.length < NEEDED ? undefined : spread(sorted)
}

/** What stands in the way of landing anything, as the caller knows it. */
export type Standstill = 'silent' | 'blocked' | 'unnamed' | undefined

/** When a batch in flight lands. Undefined for one that lands now or is over, and where nobody keeps a history. */
export function expectedOfBatch(branch: BranchView, batch: BatchView, asking: Asking, standstill?: Standstill): Expected | undefined {
  const { history } = asking
  if (history === undefined || batch.state === 'landing') return undefined
  if (standstill !== undefined) return none({ key: standstill })
  const of = spansOf(history(branch.branch))
  if ('key' in of) return none(of)
  const ends = endsOf(branch, of.spans, asking.now).get(batch)
  if (ends === undefined) return undefined
  return 'key' in ends ? none(ends) : { ...ends, basis: basisWords(of.spans.length) }
}

/** When a pull that waits lands; undefined for one that does not wait here, and where nobody keeps a history. `held`: it cannot join a batch before another one's fate is known, or as it is. */
export function expectedOfWaiting(
  view: RepositoryView,
  branch: BranchView,
  pull: string,
  asking: Asking,
  because: { standstill?: Standstill; held?: 'ahead' | 'conflict' | undefined } = {},
): Expected | undefined {
  const { history, now } = asking
  const place = waitingPlace(view, branch, pull)
  if (history === undefined || place === undefined) return undefined
  if (because.standstill !== undefined) return none({ key: because.standstill })
  if (because.held !== undefined) return none({ key: because.held === 'ahead' ? 'held' : 'conflict' })
  if (branch.halving !== undefined) return none({ key: 'halving' })
  const of = spansOf(history(branch.branch))
  if ('key' in of) return none(of)
  const ends = endsOf(branch, of.spans, now)
  const inFlight = branch.batches.map(batch => ends.get(batch) ?? { from: now, to: now })
  const stuck = inFlight.find(end => 'key' in end)
  if (stuck !== undefined && 'key' in stuck) return none(stuck)
  const flying = inFlight.flatMap(end => ('key' in end ? [] : [end]))
  const settings = view.lander?.record?.value
  const size = settings?.batch ?? BATCH
  const rounds = { depth: settings?.depth ?? DEPTH, now, wait: fillUp(view, branch, now) }
  const first = Math.floor(place.ready / size)
  // Who waits for a pre-flight may miss the batch that it would be in.
  const last = Math.floor(place.all / size) + (place.isReady ? 0 : 1)
  const { from, typical, to } = spread(of.spans)
  const mean = landsAt(flying.map(middle), typical, first, rounds)
  const latestMean = landsAt(flying.map(middle), typical, last, rounds)
  const earliest = landsAt(
    flying.map(end => end.from),
    from,
    first,
    rounds,
  )
  const latest = landsAt(
    flying.map(end => end.to),
    to,
    last,
    { ...rounds, wait: Math.max(rounds.wait, looksAt(view, pull, asking)) },
  )
  // Over several batches long ones and short ones make up for one another.
  return {
    from: mean - (mean - earliest) / Math.sqrt(first + 1),
    to: latestMean + (latest - latestMean) / Math.sqrt(last + 1),
    basis: basisWords(of.spans.length),
  }
}

interface Ends {
  from: number
  to: number
}

function middle({ from, to }: Ends): number {
  return (from + to) / 2
}

function none(why: NoEstimate): Expected {
  return { none: noEstimateWords(why) }
}

/** How long batches took from their first check to their last, sorted; or why that says nothing. */
function spansOf({ batches }: BranchHistory): { spans: readonly number[] } | NoEstimate {
  const last = batches.slice(0, LOOKED_AT).filter(({ outcome }) => outcome === 'passed' || outcome === 'failed')
  const passed = last.filter(({ outcome }) => outcome === 'passed')
  const spans = sane(passed.map(({ startedAt, endedAt }) => endedAt - startedAt))
  if (spans.length < NEEDED) return { key: 'few', passed: spans.length, needed: NEEDED }
  return passed.length * 2 < last.length ? { key: 'failing', passed: passed.length, of: last.length } : { spans }
}

function sane(spans: readonly number[]): number[] {
  return spans.filter(ms => ms > 0 && ms <= LONGEST).sort((a, b) => a - b)
}

/** The middle four fifths of sorted spans, and their median. */
function spread(sorted: readonly number[]): UsualSpan {
  return { from: quantile(sorted, 0.1), typical: quantile(sorted, 0.5), to: quantile(sorted, 0.9) }
}

function quantile(sorted: readonly number[], q: number): number {
  const at = q * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0]
  return low + (high - low) * (at - Math.floor(at))
}

/** When each batch in flight ends: what it has taken already rules out the spans that are shorter; one that stands on another lands no earlier than that. */
function endsOf(branch: BranchView, spans: readonly number[], now: number): Map<BatchView, Ends | NoEstimate> {
  const ends = new Map<BatchView, Ends | NoEstimate>()
  let under: Ends | NoEstimate | undefined
  for (const batch of branch.batches) {
    const own = endOf(batch, spans, now)
    if (under !== undefined && 'key' in under) ends.set(batch, under)
    else if ('key' in own) ends.set(batch, own)
    else ends.set(batch, { from: Math.max(own.from, under?.from ?? 0), to: Math.max(own.to, under?.to ?? 0) })
    under = ends.get(batch)
  }
  return ends
}

function endOf(batch: BatchView, spans: readonly number[], now: number): Ends | NoEstimate {
  if (batch.state === 'red-undecided') return { key: 'red' }
  if (batch.state === 'landing' || batch.state === 'passed-waiting') return { from: now, to: now }
  const elapsed = now - batch.since
  const longer = spans.filter(ms => ms > elapsed)
  if (longer.length === 0) return { key: 'later', of: spans.length }
  const { from, to } = spread(longer)
  return { from: batch.since + from, to: batch.since + to }
}

/** When the batch after `round` others that are still to be built lands, each taking `span`: one is built as soon as fewer than `depth` are in flight. */
function landsAt(
  inFlight: readonly number[],
  span: number,
  round: number,
  { depth, now, wait }: { depth: number; now: number; wait: number },
): number {
  const lands = [...inFlight]
  for (let at = 0; at <= Math.min(round, MOST_ROUNDS); at++) {
    const before = lands.at(-1) ?? now
    const free = lands.length < depth ? now : (lands[lands.length - depth] ?? now)
    const start = lands.length === 0 ? Math.max(free, wait) : free
    lands.push(Math.max(before, start + span))
  }
  const last = lands.at(-1) ?? now
  return round > MOST_ROUNDS ? last + (round - MOST_ROUNDS) * span : last
}

/** When the lander looks at a pull at the latest, where it has not passed since that was queued. */
function looksAt(view: RepositoryView, pull: string, { lastSeen, now }: Asking): number {
  const seen = lastSeen?.get(view.lander?.did ?? '')
  const queuedAt = view.pulls.get(pull)?.entry?.record.seenAt ?? 0
  return seen === undefined || seen.at >= queuedAt ? now : (seen.dueAt ?? now)
}

/** Until when the next batch may fill (BLD-9); now where nothing is let fill. */
function fillUp(view: RepositoryView, branch: BranchView, now: number): number {
  const filling = fillsFor(view, branch, now)
  return filling === undefined ? now : now + filling.left
}
