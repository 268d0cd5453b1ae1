/** Every check of a batch is filed before any of its runs begins (REC-5). */
import { filingSaid } from '../../queue/words/runner.ts'
import { ejection, owe, verdict } from './ejecting.ts'
import { heldBy, setBack, wentWell } from './setbacks.ts'
import { isResting } from './standing-by.ts'
import { act, dropFrom, putBatch, type Turn } from './turn.ts'
import type { Result } from './types.ts'

/** Files what is built and not filed. While the runner stops nothing begins (MOV-5). */
export function file(turn: Turn): Turn {
  const at = turn.batches.findIndex(({ filed }) => !filed)
  const batch = turn.batches[at]
  if (batch === undefined) return turn
  if (turn.seen.stopping) return dropFrom(turn, at, 'stopping')
  if (isResting(turn) || heldBy(turn, 'file') !== undefined) return turn
  const ahead = at > 0
  return act(putBatch(turn, { ...batch, ahead }), { do: 'file', id: batch.id, ahead })
}

/** STO-10: a workflow that cannot be filed ejects the pull that brought it, and leaves the others alone. */
export function learnFiling(turn: Turn, result: Extract<Result, { of: 'file' }>): Turn {
  const batch = turn.batches.find(({ id }) => id === result.id)
  if (batch === undefined) return turn
  if (result.ok) return putBatch(wentWell(turn, 'file'), { ...batch, filed: true })
  const { blame } = result
  const at = turn.batches.findIndex(({ members }) => members.some(({ pull }) => pull === blame?.pull))
  const culprit = turn.batches[at]?.members.find(({ pull }) => pull === blame?.pull)
  if (blame === undefined || culprit === undefined) return setBack(turn, { kind: 'file', said: filingSaid() })
  const why = { key: 'not-filed' as const, workflow: blame.workflow }
  return owe(dropFrom(turn, at, 'pull-moved-on'), ejection(culprit, culprit.head, 'other', why), verdict)
}

/** CHK-12: how many runs a batch has is kept from when they are first seen, so that one that vanishes is missed. */
export function countRuns(turn: Turn): Turn {
  return turn.batches.reduce((so, batch) => {
    const runs = turn.seen.runs.get(batch.id)
    return !batch.filed || batch.of !== undefined || runs === undefined ? so : putBatch(so, { ...batch, of: runs.length })
  }, turn)
}

/** AHD-5: what was ahead is next to land now, and its runs go before others. */
export function promote(turn: Turn): Turn {
  const [lowest] = turn.batches
  if (lowest === undefined || !lowest.filed || lowest.ahead !== true) return turn
  return act(putBatch(turn, { ...lowest, ahead: false }), { do: 'promote', id: lowest.id })
}
