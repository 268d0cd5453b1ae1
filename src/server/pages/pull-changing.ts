import type { Did } from '../../atproto/ids.ts'
import { changesOf, judgeChange } from '../../queue/changing.ts'
import { leaveParts } from '../../queue/leaving.ts'
import {
  changeCosts,
  changeLabels,
  changeQuestion,
  changeRight,
  changeRightGranted,
  changeRightRefused,
} from '../../queue/words/changing.ts'
import type { ChangeAct } from '../../queue/words/refusals.ts'
import type { ChangeLine, ChangingModel, RefusalWords } from '../../views/models.ts'
import { withQuery } from '../../views/paths.ts'
import { serverName } from '../actions/server-name.ts'
import { pullScope, stateScope } from '../auth/client-metadata.ts'
import type { PageContext } from './context.ts'
import { type LocatedPull, pathOf } from './pull-path.ts'

/** The last part of each act's address, and the right that it takes. */
export const changes: Readonly<Record<ChangeAct, { path: string; asks: 'state' | 'pull'; scope: string }>> = {
  close: { path: 'close', asks: 'state', scope: stateScope },
  reopen: { path: 'open', asks: 'state', scope: stateScope },
  ready: { path: 'ready', asks: 'pull', scope: pullScope },
  draft: { path: 'draft', asks: 'pull', scope: pullScope },
}

const inOrder: readonly ChangeAct[] = ['reopen', 'ready', 'draft', 'close']

/** The act by its word in an address. */
export function changeNamed(word: string | undefined): ChangeAct | undefined {
  return inOrder.find(act => act === word)
}

/** What the viewer may change about a pull. */
export function changingModel({ view, pull }: LocatedPull, caller: string | undefined, right: ChangingModel['right']): ChangingModel {
  const may = changesOf({ view, pull: pull.pull.uri, caller })
  const acts = inOrder.filter(act => may.has(act)).map(act => changeLine({ view, pull }, act))
  const asks = (act: ChangeAct) => acts.some(line => line.act === act && line.question !== undefined)
  const held = may.has('ready') && pull.heldEntry !== undefined
  return { acts, costs: changeCosts(asks('close'), asks('draft'), held), right }
}

/** One of them; with a question where it costs a place in the queue. */
export function changeLine({ view, pull }: Pick<LocatedPull, 'view' | 'pull'>, act: ChangeAct): ChangeLine {
  const { path } = changes[act]
  const label = changeLabels[act]
  const leave = leaveParts(view, pull)
  const costs = (act === 'close' || act === 'draft') && leave !== undefined && leave.key !== 'held'
  return { act, path, label, question: costs ? changeQuestion(act, leave) : undefined }
}

/** Where somebody lets this server do it as them; `cameBack` is what came of asking, where it was nothing. */
export async function changeRightOf(
  ctx: PageContext,
  at: LocatedPull,
  asked: { caller: Did; act: ChangeAct; cameBack?: string | undefined },
): Promise<NonNullable<ChangingModel['right']>> {
  const { caller, act, cameBack } = asked
  const host = await serverName(ctx.actions, caller, 'your server')
  const next = withQuery(pathOf(at), { wants: act })
  return {
    says: changeRight(act, host),
    host,
    href: withQuery('/login/start', { handle: caller, asks: changes[act].asks, next }),
    refused: cameBack === undefined ? undefined : changeRightRefused(act, cameBack),
  }
}

/** What a page says to somebody who comes back from granting a right; nothing once it is done, or where it may not be done. */
export async function cameBackFor(
  ctx: PageContext,
  at: LocatedPull,
  asked: { caller: Did; act: ChangeAct; right: string | undefined },
): Promise<{ right?: ChangingModel['right']; notice?: RefusalWords }> {
  const { caller, act, right } = asked
  const judged = judgeChange(act, { view: at.view, pull: at.pull.pull.uri, caller })
  if (!judged.ok || judged.already) return {}
  if (right !== undefined) return { right: await changeRightOf(ctx, at, { caller, act, cameBack: right }) }
  return { notice: changeRightGranted(act) }
}
