import type { AnswerContext } from '../../queue/answers/context.ts'
import { mergeStatusParts } from '../../queue/answers/merge-status.ts'
import { leaving } from '../../queue/leaving.ts'
import type { PullView, RepositoryView } from '../../queue/view.ts'
import type { Again, BoxModel, ChangingModel, RefusalWords } from '../../views/models.ts'

/** What was just tried and how it went, for the box that answers it. */
export interface Tried {
  refused?: RefusalWords | undefined
  notice?: RefusalWords | undefined
  /** What came of asking for runs again. */
  again?: Again | undefined
  /** The right that a change of the pull takes first. */
  right?: ChangingModel['right']
}

/** The merge box of a pull, as the caller sees it. */
export function boxModel(view: RepositoryView, pull: PullView, ctx: AnswerContext, tried: Tried = {}): BoxModel {
  const status = mergeStatusParts(view, pull, ctx)
  const batches = view.branches.get(pull.branch)?.batches ?? []
  return {
    box: status.box,
    standing: status.standing,
    can: status.can,
    refused: tried.refused,
    notice: tried.notice,
    leave: leaving(view, pull),
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
    mayMerge: ctx.caller !== undefined && view.roles.mayMerge(ctx.caller),
  }
}
