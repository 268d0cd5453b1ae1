/** Where a pull stands (STA-1 to STA-3, STA-5), in parts and in words. */
import { repoOf } from './admission.ts'
import type { Asking } from './asking.ts'
import { goingPreflights } from './at-head.ts'
import { lacksDelegation } from './delegated.ts'
import type { Expected } from './expected.ts'
import { fillsFor } from './filling.ts'
import { type LanderLife, landerLife } from './lander-life.ts'
import { batchOf, batchUnder, countRuns, type Place, placeOf } from './places.ts'
import { millis } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { BatchView, PullView, RepositoryView } from './view.ts'
import { ejectionKind, readReason } from './words/ejection.ts'
import { type PullLabel, pullLabels } from './words/labels.ts'
import { join, type Phrase } from './words/phrase.ts'
import { backdatedWords, queuedAtWords, type StandingParts, standingWords, whyWords } from './words/standing.ts'

export type StandingKind = StandingParts['kind']

export interface BatchPlace {
  tip: string
  base: string
  size: number
  /** From 1, in stacking order. */
  position: number
  passed: number
  running: number
  of: number
  /** For a batch ahead: how many pulls the batch under it holds. */
  under?: number | undefined
}

/** Times in milliseconds since 1970, people as DIDs, records as AT-URIs. */
export interface Standing {
  kind: StandingKind
  text: Phrase
  label: PullLabel
  branch: string
  position?: number | undefined
  length?: number | undefined
  since?: number | undefined
  /** Why it does not move; only of what is queued. */
  why?: Phrase | undefined
  /** The pre-flights that it waits for: their workflows, and where their runs stand. */
  preflights: readonly { name: string; status: string }[]
  batch?: BatchPlace | undefined
  /** When it is expected to land, or why that cannot be said; only of what is queued. */
  expected?: Expected | undefined
  reason?: string | undefined
  /** The sentence after an ejection's headline; empty when there is none. */
  says?: string | undefined
  ejectionKind?: string | undefined
  commit?: string | undefined
  record?: string | undefined
  by?: string | undefined
  queuedAtHead?: string | undefined
  backdated?: { keyTime: number; seenAt: number } | undefined
}

/** A pull's standing, one of its kinds, the first that is true. */
export function standing(view: RepositoryView, pull: PullView, asking: Asking): Standing {
  if (pull.state === 'merged') return merged(pull)
  if (pull.state === 'closed') return stated(pull, { kind: 'closed' }, 'closed')
  if (pull.draft) return { ...bare(pull, { kind: 'draft' }, 'draft'), record: pull.heldEntry?.record.uri, by: pull.heldEntry?.by }
  const place = placeOf(view, pull)
  if (pull.entry !== undefined && place !== undefined) {
    const batch = batchOf(view, pull)
    return batch === undefined ? waiting(view, pull, place, asking) : inBatch(view, pull, place, batch, asking)
  }
  if (pull.ejection !== undefined) return ejected(pull, pull.ejection)
  return { ...bare(pull, { kind: 'open' }, 'open'), since: millis(pull.pull.value.createdAt) }
}

function bare(pull: PullView, parts: StandingParts, label: PullLabel): Standing {
  return { kind: parts.kind, text: standingWords(parts), label, branch: pull.branch, preflights: [] }
}

/** Of a pull that a state record closed or merged. */
function stated(pull: PullView, parts: StandingParts, label: PullLabel): Standing {
  const record = pull.stateRecord
  return {
    ...bare(pull, parts, label),
    since: record === undefined ? undefined : tidMillis(record.rkey),
    record: record?.uri,
    by: record?.did,
    commit: record?.value.commit,
  }
}

/** STA-5: landed only where the branch holds the commit; what no commit is named for cannot be known to have landed. */
function merged(pull: PullView): Standing {
  const { branch } = pull
  const commit = pull.stateRecord?.value.commit
  if (commit === undefined || pull.mergedThere === false) return stated(pull, { kind: 'merged-not-there', branch, commit }, 'not-there')
  return pull.mergedThere === true
    ? stated(pull, { kind: 'merged', branch, commit }, 'merged')
    : stated(pull, { kind: 'landing' }, 'landing')
}

function ejected(pull: PullView, record: NonNullable<PullView['ejection']>): Standing {
  const { reason, says } = readReason(record.value.reason, record.value.kind)
  return {
    ...bare(pull, { kind: 'ejected', reason }, 'ejected'),
    since: tidMillis(record.rkey),
    record: record.uri,
    by: record.did,
    reason,
    says,
    ejectionKind: ejectionKind(record.value.kind),
    commit: record.value.commit,
  }
}

/** What is said of everything queued, in a batch or not. */
function queuedParts(pull: PullView, place: Place): Partial<Standing> {
  const { entry } = pull
  if (entry === undefined) return {}
  const sawHead = entry.record.value.head
  return {
    ...place,
    since: tidMillis(entry.key),
    record: entry.record.uri,
    by: entry.by,
    queuedAtHead: sawHead !== undefined && pull.head !== undefined && sawHead !== pull.head ? sawHead : undefined,
    backdated: entry.backdated,
  }
}

function waiting(view: RepositoryView, pull: PullView, place: Place, asking: Asking): Standing {
  const runs = goingPreflights(view, pull)
  const preflights = runs.map(({ value }) => ({ name: value.workflow, status: value.status }))
  const names = preflights.map(flight => flight.name)
  const parts: StandingParts = { kind: 'queued', ...place, preflights: names }
  const branch = view.branches.get(pull.branch)
  const life = landerLife(view, branch, asking)
  const started = runs.map(run => millis(run.value.startedAt)).filter(time => time !== undefined)
  let why: Phrase
  if (life.did === undefined) why = whyWords({ key: 'no-runners', ...repoOf(view) })
  else if (!life.alive) why = whyWords({ key: 'no-lander', since: life.seenAt, now: asking.now })
  else if (lacksDelegation(view, asking.gateway) !== undefined) why = whyWords({ key: 'not-delegated', owner: view.roles.owner })
  else if (!view.roles.namedRunner(life.did)) why = whyWords({ key: 'unnamed-lander', lander: life.did })
  else if (view.lander?.record?.value.stoppedAt !== undefined) why = whyWords({ key: 'stopped', lander: life.did })
  else if (preflights.length > 0)
    why = whyWords({ key: 'flight-running', names, since: started.length > 0 ? Math.min(...started) : undefined })
  else why = whyReady(view, pull, life.did, asking)
  return { ...bare(pull, parts, preflights.length > 0 ? 'waiting' : 'queued'), ...queuedParts(pull, place), preflights, why }
}

/** Of what no pre-flight keeps back: what the lander does before its turn comes. */
function whyReady(view: RepositoryView, pull: PullView, lander: string, asking: Asking): Phrase {
  const branch = view.branches.get(pull.branch)
  // Whether it has pre-flights to pass is not known before the lander has looked.
  const lookedAt = asking.lastSeen?.get(lander)?.at
  if (lookedAt !== undefined && lookedAt < (pull.entry?.record.seenAt ?? 0)) return whyWords({ key: 'new', lander })
  if (branch?.halving !== undefined) return whyWords({ key: 'halving' })
  const filling = branch && fillsFor(view, branch, asking.now)
  if (filling !== undefined) return whyWords({ key: 'fill', lander, left: filling.left })
  return whyWords({ key: (branch?.batches.length ?? 0) > 1 ? 'next' : 'ready' })
}

function inBatch(view: RepositoryView, pull: PullView, place: Place, batch: BatchView, asking: Asking): Standing {
  const counts = countRuns(batch)
  const size = batch.members.length
  const life = landerLife(view, view.branches.get(pull.branch), asking)
  const under = batchUnder(view, batch)?.members.length
  const facts: Partial<Standing> = {
    ...queuedParts(pull, place),
    since: batch.state === 'landing' ? lastEnd(batch) : batch.since,
    why: whyInBatch(view, life, asking),
    batch: {
      tip: batch.tip,
      base: batch.base,
      size,
      position: batch.members.findIndex(member => member.pull === pull.pull.uri) + 1,
      passed: counts.passed,
      running: counts.running.length,
      of: counts.of,
      under,
    },
  }
  switch (batch.state) {
    case 'landing':
      return { ...bare(pull, { kind: 'landing' }, 'landing'), ...facts }
    case 'ahead':
      return { ...bare(pull, { kind: 'in-ahead', size }, 'in-batch'), ...facts }
    case 'passed-waiting':
      return { ...bare(pull, { kind: 'in-ahead', size, outcome: 'passed' }, 'in-batch'), ...facts }
    case 'red-undecided':
      return { ...bare(pull, { kind: 'in-ahead', size, outcome: 'red' }, 'in-batch'), ...facts }
    default:
      return { ...bare(pull, { kind: 'in-batch', size }, 'in-batch'), ...facts }
  }
}

/** What keeps a batch from landing whatever its checks say. */
function whyInBatch(view: RepositoryView, life: LanderLife, asking: Asking): Phrase | undefined {
  if (!life.alive) return whyWords({ key: 'no-lander', since: life.seenAt, now: asking.now })
  const lacks = lacksDelegation(view, asking.gateway) !== undefined
  return lacks ? whyWords({ key: 'not-delegated', owner: view.roles.owner }) : undefined
}

function lastEnd(batch: BatchView): number {
  return Math.max(batch.since, ...batch.checks.map(check => millis(check.value.finishedAt) ?? 0))
}

/** What is said of an entry beside its standing: QUE-9, REC-9. Empty when there is nothing to say. */
export function entryNotes(standing: Standing, pull: PullView): Phrase {
  const { queuedAtHead, backdated } = standing
  return join(
    queuedAtHead === undefined || pull.head === undefined ? undefined : queuedAtWords(queuedAtHead, pull.head),
    backdated === undefined ? undefined : backdatedWords(backdated),
  )
}

/** The word for a standing's label. */
export function standingLabel(of: Standing): string {
  return pullLabels[of.label].word
}
