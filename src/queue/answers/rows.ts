/** Rows of lists on pages, their sentences in parts. */
import { standing } from '../standing.ts'
import type { PullView, RepositoryView } from '../view.ts'
import { type AnswerContext, phraseVoice } from './context.ts'
import { pullView, standingView } from './parts.ts'
import { entryView } from './queue.ts'

/** Queued pulls as the queue page lists them; those that are not queued are left out. */
export function entryParts(view: RepositoryView, pulls: readonly PullView[], ctx: AnswerContext) {
  return pulls.flatMap(pull => entryView(view, pull, ctx, phraseVoice))
}

/** A pull and where it stands. */
export function pullParts(view: RepositoryView, pull: PullView, ctx: AnswerContext) {
  return { pull: pullView(pull, ctx.names), standing: standingView(standing(view, pull, ctx), phraseVoice, ctx.names) }
}
