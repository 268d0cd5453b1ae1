/** A pull in a list of pulls, for pages. */
import { mergeBox } from '../box.ts'
import type { PullView, RepositoryView } from '../view.ts'
import type { Label } from '../words/labels.ts'
import { openLabel } from '../words/open.ts'
import type { AnswerContext } from './context.ts'
import { pullParts } from './rows.ts'

/**
 * A pull and where it stands; of an open one that is not queued, what keeps it out of the queue or that it is ready, as its record and its checks
 * say: the same for whoever asks, since what its reader may do is the merge box's to say.
 */
export function pullRow(
  view: RepositoryView,
  pull: PullView,
  ctx: AnswerContext,
): ReturnType<typeof pullParts> & { label?: Label | undefined } {
  const row = pullParts(view, pull, ctx)
  if (row.standing.kind !== 'open') return row
  const { key } = mergeBox(view, pull, { ...ctx, caller: view.roles.owner, gateway: undefined })
  return { ...row, label: openLabel(key) }
}
