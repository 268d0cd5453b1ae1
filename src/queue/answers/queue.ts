/** dev.knotless.getQueue and dev.knotless.listQueues: branches' queues. */
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { repoOf } from '../admission.ts'
import { redOf } from '../batch-ends.ts'
import { isWhole } from '../batches.ts'
import { expectedOfBatch, usualRun } from '../expected.ts'
import { queueHealth } from '../health.ts'
import { countRuns, placeOf } from '../places.ts'
import { millis } from '../runs.ts'
import { standing } from '../standing.ts'
import { preflightsAtHead, whyInBatch } from '../standing-why.ts'
import { tidMillis } from '../tid.ts'
import type { BatchView, BranchView, LandedBatch, PullView, RepositoryView } from '../view.ts'
import { type BatchParts, batchWords } from '../words/batch.ts'
import { branchNotFound } from '../words/refusals.ts'
import { activityViews } from './activity.ts'
import { type Answer, type AnswerContext, phraseVoice, textVoice, type Voice } from './context.ts'
import { ejectionViews } from './ejections.ts'
import { toAtUri, toDatetime } from './formats.ts'
import { type PageQuery, pageOf } from './pages.ts'
import { accountView, checkView, expectedView, healthView, landerView, pullView, standingView, usualView } from './parts.ts'
import { statsViews } from './stats.ts'

export interface QueueQuery extends PageQuery {
  /** The default branch when absent. */
  branch?: string | undefined
  /** Tip and generation of a branch that the view does not list, since no pull is onto it: its queue is empty. */
  present?: { tip: string; generation: number } | undefined
}

/** The answer of dev.knotless.getQueue. */
export function queueAnswer(view: RepositoryView, query: QueueQuery, ctx: AnswerContext): Answer<knotless.getQueue.$OutputBody> {
  const found = queue(view, query, ctx, textVoice(ctx))
  const branch = found.ok ? view.branches.get(found.body.branch) : undefined
  return found.ok && branch !== undefined ? { ok: true, body: { ...found.body, activity: activityViews(view, branch, ctx) } } : found
}

/** The same for a page, its sentences in parts. */
export function queueParts(view: RepositoryView, query: QueueQuery, ctx: AnswerContext) {
  return queue(view, query, ctx, phraseVoice)
}

/** One summary per branch with a queue: the default one, those that take pulls only through it, and those that anything is queued on. */
export function queueSummaries(view: RepositoryView, ctx: AnswerContext): knotless.defs.QueueSummary[] {
  return summaries(view, ctx, textVoice(ctx))
}

export function queueSummaryParts(view: RepositoryView, ctx: AnswerContext) {
  return summaries(view, ctx, phraseVoice)
}

function queue<W>(view: RepositoryView, query: QueueQuery, ctx: AnswerContext, voice: Voice<W>) {
  const name = query.branch ?? view.record.value.defaultBranch
  const branch = view.branches.get(name) ?? emptyBranch(view, name, query.present)
  if (branch === undefined) {
    const refusal = branchNotFound(repoOf(view), name, [...view.branches.keys()])
    return { ok: false as const, refusal }
  }
  const { names } = ctx
  const page = pageOf(branch.queue, entryPlace, query)
  const body = {
    repo: toAtUri(view.uri),
    name: view.name,
    owner: accountView(view.roles.owner, names),
    branch: name,
    tip: branch.tip,
    length: branch.queue.length,
    queued: page.items.flatMap(pull => entryView(view, pull, ctx, voice)),
    cursor: page.cursor,
    batches: branch.batches.slice(0, 20).map(batch => batchView(view, batch, ctx, voice)),
    ejected: ejectionViews(view, branch, ctx, voice),
    landed: branch.landed.slice(0, 5).map(batch => landedView(view, batch, ctx)),
    lander: landerView(view, branch, ctx),
    health: healthView(queueHealth(view, branch, ctx), voice),
    stats: statsViews(name, ctx),
    unchecked: branch.unchecked ?? false,
    queueOnly: branch.queueOnly,
    version: ctx.version,
  }
  return { ok: true as const, body }
}

function emptyBranch(view: RepositoryView, branch: string, present: QueueQuery['present']): BranchView | undefined {
  if (present === undefined) return undefined
  const isDefault = branch === view.record.value.defaultBranch
  const none = { queue: [], batches: [], ejected: [], landed: [] }
  return { branch, ...present, isDefault, queueOnly: false, pinned: false, ...none }
}

/** The order of the queue as text: key, then writer. */
function entryPlace(pull: PullView): string {
  return pull.entry === undefined ? '' : `${pull.entry.key}:${pull.entry.by}`
}

export function entryView<W>(view: RepositoryView, pull: PullView, ctx: AnswerContext, voice: Voice<W>) {
  const { entry } = pull
  const place = placeOf(view, pull)
  if (entry === undefined || place === undefined) return []
  return [
    {
      pull: pullView(pull, ctx.names),
      position: place.position,
      record: toAtUri(entry.record.uri),
      key: entry.key,
      queuedBy: accountView(entry.by, ctx.names),
      queuedAt: toDatetime(tidMillis(entry.key)),
      standing: standingView(standing(view, pull, ctx), voice, ctx.names),
      preflights: preflightsAtHead(view, pull)
        .slice(0, 100)
        .map(({ value }) => ({ name: value.workflow, status: value.status, verdict: value.verdict })),
    },
  ]
}

/** A batch with its members' titles, in stacking order. */
function batchView<W>(view: RepositoryView, batch: BatchView, ctx: AnswerContext, voice: Voice<W>) {
  const branch = view.branches.get(batch.branch)
  const history = ctx.history?.(batch.branch)
  const expected = branch && expectedOfBatch(branch, batch, ctx, whyInBatch(view, branch, ctx)?.standstill)
  return {
    state: batch.state,
    base: batch.base,
    tip: batch.tip,
    since: toDatetime(batch.since),
    members: batch.members.slice(0, 50).map(member => memberView(view, member, ctx)),
    checks: batch.checks
      .slice(0, 1000)
      .map(run => ({ ...checkView(run, ctx.names), usual: usualView(usualRun(history, run.value.workflow)) })),
    expected: expectedView(expected, voice),
    says: voice(batchWords(batchParts(batch, branch?.tip))),
    nothingRan: countRuns(batch).of === 0,
    isolated: batch.isolated,
  }
}

/** What a batch's words are made of; `at`: the commit that its branch is at. */
export function batchParts(batch: BatchView, at?: string): BatchParts {
  const { state, base, tip, branch, runner } = batch
  const { passed, of, running, failed, noVerdict } = countRuns(batch)
  const nothingRan = of === 0
  switch (state) {
    case 'checking':
      return { state, passed, of, running }
    case 'red-undecided':
      return { state, failed: redOf(batch).names }
    case 'landing':
      return { state, lander: runner, branch, tip, nothingRan, moved: tip === at }
    case 'landed':
      return { state, branch, base, tip, nothingRan }
    case 'failed':
      return { state, failed, noVerdict, size: batch.members.length }
    case 'cancelled':
      return { state, whole: isWhole(batch.checks) }
    default:
      return { state }
  }
}

function memberView(view: RepositoryView, member: { pull: string; commit: string; head?: string }, ctx: AnswerContext) {
  const pull = view.pulls.get(member.pull)?.pull
  return {
    pull: toAtUri(member.pull),
    title: pull?.value.title,
    author: pull === undefined ? undefined : accountView(pull.did, ctx.names),
    head: member.head,
    commit: member.commit,
  }
}

/** A batch that landed, with its members' titles. */
export function landedView(view: RepositoryView, batch: LandedBatch, ctx: AnswerContext) {
  return {
    tip: batch.tip,
    at: toDatetime(batch.at),
    by: accountView(batch.by, ctx.names),
    members: batch.members.slice(0, 200).map(member => memberView(view, member, ctx)),
    checks: batch.checks.slice(0, 1000).map(run => checkView(run, ctx.names)),
    checkedSeconds: checkedFor(batch),
    nothingRan: batch.nothingRan ? true : undefined,
  }
}

/** From the first check of a batch that was filed until the last one ended, in seconds; undefined while that is not known. */
function checkedFor({ checks }: LandedBatch): number | undefined {
  const filed = checks.map(({ value }) => millis(value.createdAt)).filter(time => time !== undefined)
  const ended = checks.map(({ value }) => millis(value.finishedAt)).filter(time => time !== undefined)
  if (filed.length === 0 || ended.length === 0) return undefined
  const spent = Math.max(...ended) - Math.min(...filed)
  return spent < 0 ? undefined : Math.round(spent / 1000)
}

function summaries<W>(view: RepositoryView, ctx: AnswerContext, voice: Voice<W>) {
  return [...view.branches.values()].filter(hasQueue).map(branch => {
    const [first] = branch.queue
    return {
      repo: toAtUri(view.uri),
      name: view.name,
      owner: accountView(view.roles.owner, ctx.names),
      branch: branch.branch,
      length: branch.queue.length,
      oldest: first?.entry === undefined ? undefined : toDatetime(tidMillis(first.entry.key)),
      batches: branch.batches.length,
      health: healthView(queueHealth(view, branch, ctx), voice),
      lastLanding: toDatetime(branch.landed[0]?.at),
      isDefault: branch.isDefault,
      queueOnly: branch.queueOnly,
    }
  })
}

function hasQueue(branch: BranchView): boolean {
  return branch.isDefault || branch.queueOnly || branch.queue.length > 0 || branch.batches.length > 0 || branch.landed.length > 0
}
