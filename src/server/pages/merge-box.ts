import type { AnswerContext } from '../../queue/answers/context.ts'
import { mergeStatusParts } from '../../queue/answers/merge-status.ts'
import { decisionOn } from '../../queue/decisions.ts'
import { failedChecks } from '../../queue/failed-checks.ts'
import { leaving } from '../../queue/leaving.ts'
import { batchOf } from '../../queue/places.ts'
import type { BranchView, PullView, RepositoryView } from '../../queue/view.ts'
import { decisionWords } from '../../queue/words/steward.ts'
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
  return {
    box: status.box,
    standing: status.standing,
    can: status.can,
    refused: tried.refused,
    notice: tried.notice,
    leave: leaving(view, pull),
    batchTip: batchTipOf(view, pull),
    unchanged: failsAgain(pull),
    decision: decisionOf(pull),
    flying: flyingIn(view.branches.get(pull.branch)),
    health: status.health,
    lander: status.lander,
    gateway: status.gateway,
    checks: status.checks,
    failed: pull.ejection && failedChecks(pull.ejection.value),
    queueOnly: status.queueOnly,
    unchecked: status.unchecked,
    changesChecks: status.changesChecks,
    isOwner: ctx.caller === view.roles.owner,
    mayMerge: ctx.caller !== undefined && view.roles.mayMerge(ctx.caller),
  }
}

/** Not always the first of the queue: who is passed over keeps their place. */
function flyingIn(branch: BranchView | undefined): number[] {
  const members = new Set<string>(branch?.batches.flatMap(batch => batch.members.map(member => member.pull)))
  return (branch?.queue ?? []).flatMap((pull, at) => (members.has(pull.pull.uri) ? [at + 1] : []))
}

function batchTipOf(view: RepositoryView, pull: PullView): string | undefined {
  const flying = batchOf(view, pull)
  if (flying !== undefined) return flying.tip
  if (pull.state === 'merged') return pull.mergedThere === true ? pull.stateRecord?.value.batch : undefined
  const failed = new Set<string>(pull.ejection?.value.checks?.map(({ check }) => check))
  const every = view.branches.get(pull.branch)?.every ?? []
  return every.find(({ checks }) => checks.some(({ uri }) => failed.has(uri)))?.tip
}

const byRuns = new Set(['checks', 'preflight', 'timeout'])

function failsAgain({ ejection, head }: PullView): boolean {
  return ejection?.value.kind !== undefined && byRuns.has(ejection.value.kind) && ejection.value.commit === head
}

function decisionOf(pull: PullView): BoxModel['decision'] {
  const record = pull.ejection === undefined ? undefined : decisionOn(pull, pull.ejection.uri)
  return record === undefined ? undefined : decisionWords(record.value)
}
