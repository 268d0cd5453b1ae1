/** Whether a batch that passed may still land, as everything was read again just before the push (LND-2, LND-3, LND-12, LND-15). Pure. */
import { refName } from '../../git/ref-names.ts'
import type { Head, Member, NotLanded } from '../planner/types.ts'
import type { Ground } from '../types.ts'
import { mayLand } from './may-land.ts'

/** A batch that is to land. */
export interface Batch {
  branch: string
  base: string
  generation: number
  tip: string
  tree: string
  members: readonly Member[]
  ranNothing: boolean
}

/** `there`: the branch is at the batch's tip already (LND-11). */
export type Judged = { may: true; there: boolean } | ({ may: false } & NotLanded)

/** `did` is who lands. */
export function judge(did: string, batch: Batch, now: { ground: Pick<Ground, 'view' | 'refs'>; heads: ReadonlyMap<string, Head> }): Judged {
  const { ground, heads } = now
  const may = mayLand(ground.view, did, { queue: true, branch: batch.branch })
  if (!may.lands) return { may: false, why: 'not-lander' }
  const row = ground.refs.refs.find(ref => ref.name === refName(batch.branch))
  if (row === undefined || row.generation !== batch.generation) return { may: false, why: 'branch-moved' }
  // Whatever became of its pulls meanwhile, they have landed.
  if (row.commit === batch.tip) return { may: true, there: true }
  if (row.commit !== batch.base) return { may: false, why: 'branch-moved' }

  const out = keysOf(batch, member => isOut(ground, batch.branch, member) || heads.get(member.pull)?.state === 'account-gone')
  if (out.length > 0) return { may: false, why: 'out', keys: out }
  const moved = keysOf(batch, member => hasMoved(heads.get(member.pull), member.head))
  if (moved.length > 0) return { may: false, why: 'head-moved', keys: moved }
  const unread = keysOf(batch, member => heads.get(member.pull)?.state !== 'at')
  if (unread.length > 0) return { may: false, why: 'head-unreadable', keys: unread }
  return { may: true, there: false }
}

/** Left, ejected, closed, merged, a draft, onto another branch, queued anew, or queued by somebody who no longer may. */
function isOut({ view }: Pick<Ground, 'view'>, branch: string, member: Member): boolean {
  const pull = view.pulls.get(member.pull)
  return pull === undefined || pull.state !== 'open' || pull.draft || pull.branch !== branch || pull.entry?.key !== member.key
}

function hasMoved(head: Head | undefined, was: string): boolean {
  return head?.state === 'gone' || (head?.state === 'at' && head.commit !== was)
}

function keysOf({ members }: Batch, is: (member: Member) => boolean): string[] {
  return members.filter(is).map(member => member.key)
}
