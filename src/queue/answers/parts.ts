/** The shapes that answers share: accounts, pulls, checks, standings, boxes, refusals, health, landers. */
import type * as knotless from '../../lexicons/dev/knotless.ts'
import type { Box } from '../box.ts'
import type { Expected } from '../expected.ts'
import type { Health } from '../health.ts'
import { landerLife } from '../lander-life.ts'
import { millis, type Run } from '../runs.ts'
import { type Standing, standing, standingLabel } from '../standing.ts'
import { tidMillis } from '../tid.ts'
import type { BranchView, PullView, RepositoryView } from '../view.ts'
import type { UsualSpan } from '../words/expected.ts'
import { join, type Names } from '../words/phrase.ts'
import type { Refusal } from '../words/refusals.ts'
import { type AnswerContext, textVoice, type Voice } from './context.ts'
import { toAtUri, toDatetime, toDid } from './formats.ts'

export function accountView(did: string, names: Names) {
  return { did: toDid(did), handle: names(did) }
}

/** A pull without its record as written, which can be long: the answer about one pull adds it. */
export function pullView(pull: PullView, names: Names) {
  const { value, uri, cid, did } = pull.pull
  return {
    uri: toAtUri(uri),
    cid,
    author: accountView(did, names),
    title: value.title,
    branch: pull.branch,
    head: { repo: value.head.repo, branch: value.head.branch, commit: pull.head },
    draft: pull.draft,
    state: pull.state,
    createdAt: value.createdAt,
  }
}

export function checkView(run: Run, names: Names) {
  const { value } = run
  return {
    uri: toAtUri(run.uri),
    runner: accountView(run.did, names),
    workflow: value.workflow,
    status: value.status,
    verdict: value.verdict,
    commit: value.commit,
    baseCommit: value.baseCommit,
    pull: value.pull,
    preflight: value.queue === 'first' ? true : undefined,
    isolated: value.isolated,
    summary: value.summary,
    reusedFrom: value.reusedFrom,
    createdAt: value.createdAt,
    startedAt: value.startedAt,
    finishedAt: value.finishedAt,
  }
}

export function standingView<W>(of: Standing, voice: Voice<W>, names: Names) {
  return {
    kind: of.kind,
    text: voice(of.text),
    label: standingLabel(of),
    branch: of.branch,
    position: of.position,
    length: of.length,
    since: toDatetime(of.since),
    why: of.why === undefined ? undefined : voice(of.why),
    preflights: of.preflights.length === 0 ? undefined : [...of.preflights],
    batch: of.batch,
    expected: expectedView(of.expected, voice),
    requeue: of.requeue,
    reason: of.reason,
    ejectionKind: of.ejectionKind,
    commit: of.commit,
    record: of.record === undefined ? undefined : toAtUri(of.record),
    by: of.by === undefined ? undefined : accountView(of.by, names),
    queuedAtHead: of.queuedAtHead,
    backdated:
      of.backdated === undefined ? undefined : { keyTime: toDatetime(of.backdated.keyTime), seenAt: toDatetime(of.backdated.seenAt) },
  }
}

/** When something is expected to land, or why that cannot be said. */
export function expectedView<W>(of: Expected | undefined, voice: Voice<W>) {
  if (of === undefined) return undefined
  if ('none' in of) return { none: voice(of.none) }
  return { from: toDatetime(of.from), to: toDatetime(of.to), basis: voice(of.basis) }
}

/** What runs of a workflow usually take, in whole seconds. */
export function usualView(of: UsualSpan | undefined) {
  const seconds = (ms: number) => Math.round(ms / 1000)
  return of && { from: seconds(of.from), typical: seconds(of.typical), to: seconds(of.to) }
}

/** A pull's standing as XRPC answers carry it. */
export function standingOf(view: RepositoryView, pull: PullView, ctx: AnswerContext): knotless.defs.Standing {
  return standingView(standing(view, pull, ctx), textVoice(ctx), ctx.names)
}

/** A box; `whole` says its notes too, for readers who do not make them from the standing. */
export function boxView<W>(box: Box, voice: Voice<W>, whole: boolean) {
  return {
    key: box.key,
    headline: voice(box.headline),
    says: voice(whole ? join(box.says, box.notes) : box.says),
    tone: box.tone,
    since: toDatetime(box.since),
    files: box.files.length === 0 ? undefined : box.files.map(path => ({ path })),
    moreFiles: box.moreFiles === 0 ? undefined : box.moreFiles,
  }
}

/** A refusal as programs and people get it; lists are cut to what the lexicon allows. */
export function refusalView<W>(refusal: Refusal, voice: Voice<W>, names: Names) {
  return {
    code: refusal.code,
    message: voice(refusal.message),
    advice: refusal.advice === undefined ? undefined : voice(refusal.advice),
    files: refusal.files?.slice(0, 100).map(path => ({ path })),
    workflows: refusal.workflows?.slice(0, 100).map(name => ({ name })),
    people: refusal.people?.slice(0, 101).map(did => accountView(did, names)),
  }
}

/** Whether something is allowed, from a judgement. */
export function permissionView<W>(judgement: { ok: true } | { ok: false; refusal: Refusal }, voice: Voice<W>, names: Names) {
  return judgement.ok ? { allowed: true } : { allowed: false, refusal: refusalView(judgement.refusal, voice, names) }
}

export function healthView<W>(health: Health, voice: Voice<W>) {
  return {
    kind: health.kind,
    tone: health.label.tone,
    label: health.label.word,
    bold: health.bold,
    says: voice(health.says),
    advice: health.advice === undefined ? undefined : voice(health.advice),
    since: toDatetime(health.since),
    notes:
      health.notes.length === 0
        ? undefined
        : health.notes.map(({ kind, bold, says, advice }) => ({ kind, bold, says: voice(says), advice: advice && voice(advice) })),
  }
}

/** When a batch was last begun, checked, landed or turned away, by records, in milliseconds since 1970: what a lander said before that is over. */
function lastMove(branch: BranchView | undefined, now: number): number {
  const ejection = branch?.ejected[0]?.ejection
  const moves = [
    ...(branch?.batches ?? []).flatMap(({ since, checks }) => [since, ...checks.map(({ value }) => millis(value.finishedAt))]),
    branch?.landed[0]?.at,
    ejection && tidMillis(ejection.rkey),
  ]
  // Times of a clock that is ahead say nothing.
  return moves.reduce<number>((last, time) => (time === undefined || time > now ? last : Math.max(last, time)), 0)
}

/** Who lands a branch, and the last sign of it, the same that health and standings speak from; undefined when nobody does. */
export function landerView(view: RepositoryView, branch: BranchView | undefined, ctx: AnswerContext) {
  const { lander } = view
  if (lander === undefined) return undefined
  const settings = lander.record?.value
  const told = ctx.lastSeen?.get(lander.did)
  return {
    account: accountView(lander.did, ctx.names),
    named: lander.named,
    lastSeen: toDatetime(landerLife(view, branch, ctx).seenAt),
    nextBy: toDatetime(told?.dueAt),
    waitsFor: told !== undefined && told.at >= lastMove(branch, ctx.now) ? told.says : undefined,
    running: settings === undefined ? undefined : settings.stoppedAt === undefined,
    batch: settings?.batch,
    depth: settings?.depth,
    wait: settings?.wait,
    jobs: settings?.jobs,
    timeout: settings?.timeout,
    startedAt: settings?.startedAt,
    executor: settings?.executor,
    version: settings?.version,
    git: settings?.git,
  }
}
