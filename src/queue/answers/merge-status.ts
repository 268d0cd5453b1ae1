/** dev.knotless.getMergeStatus: where a pull stands, whether it would land, what the caller may do. */
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { judgeLeave, judgeMerge, judgeQueue } from '../admission.ts'
import { runsAtHead } from '../at-head.ts'
import { mergeBox } from '../box.ts'
import { judgeChange } from '../changing.ts'
import { queueHealth } from '../health.ts'
import { standing } from '../standing.ts'
import { timeline } from '../timeline.ts'
import type { PullView, RepositoryView } from '../view.ts'
import { type ChangeAct, pullNotFound } from '../words/refusals.ts'
import { type Answer, type AnswerContext, phraseVoice, textVoice, type Voice } from './context.ts'
import { toAtUri, toDatetime, toDid, toUri } from './formats.ts'
import { accountView, boxView, checkView, healthView, landerView, permissionView, pullView, standingView } from './parts.ts'

/** The answer of the method, with the pull's record as written. */
export function mergeStatusAnswer(view: RepositoryView, pull: string, ctx: AnswerContext): Answer<knotless.getMergeStatus.$OutputBody> {
  const found = view.pulls.get(pull)
  if (found === undefined) return { ok: false, refusal: pullNotFound() }
  const body = mergeStatus(view, found, ctx, textVoice(ctx), true)
  const happened = { timeline: timelineViews(view, found, ctx) }
  return { ok: true, body: { ...body, ...happened, pull: { ...body.pull, record: { ...found.pull.value } } } }
}

/** The same for a page, its sentences in parts; the page says the notes on an entry (QUE-9, REC-9) itself. */
export function mergeStatusParts(view: RepositoryView, pull: PullView, ctx: AnswerContext) {
  return mergeStatus(view, pull, ctx, phraseVoice, false)
}

function mergeStatus<W>(view: RepositoryView, pull: PullView, ctx: AnswerContext, voice: Voice<W>, whole: boolean) {
  const { names } = ctx
  const branch = view.branches.get(pull.branch)
  const question = { view, pull: pull.pull.uri, caller: ctx.caller, gateway: ctx.gateway }
  const { gateway } = view.record.value
  const change = (act: ChangeAct) => {
    const judged = judgeChange(act, question)
    // What is so already would not be done.
    return judged.ok && judged.already ? { allowed: false } : permissionView(judged, voice, names)
  }
  return {
    pull: pullView(pull, names),
    state: pull.state,
    draft: pull.draft,
    tip: branch?.tip,
    applies: pull.merge?.applies,
    conflicts: (pull.merge?.conflicts ?? []).slice(0, 100).map(path => ({ path })),
    checks: runsAtHead(view, pull)
      .slice(0, 1000)
      .map(run => checkView(run, names)),
    queueOnly: branch?.queueOnly ?? false,
    unchecked: branch?.unchecked ?? false,
    changesChecks: pull.merge?.changesChecks ?? false,
    standing: standingView(standing(view, pull, ctx), voice, names),
    box: boxView(mergeBox(view, pull, ctx), voice, whole),
    can: {
      queue: permissionView(judgeQueue(question), voice, names),
      leave: permissionView(judgeLeave(question), voice, names),
      merge: permissionView(judgeMerge(question), voice, names),
      close: change('close'),
      reopen: change('reopen'),
      ready: change('ready'),
      draft: change('draft'),
    },
    gateway: {
      did: gateway === undefined ? undefined : toDid(gateway),
      delegated: ctx.gateway?.delegation.state === 'given',
      settingsUrl: toUri(ctx.gateway?.settingsUrl),
    },
    runners: view.roles.runners.slice(0, 10).map(did => accountView(did, names)),
    lander: landerView(view, branch, ctx),
    health: branch === undefined ? undefined : healthView(queueHealth(view, branch, ctx), voice),
    version: ctx.version,
  }
}

/** What happened to it, as its page says it (STA-3). */
function timelineViews(view: RepositoryView, pull: PullView, ctx: AnswerContext) {
  const voice = textVoice(ctx)
  return timeline(view, pull).flatMap(({ kind, at, tone, says, record }) => {
    const when = toDatetime(at)
    return when === undefined ? [] : [{ kind, at: when, tone, says: voice(says), record: toAtUri(record), pull: toAtUri(pull.pull.uri) }]
  })
}
