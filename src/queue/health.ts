/** How a branch's queue does: the first line that is true, in the order of STA-4, as far as records and reports say. */
import type { Asking } from './asking.ts'
import { lackingSince, lacksDelegation } from './delegated.ts'
import { fillsFor } from './filling.ts'
import { healthNotes } from './health-notes.ts'
import { landerLife } from './lander-life.ts'
import { batchOf } from './places.ts'
import { millis, runState } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { BranchView, RepositoryView } from './view.ts'
import { type HealthParts, type HealthWords, healthWords } from './words/health.ts'
import type { HealthNote } from './words/health-notes.ts'
import { healthLabels, type Label } from './words/labels.ts'
import { capital } from './words/phrase.ts'
import { noVerdictSaid } from './words/runner.ts'

/** So many drops without a landing, within so many milliseconds, are churn. */
const CHURN = 3
const CHURN_WITHIN = 60 * 60_000
/** A server so many milliseconds behind the network says so. */
const BEHIND = 60_000

export interface Health extends HealthWords {
  label: Label
  /** In milliseconds since 1970. */
  since?: number | undefined
  /** What is said beside it. */
  notes: readonly HealthNote[]
}

/** No runners, never a lander, no lander, not delegated, stalled, churning, unchecked, winding down, in trouble, catching up; then what is going on. */
export function queueHealth(view: RepositoryView, branch: BranchView, asking: Asking): Health {
  const { parts, since } = first(view, branch, asking)
  return { ...healthWords(parts), label: healthLabels[parts.kind], since, notes: healthNotes(view, branch, asking) }
}

function first(view: RepositoryView, branch: BranchView, asking: Asking): { parts: HealthParts; since?: number | undefined } {
  const { owner } = view.roles
  const isOwner = asking.caller === owner
  const queued = branch.queue.length
  const life = landerLife(view, branch, asking)
  const { did, seenAt, alive } = life
  if (view.roles.runners.length === 0 || did === undefined) return { parts: { kind: 'no-runners', owner, name: view.name, isOwner } }
  if (seenAt === undefined) return { parts: { kind: 'never-lander', lander: did, owner, isOwner, queued } }
  if (!alive) return { parts: { kind: 'no-lander', since: seenAt, now: asking.now, queued, owner, isOwner }, since: seenAt }
  const delegation = lacksDelegation(view, asking.gateway)
  if (delegation !== undefined) {
    const since = lackingSince(delegation)
    const settingsUrl = asking.gateway?.settingsUrl
    return { parts: { kind: 'not-delegated', owner, isOwner, since, now: asking.now, settingsUrl }, since }
  }
  const stalled = stalledSince(view, branch, asking)
  if (stalled !== undefined) {
    const said = asking.lastSeen?.get(did)?.says
    return { parts: { kind: 'stall', since: stalled, lander: did, seenAt, said, owner }, since: stalled }
  }
  const churning = churnSince(branch, asking.now)
  if (churning !== undefined)
    return { parts: { kind: 'churn', ...churning, now: asking.now, branch: branch.branch }, since: churning.since }
  if (branch.unchecked === true) return { parts: { kind: 'unchecked', branch: branch.branch } }
  if (view.lander?.record?.value.stoppedAt !== undefined)
    return { parts: { kind: 'stopping', lander: did, busy: branch.batches.length > 0 } }
  const trouble = troubleOf(branch)
  if (trouble !== undefined) return { parts: { kind: 'trouble', ...trouble, lander: did }, since: trouble.at }
  if ((asking.behind ?? 0) >= BEHIND) return { parts: { kind: 'behind', by: asking.behind ?? 0 } }
  return going(view, branch, asking, did)
}

/** FAI-8: the last batch of what is queued ended without a verdict, and nothing has been built since. */
function troubleOf(branch: BranchView): { size: number; at: number; said: string } | undefined {
  const last = branch.every?.[0]
  if (last === undefined || branch.batches.length > 0 || (last.state !== 'failed' && last.state !== 'cancelled')) return undefined
  const runs = last.checks.map(({ value }) => ({ workflow: value.workflow, state: runState(value), verdict: value.verdict }))
  const silent = runs.filter(({ state }) => state === 'no-verdict')
  const waits = new Set(branch.queue.map(({ pull }) => pull.uri))
  if (silent.length === 0 || runs.some(({ state }) => state === 'failed') || !last.members.some(({ pull }) => waits.has(pull)))
    return undefined
  const ends = last.checks.map(({ value }) => millis(value.finishedAt) ?? last.since)
  return { size: last.members.length, at: Math.max(last.since, ...ends), said: capital(noVerdictSaid(silent)) }
}

/** Since when nothing has landed or been turned away although something is queued and the lander runs; undefined while that is not long (STA-4). */
function stalledSince(view: RepositoryView, branch: BranchView, asking: Asking): number | undefined {
  const [oldest] = branch.queue
  // Of a lander that is not named nobody sees what it does (STA-7).
  if (asking.stallAfter === undefined || oldest?.entry === undefined || view.lander?.named !== true) return undefined
  const moves = [tidMillis(oldest.entry.key), branch.landed[0]?.at, branch.lastEjectedAt].filter(time => time !== undefined)
  const since = Math.max(...moves)
  return asking.now - since >= asking.stallAfter ? since : undefined
}

/** Drops without a landing in the last hour, where they are many and something is queued (MOV-7): how many, and since when. */
function churnSince(branch: BranchView, now: number): { drops: number; since: number } | undefined {
  const from = Math.max(now - CHURN_WITHIN, branch.landed[0]?.at ?? 0)
  const drops = (branch.drops ?? []).filter(at => at > from && at <= now)
  const first = drops.at(-1)
  return branch.queue.length === 0 || first === undefined || drops.length < CHURN ? undefined : { drops: drops.length, since: first }
}

function going(
  view: RepositoryView,
  branch: BranchView,
  asking: Asking,
  lander: string,
): { parts: HealthParts; since?: number | undefined } {
  const lastLanding = branch.landed[0]?.at
  const [lowest, ahead] = branch.batches
  const waiting = branch.queue.filter(pull => batchOf(view, pull) === undefined).length
  const { halving } = branch
  if (halving !== undefined && lowest?.state !== 'landing') {
    const { size, failedAt, suspects } = halving
    return { parts: { kind: 'halving', size, failedAt, lander, waiting: branch.queue.length - suspects.length }, since: failedAt }
  }
  if (lowest !== undefined) {
    const batch = { waiting, size: lowest.members.length, since: lowest.since, landing: lowest.state === 'landing', lastLanding }
    return ahead === undefined
      ? { parts: { kind: 'checking', ...batch } }
      : { parts: { kind: 'busy', ...batch, ahead: ahead.members.length } }
  }
  const filling = fillsFor(view, branch, asking.now)
  if (filling !== undefined) return { parts: { kind: 'filling', waiting, lander, wait: filling.wait } }
  return waiting > 0 ? { parts: { kind: 'waiting', waiting, lander, lastLanding } } : { parts: { kind: 'idle', lastLanding } }
}
