import type { AnswerContext } from '../../queue/answers/context.ts'
import { mergeStatusParts } from '../../queue/answers/merge-status.ts'
import { batchesAbove, batchOf, placeOf } from '../../queue/places.ts'
import type { PullView, RepositoryView } from '../../queue/view.ts'
import { type LeaveParts, leaveWords } from '../../queue/words/leave.ts'
import type { BoxModel, RefusalWords } from '../../views/models.ts'

/** What was just tried and how it went, for the box that answers it. */
export interface Tried {
  refused?: RefusalWords | undefined
  notice?: RefusalWords | undefined
}

/** What a pull would give up by leaving; undefined for one that is not queued. */
export function leavePartsOf(view: RepositoryView, pull: PullView): LeaveParts | undefined {
  if (pull.entry === undefined) return pull.heldEntry === undefined ? undefined : { key: 'held' }
  const batch = batchOf(view, pull)
  if (batch !== undefined) {
    const above = batchesAbove(view, batch)
    const others = batch.members.length - 1 + above.reduce((sum, other) => sum + other.members.length, 0)
    return { key: 'in-batch', size: batch.members.length, others, ahead: above.length > 0 }
  }
  const place = placeOf(view, pull)
  return place === undefined ? undefined : { key: 'queued', position: place.position }
}

/** The merge box of a pull, as the caller sees it. */
export function boxModel(view: RepositoryView, pull: PullView, ctx: AnswerContext, tried: Tried = {}): BoxModel {
  const status = mergeStatusParts(view, pull, ctx)
  const leave = leavePartsOf(view, pull)
  const batches = view.branches.get(pull.branch)?.batches ?? []
  return {
    box: status.box,
    standing: status.standing,
    can: status.can,
    ...tried,
    leave: leave === undefined ? undefined : leaveWords(leave),
    inFlight: batches.reduce((sum, batch) => sum + batch.members.length, 0),
    health: status.health,
    lander: status.lander,
    gateway: status.gateway,
    checks: status.checks,
    failed: pull.ejection?.value.checks,
    queueOnly: status.queueOnly,
    unchecked: status.unchecked,
    changesChecks: status.changesChecks,
    isOwner: ctx.caller === view.roles.owner,
  }
}
