import { conflictCommands } from '../queue/words/beside-box.ts'
import { pullLabels } from '../queue/words/labels.ts'
import { placeStrip } from './drawings.ts'
import type { Html } from './html.ts'
import { boxIcon } from './labels.ts'
import type { BoxModel, PullLine, StandingWords } from './models.ts'

/** What the merge box offers. One thing at most, and nothing that would be refused. */
export type BoxAct = 'leave' | 'add' | 'add-again' | 'log-in' | 'settings' | 'refused' | 'merge' | 'merge-settings' | 'merge-refused'

const flying = new Set(['in-batch', 'in-ahead', 'landing'])

/** True for a pull that is in a batch. */
export function inFlight(standing: StandingWords): boolean {
  return flying.has(standing.kind)
}

/** Which button helps in this state; undefined when none does. */
export function boxAct(model: BoxModel): BoxAct | undefined {
  const { box, can, gateway } = model
  if (can.leave.allowed) return 'leave'
  const again = box.key === 'ejected'
  if (can.queue.allowed) return again ? 'add-again' : 'add'
  const code = can.queue.refusal?.code
  if (box.key === 'signed-out' || (again && code === 'signed-out')) return 'log-in'
  if (box.key === 'gateway-owner' && gateway.settingsUrl !== undefined) return 'settings'
  // Pulls that nothing lands are merged by hand, here.
  if (box.key === 'no-runners') return byHand(model)
  return again && code !== undefined ? 'refused' : undefined
}

function byHand({ can, mayMerge, isOwner, gateway }: BoxModel): BoxAct | undefined {
  if (can.merge.allowed) return 'merge'
  const code = can.merge.refusal?.code
  if (mayMerge !== true || (code !== 'not-delegated' && code !== 'wrong-gateway')) return undefined
  return isOwner && code === 'not-delegated' && gateway.settingsUrl !== undefined ? 'merge-settings' : 'merge-refused'
}

/** Whether its owner is offered to name a runner, beside merging by hand. */
export function namesRunner(model: BoxModel): boolean {
  const act = boxAct(model)
  return model.box.key === 'no-runners' && model.isOwner && (act === undefined || act === 'merge')
}

/** The octicon in its head. */
export function boxIconOf({ box, standing }: BoxModel): string {
  return standing.label === pullLabels.held.word ? pullLabels.held.icon : boxIcon(box.key)
}

/** The runs that the box lists under what it says: those at the head, where one of them failed. */
export function boxRuns({ box, checks }: BoxModel): BoxModel['checks'] {
  return box.key === 'checks-failed' ? checks : []
}

/** Commands that mend a conflict; `cloneUrl` is the address of the repository that the pull is onto. */
export function boxCommands(
  { box }: BoxModel,
  { repo, pull }: { repo: { uri: string }; pull: PullLine },
  cloneUrl: string | undefined,
): string[] {
  const { head, branch } = pull
  if (box.key !== 'conflict' || head === undefined) return []
  const from = head.repo === repo.uri ? 'origin' : cloneUrl
  return from === undefined ? [] : conflictCommands({ branch, head: head.branch, from })
}

/** Whether merging past the queue is offered beside adding: never where the branch insists on its queue (PRO-3). */
export function mergesNow(model: BoxModel): boolean {
  return boxAct(model) === 'add' && model.can.merge.allowed && !model.queueOnly
}

/** The strip of beads for a pull that is in the queue. */
export function boxPlace(model: BoxModel): Html | undefined {
  const { kind, position, length } = model.standing
  if (position === undefined || length === undefined || (kind !== 'queued' && !flying.has(kind))) return undefined
  return placeStrip({ position, length, flying: model.flying })
}
