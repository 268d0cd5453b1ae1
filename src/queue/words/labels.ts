/** State labels: a word, the octicon beside it and the tone, which only repeats the word. */
import type { RunState } from '../runs.ts'
import type { BatchState } from '../view.ts'

export type Tone = 'success' | 'attention' | 'danger' | 'accent' | 'done' | 'neutral'

export interface Label {
  readonly word: string
  /** Name of the octicon. */
  readonly icon: string
  readonly tone: Tone
}

function label(word: string, icon: string, tone: Tone): Label {
  return { word, icon, tone }
}

export type PullLabel =
  | 'open'
  | 'draft'
  | 'queued'
  | 'waiting'
  | 'held'
  | 'in-batch'
  | 'landing'
  | 'merged'
  | 'not-there'
  | 'ejected'
  | 'closed'

export const pullLabels: Readonly<Record<PullLabel, Label>> = {
  open: label('Open', 'git-pull-request', 'success'),
  draft: label('Draft', 'git-pull-request-draft', 'neutral'),
  queued: label('Queued', 'git-merge-queue', 'attention'),
  waiting: label('Waiting', 'hourglass', 'attention'),
  held: label('Held', 'blocked', 'attention'),
  'in-batch': label('In a batch', 'stack', 'accent'),
  landing: label('Landing', 'git-merge-queue', 'accent'),
  merged: label('Merged', 'git-merge', 'done'),
  'not-there': label('Not landed', 'alert', 'danger'),
  ejected: label('Ejected', 'x-circle', 'danger'),
  closed: label('Closed', 'git-pull-request-closed', 'danger'),
}

export const batchLabels: Readonly<Record<BatchState, Label>> = {
  checking: label('Being checked', 'sync', 'accent'),
  ahead: label('Running ahead', 'stack', 'neutral'),
  'passed-waiting': label('Passed, waiting', 'check-circle', 'success'),
  'red-undecided': label('Red, undecided', 'alert', 'attention'),
  landing: label('Landing', 'git-merge-queue', 'accent'),
  landed: label('Landed', 'git-merge', 'done'),
  cancelled: label('Dropped', 'circle-slash', 'neutral'),
  failed: label('Failed', 'x-circle', 'danger'),
}

export const runLabels: Readonly<Record<RunState, Label>> = {
  queued: label('Queued', 'clock', 'neutral'),
  running: label('Running', 'sync', 'accent'),
  passed: label('Passed', 'check-circle', 'success'),
  failed: label('Failed', 'x-circle', 'danger'),
  'no-verdict': label('No verdict', 'alert', 'attention'),
  cancelled: label('Cancelled', 'circle-slash', 'neutral'),
  skipped: label('Skipped', 'skip', 'neutral'),
  reused: label('Reused', 'history', 'success'),
  unknown: label('Not passed', 'alert', 'attention'),
}

/** Of a run without a verdict, where time is why. */
export const timedOutLabel: Label = label('Timed out', 'alert', 'attention')

export type HealthKind =
  | 'busy'
  | 'checking'
  | 'filling'
  | 'waiting'
  | 'idle'
  | 'halving'
  | 'no-lander'
  | 'never-lander'
  | 'stall'
  | 'churn'
  | 'not-delegated'
  | 'no-runners'
  | 'unchecked'
  | 'stopping'
  | 'trouble'
  | 'behind'

const healthy = label('Healthy', 'check-circle', 'success')
const stalled = label('Stalled', 'alert', 'danger')

export const healthLabels: Readonly<Record<HealthKind, Label>> = {
  busy: healthy,
  checking: healthy,
  filling: healthy,
  waiting: healthy,
  idle: label('Idle', 'check-circle', 'success'),
  halving: label('Finding the cause', 'alert', 'accent'),
  'no-lander': stalled,
  'never-lander': label('Not started', 'alert', 'danger'),
  stall: stalled,
  churn: label('Churning', 'alert', 'attention'),
  'not-delegated': label('Not delegated', 'shield-lock', 'danger'),
  'no-runners': label('Merged by hand', 'person', 'neutral'),
  unchecked: label('Unchecked', 'alert', 'attention'),
  stopping: label('Stopped', 'alert', 'attention'),
  trouble: label('Trouble', 'alert', 'attention'),
  behind: label('Catching up', 'sync', 'neutral'),
}

/** Of settings and the audit log. */
export const gatewayLabels = {
  given: label('Given', 'shield-check', 'success'),
  /** The same, said of a repository. */
  delegated: label('Delegated', 'shield-check', 'success'),
  never: label('Not given', 'shield-slash', 'neutral'),
  withdrawn: label('Withdrawn', 'shield-slash', 'neutral'),
  lost: label('Lost', 'shield-slash', 'danger'),
  written: label('Written', 'check-circle', 'success'),
  refused: label('Refused', 'x-circle', 'danger'),
  unknown: label('Unknown', 'alert', 'attention'),
} as const

export const stewardLabels = {
  requeued: label('Requeued', 'iterations', 'attention'),
  rejected: label('Rejected', 'x-circle', 'danger'),
  none: label('Not decided', 'circle-slash', 'neutral'),
} as const
