/** Why a queued pull does not move: one sentence, the first that is true, as far as records and the lander's reports say. */
import { repoOf } from './admission.ts'
import type { Asking } from './asking.ts'
import { goingPreflights, runsAtHead } from './at-head.ts'
import { lacksDelegation } from './delegated.ts'
import type { Standstill } from './expected.ts'
import { fillsFor } from './filling.ts'
import { type LanderLife, landerLife, STARTING } from './lander-life.ts'
import { isGoing, millis, type Run, runState } from './runs.ts'
import { passedOver, waitingPlace } from './standing-line.ts'
import type { BatchView, BranchView, PullView, RepositoryView } from './view.ts'
import type { PullLabel } from './words/labels.ts'
import type { Phrase } from './words/phrase.ts'
import { awaited, unreadable } from './words/runner.ts'
import { type WhyParts, whyWords } from './words/standing.ts'

/** How long the run of a pre-flight may take to come here, in milliseconds. */
const ARRIVING = 15_000
/** Pulls that a sentence names at most. */
const MOST_NAMED = 3

export interface Why {
  says: Phrase
  label: PullLabel
  /** Nothing lands for that. */
  standstill?: Standstill
  /** It hangs on what becomes of a pull ahead of it, or is in conflict with its branch. */
  held?: 'ahead' | 'conflict' | undefined
}

/** Why a pull in no batch waits. */
export function whyWaiting(view: RepositoryView, pull: PullView, asking: Asking): Why {
  const branch = view.branches.get(pull.branch)
  const life = landerLife(view, branch, asking)
  const { did } = life
  if (did === undefined) return blocked({ key: 'no-runners', ...repoOf(view) })
  const stands = standsStill(view, life, asking)
  if (stands !== undefined) return stands
  if (!view.roles.namedRunner(did)) return { ...why({ key: 'unnamed-lander', lander: did }), standstill: 'unnamed' }
  if (view.lander?.record?.value.stoppedAt !== undefined) return blocked({ key: 'stopped', lander: did })
  const startedAt = startsAt(view, did, asking)
  if (startedAt !== undefined) return why({ key: 'restart', lander: did, since: startedAt })
  const going = goingPreflights(view, pull)
  if (going.length > 0) return { ...why(goingWhy(view, pull, going, did)), label: 'waiting' }
  const flights = preflightsAtHead(view, pull)
  const silent = flights.filter(run => ['no-verdict', 'cancelled'].includes(runState(run.value))).map(run => run.value.workflow)
  const seen = asking.lastSeen?.get(did)
  const unstarted = flights.length > 0 ? [] : usualPreflights(view, pull)
  // Whether it has pre-flights to pass is not known before the lander has looked.
  if (seen !== undefined && seen.at < (pull.entry?.record.seenAt ?? 0)) {
    const within = seen.dueAt === undefined || seen.dueAt <= asking.now ? undefined : seen.dueAt - asking.now
    if (unstarted.length > 0) return { ...why({ key: 'flight-none', names: unstarted, lander: did, within }), label: 'waiting' }
    return why({ key: 'new', lander: did, within })
  }
  // It has looked, and what it started has not come here yet. Which pulls it waits for it does not say, so that this is said of new ones alone.
  const isNew = asking.now - (pull.entry?.record.seenAt ?? 0) < ARRIVING
  if (isNew && unstarted.length > 0 && seen?.says?.includes(awaited) === true)
    return { ...why({ key: 'flight-none', names: unstarted, lander: did, taken: true }), label: 'waiting' }
  if (silent.length > 0) return { ...why({ key: 'flight-again', names: silent, behind: hasBehind(branch, pull) }), label: 'waiting' }
  return branch === undefined ? why({ key: 'ready' }) : whyReady(view, branch, pull, did, asking)
}

/** What keeps a batch from landing whatever its checks say. */
export function whyInBatch(view: RepositoryView, branch: BranchView | undefined, asking: Asking): Why | undefined {
  return standsStill(view, landerLife(view, branch, asking), asking)
}

function standsStill(view: RepositoryView, life: LanderLife, asking: Asking): Why | undefined {
  if (!life.alive) return { ...why({ key: 'no-lander', since: life.seenAt, now: asking.now }), standstill: 'silent' }
  const lacks = lacksDelegation(view, asking.gateway) !== undefined
  return lacks ? blocked({ key: 'not-delegated', owner: view.roles.owner }) : undefined
}

function why(parts: WhyParts): Why {
  return { says: whyWords(parts), label: 'queued' }
}

function blocked(parts: WhyParts): Why {
  return { ...why(parts), standstill: 'blocked' }
}

/** When the lander started, while it has told of no pass since. */
function startsAt(view: RepositoryView, lander: string, asking: Asking): number | undefined {
  const record = view.lander?.did === lander ? view.lander.record : undefined
  const startedAt = millis(record?.value.startedAt)
  const seen = asking.lastSeen?.get(lander)
  if (startedAt === undefined || asking.lastSeen === undefined || asking.now - startedAt > STARTING || startedAt > asking.now)
    return undefined
  return seen === undefined || seen.at < startedAt ? startedAt : undefined
}

function goingWhy(view: RepositoryView, pull: PullView, going: readonly Run[], lander: string): WhyParts {
  const names = going.map(run => run.value.workflow)
  const behind = hasBehind(view.branches.get(pull.branch), pull)
  const running = going.filter(run => run.value.status === 'running')
  if (running.length === 0) return { key: 'flight-job', names, behind, lander, jobs: jobsInUse(view, lander) }
  const starts = running.map(run => millis(run.value.startedAt)).filter(time => time !== undefined)
  const since = starts.length === 0 ? undefined : Math.min(...starts)
  const before = view
    .checksOf(pull.pull.uri)
    .some(({ value }) => isPreflight(value) && value.commit !== pull.head && names.includes(value.workflow))
  return before ? { key: 'flight-head', names, behind, since } : { key: 'flight-running', names, behind, since }
}

function hasBehind(branch: BranchView | undefined, pull: PullView): boolean {
  return branch !== undefined && branch.queue.at(-1)?.pull.uri !== pull.pull.uri
}

/** How many runs the lander goes through at once, while records show that it is at as many; undefined otherwise: what it does elsewhere is not seen. */
function jobsInUse(view: RepositoryView, lander: string): number | undefined {
  const jobs = view.lander?.did === lander ? view.lander.record?.value.jobs : undefined
  if (jobs === undefined) return undefined
  const running = new Set<string>()
  const note = (runs: readonly Run[]) => {
    for (const run of runs) if (run.did === lander && run.value.status === 'running') running.add(run.uri)
  }
  for (const branch of view.branches.values()) {
    for (const batch of branch.batches) note(batch.checks)
    for (const pull of branch.queue) note(view.checksOf(pull.pull.uri))
  }
  return running.size >= jobs ? jobs : undefined
}

/** The newest run of each pre-flight at the pull's present head. */
export function preflightsAtHead(view: RepositoryView, pull: PullView): Run[] {
  return runsAtHead(view, pull).filter(run => isPreflight(run.value))
}

function isPreflight(check: { queue?: string | undefined }): boolean {
  return check.queue === 'first'
}

/** The pre-flights that a pull without a run at its head had at another one, else those that ran on another pull at the branch's present tip. */
function usualPreflights(view: RepositoryView, pull: PullView): string[] {
  const own = view.checksOf(pull.pull.uri).filter(run => isPreflight(run.value))
  if (own.length > 0) return namesOf(own)
  const branch = view.branches.get(pull.branch)
  const others = (branch?.queue ?? [])
    .slice(0, 50)
    .flatMap(other => view.checksOf(other.pull.uri).filter(({ value }) => isPreflight(value)))
  return branch?.tip === undefined ? [] : namesOf(others.filter(run => run.value.baseCommit === branch.tip))
}

function namesOf(runs: readonly Run[]): string[] {
  return [...new Set(runs.map(run => run.value.workflow))].sort().slice(0, 8)
}

/** Of what no pre-flight keeps back: what the lander does before its turn comes. */
function whyReady(view: RepositoryView, branch: BranchView, pull: PullView, lander: string, asking: Asking): Why {
  if (branch.halving !== undefined) return why({ key: 'halving' })
  const settings = view.lander?.record?.value
  const [size, depth] = [settings?.batch, settings?.depth ?? 2]
  const top = branch.batches.at(-1)
  if (pull.merge?.applies === false && branch.tip !== undefined)
    return { ...why({ key: 'conflict-branch', branch: branch.branch, tip: branch.tip }), label: 'held', held: 'conflict' }
  const out = leftOutOf(view, branch, pull, asking.lastSeen?.get(lander)?.says)
  if (out !== undefined)
    return { ...why({ key: 'conflict-ahead', ...stackUpTo(view, branch, out, pull), branch: branch.branch }), label: 'held', held: 'ahead' }
  const filling = fillsFor(view, branch, asking.now)
  if (filling !== undefined) return why({ key: 'fill', lander, left: filling.left })
  const place = waitingPlace(view, branch, pull.pull.uri)
  if (size !== undefined && place !== undefined && place.ready >= size) return why({ key: 'later', before: place.all })
  if (branch.batches.length >= depth) return why({ key: 'next', depth })
  const wasThere = top !== undefined && top.since >= (pull.entry?.record.seenAt ?? Number.POSITIVE_INFINITY)
  return why(wasThere && size !== undefined && top.members.length >= size ? { key: 'full', size } : { key: 'ready' })
}

/** The batch that had no room for it where it stands (AHD-4), unless a pre-flight or a server that could not be read kept it out. */
function leftOutOf(view: RepositoryView, branch: BranchView, pull: PullView, says: string | undefined): BatchView | undefined {
  const batch = passedOver(view, branch, pull)
  if (batch === undefined || says?.includes(unreadable) === true) return undefined
  const wasBusy = preflightsAtHead(view, pull).some(({ value }) => isGoing(value) || (millis(value.finishedAt) ?? 0) >= batch.since)
  return wasBusy ? undefined : batch
}

/** What a pull does not fit on: the pulls stacked up to this batch that change its files, with the files, else all of them; those that are not named are counted. */
function stackUpTo(view: RepositoryView, branch: BranchView, batch: BatchView, pull: PullView) {
  const members = branch.batches.slice(0, branch.batches.indexOf(batch) + 1).flatMap(each => each.members)
  const known = members.flatMap(({ pull: uri }) => view.pulls.get(uri) ?? [])
  const own = new Set(pull.merge?.touched)
  const shared = known.map(other => ({ other, files: (other.merge?.touched ?? []).filter(path => own.has(path)) }))
  const clashing = shared.filter(({ files }) => files.length > 0)
  const of = clashing.length > 0 ? clashing.map(({ other }) => other) : known
  const others = of.slice(0, MOST_NAMED).map(({ pull: { uri, value } }) => ({ title: value.title, pull: uri }))
  const all = clashing.length > 0 ? clashing.length : members.length
  const files = clashing.length > 0 ? [...new Set(clashing.flatMap(each => each.files))] : undefined
  return { others, more: all - others.length, files }
}
