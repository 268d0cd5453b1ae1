/** What happened to a queue, as answers carry it. */
import { type ActivityEvent, queueActivity } from '../activity.ts'
import type { BranchView, RepositoryView } from '../view.ts'
import { say } from '../words/phrase.ts'
import { type AnswerContext, textVoice } from './context.ts'
import { toAtUri, toDatetime } from './formats.ts'

/** For XRPC, each line with the title of the pull that it is about; 50 at most. */
export function activityViews(view: RepositoryView, branch: BranchView, ctx: AnswerContext) {
  const voice = textVoice(ctx)
  return queueActivity(view, branch).map(({ kind, at, tone, says, about, record }: ActivityEvent) => ({
    kind,
    at: toDatetime(at),
    tone,
    says: voice(about === undefined ? says : say`${says}: ${about}`),
    record: toAtUri(record),
    pull: about === undefined ? undefined : toAtUri(about.pull),
  }))
}
