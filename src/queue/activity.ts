/** What happened to a branch's queue, newest first, each from a record (REA-1). */
import { dropOf, endOf, redOf, wasAhead } from './batch-ends.ts'
import { readLanded } from './batches.ts'
import { droppedAt } from './drops.ts'
import type { QueueRecord, StateRecord, Stored } from './facts.ts'
import { millis, order } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { BatchView, BranchView, PullView, RepositoryView } from './view.ts'
import { type ActivityParts, activityWords } from './words/activity.ts'
import { readReason } from './words/ejection.ts'
import type { Tone } from './words/labels.ts'
import type { Phrase } from './words/phrase.ts'

/** `at` in milliseconds since 1970. */
export interface ActivityEvent {
  kind: ActivityParts['kind']
  at: number
  tone?: Tone | undefined
  /** Without the pull that it is about. */
  says: Phrase
  about?: { title: string; pull: string } | undefined
  /** AT-URI of the record that says so. */
  record: string
  /** Tip of the batch that it is about. */
  batch?: string | undefined
}

const MOST = 50
const known = new WeakMap<BranchView, readonly ActivityEvent[]>()

/** The last 50 events; worked out once for each branch as it was read. */
export function queueActivity(view: RepositoryView, branch: BranchView): readonly ActivityEvent[] {
  const found = known.get(branch) ?? read(view, branch)
  known.set(branch, found)
  return found
}

function read(view: RepositoryView, branch: BranchView): ActivityEvent[] {
  const pulls = [...view.pulls.values()].filter(pull => pull.branch === branch.branch)
  const batches = readLanded({ branch: branch.branch, pulls: new Map(pulls.map(pull => [pull.pull.uri, pull])), checks: [], most: MOST })
  const landed = new Set(batches.flatMap(batch => batch.members.map(member => member.pull)))
  const events = [
    ...pulls.flatMap(pull => ofPull(pull, landed.has(pull.pull.uri))),
    ...batches.flatMap(batch => {
      const record = view.pulls.get(batch.members.at(-1)?.pull ?? '')?.stateRecord
      if (record === undefined) return []
      return event({ kind: 'landed', size: batch.members.length, branch: branch.branch, tip: batch.tip }, batch.at, record.uri, {
        batch: batch.tip,
      })
    }),
    ...(branch.every ?? branch.batches).flatMap(batch => ofBatch(view, branch, batch)),
    ...ofLander(view),
  ]
  // Of one moment what led to something stands under it.
  return events.sort((a, b) => b.at - a.at || order(b.record, a.record)).slice(0, MOST)
}

function event(parts: ActivityParts, at: number, record: string, more: Pick<ActivityEvent, 'about' | 'batch'> = {}): ActivityEvent {
  return { kind: parts.kind, at, ...activityWords(parts), record, ...more }
}

function ofPull(pull: PullView, isInBatch: boolean): ActivityEvent[] {
  const about = { title: pull.pull.value.title, pull: pull.pull.uri }
  let again = false
  const events = pull.history.flatMap(record => {
    const parts = partsOf(record, again)
    if (record.value.state === 'queued') again = true
    // Of what landed with its batch the batch's line says so.
    return parts === undefined || (parts.kind === 'merged' && isInBatch)
      ? []
      : [event(parts, tidMillis(record.rkey), record.uri, { about })]
  })
  const rejections = (pull.decisions ?? []).filter(({ value }) => value.verdict === 'reject')
  return [...events, ...rejections.map(({ rkey, uri }) => event({ kind: 'rejected' }, tidMillis(rkey), uri, { about }))].slice(-MOST)
}

function partsOf(record: Stored<QueueRecord> | Stored<StateRecord>, again: boolean): ActivityParts | undefined {
  const by = record.did
  const { value } = record
  switch (value.state) {
    case 'queued':
      return { kind: 'queued', by, again, requeue: 'requeue' in value ? value.requeue : undefined }
    case 'left':
      return { kind: 'left', by }
    case 'ejected':
      return {
        kind: 'ejected',
        reason: readReason('reason' in value ? value.reason : undefined, 'kind' in value ? value.kind : undefined).reason,
      }
    case 'merged':
      return { kind: 'merged', by }
    case 'closed':
      return { kind: 'closed', by }
    case 'open':
      return { kind: 'reopened', by }
    default:
      return undefined
  }
}

/** That it was built, and what became of it; that it landed its pulls say. */
function ofBatch(view: RepositoryView, branch: BranchView, batch: BatchView): ActivityEvent[] {
  const record = batch.checks[0]?.uri
  if (record === undefined) return []
  const size = batch.members.length
  const ahead = wasAhead(batch, branch.every ?? [])
  const built = event({ kind: 'built', by: batch.runner, size, base: batch.base, ahead }, batch.since, record, { batch: batch.tip })
  // Of pulls that landed long ago nothing is known here, nor whether their batch did.
  const isKnown = batch.members.every(member => view.pulls.has(member.pull))
  const ended = isKnown ? endParts(branch, batch) : undefined
  return ended === undefined
    ? [built]
    : [
        built,
        event(ended, ended.kind === 'dropped' ? droppedAt(view, batch, branch.every ?? []) : endOf(batch), record, { batch: batch.tip }),
      ]
}

function endParts(branch: BranchView, batch: BatchView): ActivityParts | undefined {
  const size = batch.members.length
  if (batch.state === 'cancelled') return { kind: 'dropped', size, branch: branch.branch, cause: dropOf(batch, branch.every ?? []) }
  if (batch.state !== 'failed') return undefined
  return { kind: 'failed', size, ...redOf(batch) }
}

function ofLander(view: RepositoryView): ActivityEvent[] {
  const { lander } = view
  const record = lander?.record
  if (lander === undefined || record === undefined) return []
  const startedAt = millis(record.value.startedAt)
  const stoppedAt = millis(record.value.stoppedAt)
  return [
    ...(startedAt === undefined ? [] : [event({ kind: 'started', by: lander.did }, startedAt, record.uri)]),
    ...(stoppedAt === undefined ? [] : [event({ kind: 'stopped', by: lander.did }, stoppedAt, record.uri)]),
  ]
}
