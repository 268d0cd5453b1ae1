/** When something moves: what each change makes stale is dropped (MOV-1, MOV-2). A head that moves changes nothing until landing (MOV-3). */
import { settleLanding } from './landed.ts'
import { dropFrom, isPast, queuedAs, remember, type Turn } from './turn.ts'

/** MOV-1, CHK-9: the branch is where the lowest batch stands, or every batch is dropped. */
export function followBranch(turn: Turn): Turn {
  const { tip } = turn.seen
  const [lowest] = turn.batches
  if (lowest === undefined) return turn
  if (tip !== null && tip.generation === lowest.generation) {
    if (tip.commit === lowest.base) return turn
    // LND-11: the queue's own landing, of which no answer came, is not somebody's push.
    if (tip.commit === lowest.tip) return settleLanding(turn, lowest)
  }
  return remember(dropFrom(turn, 0, 'branch-moved'), { suspects: null, again: null })
}

/** MOV-2: a batch with a pull that is out is dropped, and every one after it. */
export function followPulls(turn: Turn): Turn {
  const isOut = (key: string) => queuedAs(turn, key) === undefined || isPast(turn, key)
  const at = turn.batches.findIndex(({ members }) => members.some(({ key }) => isOut(key)))
  return at === -1 ? turn : dropFrom(turn, at, 'pull-moved-on')
}
