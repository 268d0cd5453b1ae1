/** What the labels mean, for the page of help. */
import type { BoxKey } from './box.ts'
import { batchLabels, type HealthKind, healthLabels, type Label, type PullLabel, pullLabels, runLabels } from './labels.ts'
import { openLabel } from './open.ts'

/** A label and what it means, in one sentence. */
export interface Meaning {
  label: Label
  says: string
}

const pulls: Readonly<Record<PullLabel, string>> = {
  open: 'Nobody has queued it.',
  draft: 'Its author holds it back; it cannot be queued.',
  queued: 'It has a place in the queue, which is said as “2nd of 5”.',
  waiting: 'It is queued, and a pre-flight of it has not passed yet. Others go ahead meanwhile.',
  held: 'It is queued, and changes the same as a pull ahead of it.',
  'in-batch': 'It is merged onto the branch together with others, and they are being checked as they will land.',
  landing: 'Every check passed, and the branch is being moved.',
  merged: 'It is on the branch.',
  'not-there': 'It was recorded as merged, and the branch does not contain it.',
  ejected: 'It was turned away, and says why. It can be added again, with a new head or without.',
  closed: 'Somebody closed it. It can be opened again.',
}

/** Of open pulls that are not queued. */
const opens: readonly (readonly [BoxKey, string])[] = [
  ['ready', 'It applies on the branch, and no check of it failed at its head: it can be queued.'],
  ['conflict', 'It does not apply on the branch as that is now. Its page names the files.'],
  ['checks-failed', 'A check failed at its head. A new head is checked afresh.'],
  ['head-gone', 'The branch that it comes from was deleted.'],
]

const batches: Readonly<Partial<Record<keyof typeof batchLabels, string>>> = {
  checking: 'Its workflows run on what the branch would be with it.',
  ahead: 'It stands on a batch that is still being checked, and lands only if that one does.',
  'passed-waiting': 'It passed, and waits for the batch under it.',
  'red-undecided': 'A workflow of it failed. Whether that was its own doing is known once the batch under it is decided.',
  landing: 'Every workflow passed, and the branch is being moved to it.',
  landed: 'The branch has moved to it, commit for commit as it was checked.',
  failed: 'A workflow failed. With one pull in it that pull is turned away; with more it is checked in halves, until the cause is found.',
  cancelled: 'The queue gave it up, since what it stood on or held has changed. Nobody is blamed; it is built again.',
}

const runs: Readonly<Partial<Record<keyof typeof runLabels, string>>> = {
  queued: 'It waits for a free job.',
  running: 'It is going on; its log grows while one looks.',
  passed: 'It found nothing wrong.',
  failed: 'It found something wrong, or could not be carried out as it is written.',
  'no-verdict': 'It was cut off: out of time, its machine lost, its disk full. That says nothing about the pull.',
  cancelled: 'It was stopped, since nobody needs its verdict any more.',
  skipped: 'Nothing that it looks at was changed.',
  reused: 'It passed before on exactly the same files, so it was not run again.',
}

const healths: readonly (readonly [HealthKind, string])[] = [
  ['checking', 'It works as it should.'],
  ['idle', 'It works, and nothing is queued.'],
  ['halving', 'A batch failed, and is checked in halves; nothing runs ahead meanwhile.'],
  ['no-lander', 'Nobody is there to land, or nothing has moved for long. What is queued keeps its place.'],
  ['never-lander', 'A runner is named, and was never seen.'],
  ['churn', 'Batches are dropped one after the other, since the branch is pushed to past the queue.'],
  ['not-delegated', 'The owner does not let this server write for them, so it cannot land anything.'],
  ['unchecked', 'No workflow runs on its pulls, so that batches pass with nothing run.'],
  ['stopping', 'Its runner was stopped, or is about to stop.'],
  ['no-runners', 'The repository names no runner: its pulls are merged by hand.'],
]

function meanings<K extends string>(
  table: Readonly<Record<K, Label>>,
  says: Readonly<Partial<Record<K, string>>>,
  order: readonly K[],
): Meaning[] {
  return order.flatMap(key => {
    const said = says[key]
    return said === undefined ? [] : [{ label: table[key], says: said }]
  })
}

/** What every label of pulls, batches, runs and queues means, in the order in which they are met. */
export function meaningsOfLabels(): { of: string; rows: Meaning[] }[] {
  return [
    {
      of: 'A pull',
      rows: [
        ...meanings(pullLabels, pulls, ['open']),
        ...opens.flatMap(([key, says]) => {
          const label = openLabel(key)
          return label === undefined ? [] : [{ label, says }]
        }),
        ...meanings(pullLabels, pulls, [
          'draft',
          'queued',
          'waiting',
          'held',
          'in-batch',
          'landing',
          'merged',
          'ejected',
          'closed',
          'not-there',
        ]),
      ],
    },
    {
      of: 'A batch',
      rows: meanings(batchLabels, batches, [
        'checking',
        'ahead',
        'passed-waiting',
        'red-undecided',
        'landing',
        'landed',
        'failed',
        'cancelled',
      ]),
    },
    {
      of: 'A run of a workflow',
      rows: meanings(runLabels, runs, ['queued', 'running', 'passed', 'failed', 'no-verdict', 'cancelled', 'skipped', 'reused']),
    },
    { of: 'A queue', rows: healths.map(([kind, says]) => ({ label: healthLabels[kind], says })) },
  ]
}
