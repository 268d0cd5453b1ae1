/** Whether a failed batch is being checked in halves (FAI-3 to FAI-5), as far as records tell. */
import { millis, runState } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { BatchView, Halving, PullView } from './view.ts'

/**
 * The batch whose cause is being looked for: the newest that failed, while the branch has moved from its base by nothing but batches out of its
 * pulls, each of those still waits or has landed, and nothing else is being checked. `every` is each batch of the branch, the newest first.
 */
export function readHalving(
  branch: { tip?: string | undefined; queue: readonly PullView[] },
  every: readonly BatchView[],
  pulls: ReadonlyMap<string, PullView>,
): Halving | undefined {
  const failed = every.find(batch => batch.state === 'failed')
  if (failed === undefined || failed.members.length < 2) return undefined
  const ends = failed.checks
    .filter(({ value }) => runState(value) === 'failed')
    .map(({ value }) => millis(value.finishedAt) ?? failed.since)
  if (ends.length === 0) return undefined
  const members = new Set(failed.members.map(member => member.pull))
  const isOut = (batch: BatchView) => batch.members.every(member => members.has(member.pull))
  const later = every.filter(batch => batch.since > failed.since && batch.state !== 'cancelled')
  if (!later.every(isOut) || !leadsTo(failed.base, branch.tip, later)) return undefined

  const waiting = new Set(branch.queue.filter(({ entry }) => entry && tidMillis(entry.key) <= failed.since).map(each => each.pull.uri))
  const left = [...members].filter(uri => waiting.has(uri))
  const decided = [...members].every(uri => waiting.has(uri) || pulls.get(uri)?.state === 'merged')
  return left.length === 0 || !decided ? undefined : { size: members.size, failedAt: Math.max(...ends), suspects: left }
}

/** Whether the branch came from `base` to `tip` by these batches alone. */
function leadsTo(base: string, tip: string | undefined, batches: readonly BatchView[]): boolean {
  let at = base
  for (let steps = 0; at !== tip && steps <= batches.length; steps++) {
    const next = batches.find(batch => batch.base === at && (batch.state === 'landed' || batch.tip === tip))
    if (next === undefined) return false
    at = next.tip
  }
  return at === tip
}
