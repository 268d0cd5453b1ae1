import { addressesOf, keptBatchesAt } from '../../indexer/history/read.ts'
import { pullsOfBatch } from '../../indexer/read/of-batch.ts'
import { checkAt, pageChecks } from '../../indexer/read.ts'
import { runOfCheck, type Story, type StoryRun } from '../../queue/batch-story.ts'
import { readEveryBatch } from '../../queue/batches.ts'
import type { Run, RunState } from '../../queue/runs.ts'
import { newestOf } from '../../queue/stats/kept.ts'
import { tidMillis } from '../../queue/tid.ts'
import type { BatchState, BatchView, PullView } from '../../queue/view.ts'
import { runLabels } from '../../queue/words/labels.ts'
import type { PageContext } from './context.ts'
import type { Located } from './locate.ts'

/** What a batch's page is made from: `checks` that are there, `kept` of checks that were cleared away, or `merged` records alone. */
export interface FoundBatch extends Story {
  from: 'checks' | 'kept' | 'merged'
  /** The batch as the queue's rules read it, where its checks are there. */
  view?: BatchView | undefined
}

/** The batch with this tip, in flight or long gone; undefined when nothing tells of one. */
export function findBatch(ctx: PageContext, at: Located, tip: string): FoundBatch | undefined {
  const batch = inView(at, tip) ?? fromChecks(ctx, at, tip)
  if (batch !== undefined) return ofChecks(ctx, at, batch)
  return fromKept(ctx, at, tip) ?? fromMerged(ctx, at, tip)
}

/** Whole commits that begin so, of batches that the repository's page knows. */
export function tipsThatBegin({ view }: Located, text: string): string[] {
  const tips = [...view.branches.values()].flatMap(({ every, landed }) => [...(every ?? []), ...landed].map(batch => batch.tip))
  return [...new Set(tips.filter(tip => tip.startsWith(text)))]
}

function inView({ view }: Located, tip: string): BatchView | undefined {
  for (const branch of view.branches.values()) {
    const found = branch.every?.find(batch => batch.tip === tip)
    if (found !== undefined) return found
  }
  return undefined
}

/** Its checks, where they are older than what the repository's view looks at. */
function fromChecks(ctx: PageContext, at: Located, tip: string): BatchView | undefined {
  const { view } = at
  const checks = checksAt(ctx, at, tip).filter(({ value }) => value.batch !== undefined && value.batch.length > 0)
  const newest = checks.find(({ value }) => value.baseCommit !== undefined)
  if (newest === undefined) return undefined
  const branch = newest.value.ref.replace(/^refs\/heads\//, '')
  const { generation } = newest.value
  const pulls = new Map(
    checks
      .flatMap(({ value }) => (value.batch ?? []).flatMap(({ pull }) => pullAt(ctx, at, pull) ?? []))
      .map(pull => [pull.pull.uri, pull]),
  )
  const of = { branch, generation, checks, pulls, roles: view.roles, tip: view.branches.get(branch)?.tip, lander: view.lander?.did }
  return readEveryBatch(of)[0]
}

function checksAt(ctx: PageContext, { row, view }: Located, tip: string): Run[] {
  return addressesOf(ctx.database, row.uri).flatMap(
    repo => pageChecks(ctx.database, { repo, writers: view.roles.runners, commit: tip, limit: 100 }).items,
  )
}

/** A pull of this repository, however long ago it was settled. */
function pullAt(ctx: PageContext, { view }: Located, uri: string): PullView | undefined {
  const known = view.pulls.get(uri)
  if (known !== undefined) return known
  const found = ctx.repositories.viewOfPull(uri)
  return found?.view.record.uri === view.record.uri ? found.view.pulls.get(uri) : undefined
}

function ofChecks(ctx: PageContext, at: Located, batch: BatchView): FoundBatch {
  const runs = batch.checks.map(runOfCheck)
  return {
    from: 'checks',
    view: batch,
    branch: batch.branch,
    base: batch.base,
    tip: batch.tip,
    state: batch.state,
    runner: batch.runner,
    trusted: batch.trusted,
    members: batch.members.map(member => ({ ...member, view: pullAt(ctx, at, member.pull) })),
    runs,
    since: batch.since,
    nothingRan: nothingRan(runs),
  }
}

function fromKept(ctx: PageContext, at: Located, tip: string): FoundBatch | undefined {
  const [kept] = keptBatchesAt(ctx.database, at.row.uri, tip)
  if (kept === undefined) return undefined
  const members = kept.members.map(member => ({ ...member, view: pullAt(ctx, at, member.pull) }))
  const isLanded = members.every(({ view, commit }) => view?.state === 'merged' && view.stateRecord?.value.commit === commit)
  const states: Readonly<Record<string, BatchState>> = { failed: 'failed', 'no-verdict': 'failed' }
  const runs = newestOf(kept.runs).map((run): StoryRun => {
    const { workflow, startedAt, endedAt, cause, retried, uri } = run
    const isThere = checkAt(ctx.database, uri) !== undefined
    return {
      uri: isThere ? uri : undefined,
      workflow,
      state: stateOf(run.state),
      startedAt,
      endedAt,
      cause,
      retried: retried.length,
      hasReport: false,
    }
  })
  return {
    from: 'kept',
    branch: kept.branch,
    base: kept.base,
    tip,
    state: isLanded ? 'landed' : (states[kept.outcome ?? ''] ?? 'cancelled'),
    runner: kept.runner,
    members,
    runs,
    since: kept.startedAt,
    nothingRan: nothingRan(runs),
  }
}

/** REA-5: what landed, from merged records; of checks those that the push took over or ran at the same commit. */
function fromMerged(ctx: PageContext, at: Located, tip: string): FoundBatch | undefined {
  const landed = pullsOfBatch(ctx.database, addressesOf(ctx.database, at.row.uri), tip).flatMap(uri => {
    const pull = pullAt(ctx, at, uri)
    const record = pull?.stateRecord
    const commit = record?.value.commit
    if (pull?.state !== 'merged' || pull.mergedThere === false || record?.value.batch !== tip || commit === undefined) return []
    return [{ pull: uri, commit, view: pull, record }]
  })
  landed.sort((a, b) => (a.record.rkey < b.record.rkey ? -1 : 1))
  const last = landed.at(-1)
  if (last === undefined) return undefined
  const runs = checksAt(ctx, at, tip).map(runOfCheck)
  return {
    from: 'merged',
    branch: last.view.branch,
    tip,
    state: 'landed',
    runner: last.record.did,
    members: landed.map(({ pull, commit, view }) => ({ pull, commit, view })),
    runs: [...new Map(runs.reverse().map(run => [run.workflow, run])).values()],
    since: undefined,
    nothingRan: landed.every(({ record }) => record.value.nothingRan === true),
  }
}

/** Skipped and reused runs are not counted (CHK-6). */
function nothingRan(runs: readonly StoryRun[]): boolean {
  return runs.every(({ state }) => state === 'skipped' || state === 'reused')
}

function stateOf(text: string): RunState {
  return isState(text) ? text : 'unknown'
}

function isState(text: string): text is RunState {
  return Object.hasOwn(runLabels, text)
}

/** When its pulls were recorded as merged, the last of them. */
export function landedAt({ members, tip }: FoundBatch): number | undefined {
  const keys = members.flatMap(({ view }) =>
    view?.state === 'merged' && view.stateRecord?.value.batch === tip ? view.stateRecord.rkey : [],
  )
  return keys.length === 0 ? undefined : Math.max(...keys.map(tidMillis))
}
