/** Where a pull stands (STA-1 to STA-3, STA-5), in parts and in words. */
import type { Asking } from './asking.ts'
import { goingPreflights } from './at-head.ts'
import { type Expected, expectedOfBatch, expectedOfWaiting } from './expected.ts'
import { batchOf, batchUnder, countRuns, type Place, placeOf } from './places.ts'
import { millis } from './runs.ts'
import { whyInBatch, whyWaiting } from './standing-why.ts'
import { tidMillis } from './tid.ts'
import type { BatchView, PullView, RepositoryView } from './view.ts'
import { ejectionKind, readReason } from './words/ejection.ts'
import { type PullLabel, pullLabels } from './words/labels.ts'
import { join, type Phrase } from './words/phrase.ts'
import { backdatedWords, queuedAtWords, type StandingParts, standingWords } from './words/standing.ts'
import { requeueWords } from './words/steward.ts'

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
  /** That the steward put it back (STW-7). */
  requeue?: { kind: string; attempt: number } | undefined
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
  const putBack = entry.record.value.requeue
  return {
    ...place,
    since: tidMillis(entry.key),
    record: entry.record.uri,
    by: entry.by,
    queuedAtHead: sawHead !== undefined && pull.head !== undefined && sawHead !== pull.head ? sawHead : undefined,
    backdated: entry.backdated,
    requeue: putBack && { kind: putBack.kind, attempt: putBack.attempt },
  }
}

function waiting(view: RepositoryView, pull: PullView, place: Place, asking: Asking): Standing {
  const preflights = goingPreflights(view, pull).map(({ value }) => ({ name: value.workflow, status: value.status }))
  const parts: StandingParts = { kind: 'queued', ...place, preflights: preflights.map(flight => flight.name) }
  const branch = view.branches.get(pull.branch)
  const why = whyWaiting(view, pull, asking)
  const label = preflights.length > 0 && why.label === 'queued' ? 'waiting' : why.label
  const expected = branch && expectedOfWaiting(view, branch, pull.pull.uri, asking, why)
  return { ...bare(pull, parts, label), ...queuedParts(pull, place), preflights, why: why.says, expected }
}

function inBatch(view: RepositoryView, pull: PullView, place: Place, batch: BatchView, asking: Asking): Standing {
  const counts = countRuns(batch)
  const size = batch.members.length
  const branch = view.branches.get(pull.branch)
  const why = whyInBatch(view, branch, asking)
  const under = batchUnder(view, batch)?.members.length
  const facts: Partial<Standing> = {
    ...queuedParts(pull, place),
    since: batch.state === 'landing' ? lastEnd(batch) : batch.since,
    why: why?.says,
    expected: branch && expectedOfBatch(branch, batch, asking, why?.standstill),
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

function lastEnd(batch: BatchView): number {
  return Math.max(batch.since, ...batch.checks.map(check => millis(check.value.finishedAt) ?? 0))
}

/** What is said of an entry beside its standing: QUE-9, REC-9. Empty when there is nothing to say. */
export function entryNotes(standing: Standing, pull: PullView): Phrase {
  const { queuedAtHead, backdated, requeue } = standing
  return join(
    requeue && requeueWords(requeue),
    queuedAtHead === undefined || pull.head === undefined ? undefined : queuedAtWords(queuedAtHead, pull.head),
    backdated === undefined ? undefined : backdatedWords(backdated),
  )
}

/** The word for a standing's label. */
export function standingLabel(of: Standing): string {
  return pullLabels[of.label].word
}
