/** What happened to a pull: honoured records, its own checks and the batch that it is in, oldest first. */
import type { QueueRecord, StateRecord, Stored } from './facts.ts'
import { batchOf } from './places.ts'
import { isGoing, millis, order, runState } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { PullView, RepositoryView } from './view.ts'
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
  failed: readonly { workflow: string; status: string; check: string }[]
  /** REC-9: when a record was first seen, long after its key's time. */
  seenAt?: number | undefined
}

const MOST = 200
const LATE = 10 * 60_000

/** The newest 200 events. */
export function timeline(view: RepositoryView, pull: PullView): TimelineEvent[] {
  const opened = millis(pull.pull.value.createdAt) ?? tidMillis(pull.pull.rkey)
  const events = [
    event({ key: 'opened', by: pull.pull.did, head: pull.pull.value.head.branch }, opened, pull.pull.uri),
    ...ofRecords(pull),
    ...ofChecks(view, pull),
  ]
  const batch = batchOf(view, pull)
  const check = batch?.checks[0]
  if (batch !== undefined && check !== undefined) {
    events.push(event({ key: 'in-batch', size: batch.members.length, branch: batch.branch, base: batch.base }, batch.since, check.uri))
  }
  return events.sort((a, b) => a.at - b.at || order(a.record, b.record)).slice(-MOST)
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
    if ('checks' in record.value && record.value.checks !== undefined) made.failed = record.value.checks
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
      return { key: 'queued', by, again, requeue: 'requeue' in value ? value.requeue : undefined }
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
      return event({ key: 'check', name: value.workflow, state: runState(value), commit: value.commit, branch: pull.branch }, at, run.uri)
    })
}
