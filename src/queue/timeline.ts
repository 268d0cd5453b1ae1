/** What happened to a pull: honoured records, its own checks and the batches that it was in, oldest first. */
import { dropOf, endOf, redOf, wasAhead } from './batch-ends.ts'
import { droppedAt, movedOn } from './drops.ts'
import type { QueueRecord, StateRecord, Stored } from './facts.ts'
import { type FailedCheck, failedChecks } from './failed-checks.ts'
import { isGoing, millis, order, runState } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { BatchView, PullView, RepositoryView } from './view.ts'
import { readReason } from './words/ejection.ts'
import type { Tone } from './words/labels.ts'
import { type Phrase, say } from './words/phrase.ts'
import { type TimelineParts, timelineWords } from './words/timeline.ts'

/** What the record says, then where it lies. Times in milliseconds since 1970. */
export interface TimelineEvent {
  kind: TimelineParts['key']
  at: number
  tone?: Tone | undefined
  says: Phrase
  /** AT-URI of the record that says so. */
  record: string
  /** Of an ejection: what failed. */
  failed: readonly FailedCheck[]
  /** Tip of the batch that it is about. */
  batch?: string | undefined
  /** AT-URI of the run that it is about, which has a log. */
  run?: string | undefined
  /** REC-9: when a record was first seen, long after its key's time. */
  seenAt?: number | undefined
}

const MOST = 200
const LATE = 10 * 60_000

/** The newest 200 events. */
export function timeline(view: RepositoryView, pull: PullView): TimelineEvent[] {
  return wholeTimeline(view, pull).events
}

/** The newest 200 events, oldest first, and how many there were before them. */
export function wholeTimeline(view: RepositoryView, pull: PullView): { events: TimelineEvent[]; earlier: number } {
  const opened = millis(pull.pull.value.createdAt) ?? tidMillis(pull.pull.rkey)
  const events = [
    event({ key: 'opened', by: pull.pull.did, head: pull.pull.value.head.branch }, opened, pull.pull.uri),
    ...ofRecords(pull),
    ...ofChecks(view, pull),
    ...ofBatches(view, pull),
    ...ofDecisions(pull),
  ]
  events.sort((a, b) => a.at - b.at || rank(a) - rank(b) || order(a.record, b.record))
  return { events: events.slice(-MOST), earlier: Math.max(0, events.length - MOST) }
}

/** Of one moment, what led to something stands before it. */
function rank({ kind }: TimelineEvent): number {
  if (kind === 'check') return 0
  return kind === 'batch-failed' || kind === 'dropped' ? 1 : 2
}

function event(parts: TimelineParts, at: number, record: string): TimelineEvent {
  return { kind: parts.key, at, ...timelineWords(parts), record, failed: [] }
}

function ofRecords(pull: PullView): TimelineEvent[] {
  let queuedBefore = false
  return pull.history.map(record => {
    const at = tidMillis(record.rkey)
    const made = { ...event(partsOf(record, pull, queuedBefore), at, record.uri) }
    if (record.value.state === 'queued') queuedBefore = true
    if ('checks' in record.value) made.failed = failedChecks(record.value)
    if (isQueueRecord(record) && !record.backfilled && record.seenAt - at > LATE) made.seenAt = record.seenAt
    return made
  })
}

/** REC-9 is about queue records. */
function isQueueRecord(record: { uri: string }): boolean {
  return record.uri.includes('/dev.knotless.queue/')
}

function partsOf(record: Stored<QueueRecord> | Stored<StateRecord>, pull: PullView, again: boolean): TimelineParts {
  const by = record.did
  const { value } = record
  switch (value.state) {
    case 'queued':
      return {
        key: 'queued',
        by,
        again,
        head: 'head' in value ? value.head : undefined,
        requeue: 'requeue' in value ? value.requeue : undefined,
      }
    case 'left':
      return { key: 'left', by }
    case 'ejected': {
      const { reason, says } = readReason('reason' in value ? value.reason : undefined, 'kind' in value ? value.kind : undefined)
      return { key: 'ejected', reason, says: say`${says}` }
    }
    case 'merged': {
      const isIt = record.uri === pull.stateRecord?.uri
      return {
        key: 'merged',
        by,
        branch: pull.branch,
        commit: 'commit' in value ? value.commit : undefined,
        there: isIt ? pull.mergedThere : undefined,
      }
    }
    case 'closed':
      return { key: 'closed', by }
    default:
      return { key: 'reopened', by }
  }
}

function ofChecks(view: RepositoryView, pull: PullView): TimelineEvent[] {
  return view
    .checksOf(pull.pull.uri)
    .slice(0, MOST)
    .map(run => {
      const { value } = run
      const ended = isGoing(value) ? undefined : millis(value.finishedAt)
      const at = ended ?? millis(value.startedAt) ?? millis(value.createdAt) ?? run.seenAt
      const parts = { key: 'check', name: value.workflow, state: runState(value), commit: value.commit, branch: pull.branch } as const
      return { ...event(parts, at, run.uri), run: run.uri }
    })
}

/** Each batch that held it as far as its checks are kept: that it was built, and that it failed or was dropped, and why. That it landed, its state says. */
function ofBatches(view: RepositoryView, pull: PullView): TimelineEvent[] {
  const branch = view.branches.get(pull.branch)
  const every = branch?.every ?? branch?.batches ?? []
  return every
    .filter(batch => batch.members.some(member => member.pull === pull.pull.uri))
    .slice(0, MOST)
    .flatMap(batch => {
      const [first] = batch.checks
      if (first === undefined) return []
      const size = batch.members.length
      const ahead = wasAhead(batch, every)
      const built = event({ key: 'in-batch', size, branch: batch.branch, base: batch.base, ahead }, batch.since, first.uri)
      return [built, ...endOfBatch(view, pull, batch)].map(each => ({ ...each, batch: batch.tip }))
    })
}

function endOfBatch(view: RepositoryView, pull: PullView, batch: BatchView): TimelineEvent[] {
  const at = endOf(batch)
  const size = batch.members.length
  // The run that ended last is the record that tells.
  const last = batch.checks.findLast(({ value }) => (millis(value.finishedAt) ?? batch.since) >= at) ?? batch.checks[0]
  if (last === undefined || !Number.isFinite(at)) return []
  if (batch.state === 'cancelled') {
    const every = view.branches.get(batch.branch)?.every ?? []
    const cause = dropOf(batch, every)
    const droppedAfter = droppedAt(view, batch, every)
    const mayHaveMoved = cause === undefined || cause === 'pull-moved-on' || cause === 'not-landed'
    const moved = mayHaveMoved ? movedOn(view, pull, { batch, at: droppedAfter, cause }) : undefined
    return [event({ key: 'dropped', size, branch: batch.branch, cause, moved }, droppedAfter, last.uri)]
  }
  if (batch.state !== 'failed') return []
  return [{ ...event({ key: 'batch-failed', size, ...redOf(batch) }, at, last.uri), failed: failedRuns(batch) }]
}

function failedRuns(batch: BatchView): TimelineEvent['failed'] {
  const red = new Set(['failed', 'no-verdict', 'unknown'])
  return batch.checks
    .filter(({ value }) => red.has(runState(value)))
    .map(({ uri, value: { workflow, status, verdict } }) => ({
      workflow,
      status,
      check: uri,
      ...(verdict === undefined ? {} : { verdict }),
    }))
}

function ofDecisions(pull: PullView): TimelineEvent[] {
  return (pull.decisions ?? []).map(({ rkey, uri, value }) => {
    const { verdict, kind, attempt, assertion, entry } = value
    return event({ key: 'decided', verdict, kind, attempt, assertion, entry }, tidMillis(rkey), uri)
  })
}
