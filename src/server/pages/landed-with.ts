import { checkAt } from '../../indexer/read.ts'
import type { AnswerContext } from '../../queue/answers/context.ts'
import { checkView } from '../../queue/answers/parts.ts'
import type { StoryRun } from '../../queue/batch-story.ts'
import type { RunState } from '../../queue/runs.ts'
import { prunedWords } from '../../queue/words/batch.ts'
import type { CheckLine, MemberLine, PullPage } from '../../views/models.ts'
import { type FoundBatch, findBatch } from './batch-find.ts'
import type { PageContext } from './context.ts'
import type { LocatedPull } from './pull-path.ts'

/**
 * REA-5: the pulls that a landed pull shares its batch with, and that batch's checks: its own, what was kept of them, or those that ran at the same
 * commit. Undefined for a pull that landed in none that is known.
 */
export function landedWith(
  ctx: PageContext,
  at: LocatedPull,
  asking: AnswerContext,
): { checks: CheckLine[]; landed: NonNullable<PullPage['landed']> } | undefined {
  const { pull } = at
  const tip = pull.state === 'merged' ? pull.stateRecord?.value.batch : undefined
  const batch = tip === undefined ? undefined : findBatch(ctx, at, tip)
  if (tip === undefined || batch === undefined) return undefined
  const checks = checksOf(ctx, at, batch, asking)
  const says = batch.from === 'checks' || checks.length === 0 ? undefined : prunedWords(batch.from === 'kept')
  return { checks, landed: { tip, others: othersOf(at, batch), checked: checks.length > 0, says } }
}

function othersOf({ pull, names }: LocatedPull, batch: FoundBatch): MemberLine[] {
  return batch.members.flatMap(({ pull: uri, commit, view }) => {
    if (uri === pull.pull.uri || view?.state !== 'merged' || view.stateRecord?.value.batch !== batch.tip) return []
    const { did, value } = view.pull
    return [{ pull: uri, title: value.title, author: { did, handle: names(did) }, commit }]
  })
}

function checksOf(ctx: PageContext, at: LocatedPull, batch: FoundBatch, asking: AnswerContext): CheckLine[] {
  if (batch.view !== undefined) return batch.view.checks.map(run => checkView(run, asking.names))
  return batch.runs.map(run => {
    const record = run.uri === undefined ? undefined : checkAt(ctx.database, run.uri)
    return record === undefined ? keptLine(at, batch, run) : checkView(record, asking.names)
  })
}

const STATUSES: Readonly<Record<RunState, { status: string; verdict?: string; reusedFrom?: string }>> = {
  queued: { status: 'queued' },
  running: { status: 'running' },
  passed: { status: 'success' },
  failed: { status: 'failure' },
  'no-verdict': { status: 'error', verdict: 'other' },
  cancelled: { status: 'cancelled' },
  skipped: { status: 'skipped' },
  reused: { status: 'success', reusedFrom: '' },
  unknown: { status: 'unknown' },
}

/** A run whose check was cleared away: it has no page. */
function keptLine({ names }: LocatedPull, batch: FoundBatch, run: StoryRun): CheckLine {
  return {
    uri: '',
    runner: { did: batch.runner, handle: names(batch.runner) },
    workflow: run.workflow,
    ...STATUSES[run.state],
    commit: batch.tip,
    baseCommit: batch.base,
    createdAt: run.startedAt ?? batch.since ?? 0,
    startedAt: run.startedAt,
    finishedAt: run.endedAt,
  }
}
