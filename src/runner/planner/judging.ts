/** The lowest batch is judged, and only that one: a verdict above it counts once it is the lowest (FAI-9). */
import { noVerdictSaid } from '../../queue/words/runner.ts'
import { failedAlone } from './blame.ts'
import { evidence, isTimeout, outcomeOf } from './checking.ts'
import { owe, verdict } from './ejecting.ts'
import type { Suspects } from './memory.ts'
import { heldBy, noPause, setBack, setbackOf, wentWell } from './setbacks.ts'
import { standsBy } from './standing-by.ts'
import { reviewSuspects, suspectAll } from './suspects.ts'
import { act, dropFrom, remember, type Turn } from './turn.ts'
import type { Batch, FailedRun, RunNow } from './types.ts'

export interface Failure {
  how: Suspects['how']
  /** The workflows that failed or timed out. */
  names: readonly string[]
  checks: readonly FailedRun[]
  /** What the gateway said, where it refused. */
  said?: string
}

/** LND-1, FAI-1: lands what passed; what failed names its culprit or is halved; what gave no verdict is built again. A failure during a stop counts for nothing (MOV-5). */
export function judgeLowest(turn: Turn): Turn {
  const [batch] = turn.batches
  if (batch === undefined || standsBy(turn) !== undefined) return turn
  const runs = turn.seen.runs.get(batch.id)
  const outcome = outcomeOf(batch, runs)
  if (outcome === 'going' || runs === undefined) return turn
  if (outcome === 'passed') return land(wentWell(turn, 'checks'), batch)
  if (turn.seen.stopping) return turn
  switch (outcome) {
    case 'failed':
      return blame(wentWell(turn, 'checks'), batch, {
        how: 'failed',
        names: namesOf(runs, ({ state }) => state === 'failed'),
        checks: evidence(runs),
      })
    case 'timed-out':
      return timedOut(turn, batch, runs)
    case 'trouble':
      return troubled(turn, runs)
  }
}

function land(turn: Turn, { id, tip }: Batch): Turn {
  return heldBy(turn, 'land', tip) === undefined ? { ...act(turn, { do: 'land', id }), over: true } : turn
}

/** FAI-2, FAI-3: drops everything; a pull that was alone is ejected, of several all are suspects. */
export function blame(turn: Turn, batch: Batch, failure: Failure): Turn {
  const [only, ...others] = batch.members
  const dropped = dropFrom(turn, 0, 'batch-failed')
  if (only === undefined || others.length > 0) return reviewSuspects(suspectAll(dropped, batch, failure))
  return remember(owe(dropped, failedAlone(dropped, batch, only, failure), verdict), { suspects: null })
}

/** FAI-8: a batch that timed out is built again once, of the same pulls. If the same workflow times out with the same heads, that is taken like a failure. */
function timedOut(turn: Turn, batch: Batch, runs: readonly RunNow[]): Turn {
  const names = namesOf(runs, isTimeout)
  const heads = headsOf(batch)
  const about = (name: string) => `${name} ${heads}`
  const isAgain = names.some(name => setbackOf(turn.memory, 'timed-out', about(name)) !== undefined)
  if (isAgain || turn.memory.suspects?.how === 'timed-out') return blame(turn, batch, { how: 'timed-out', names, checks: evidence(runs) })
  const keys = batch.members.map(({ key }) => key)
  const counted = names.reduce((so, name) => setBack(so, { kind: 'timed-out', about: about(name), keys, pause: noPause }), turn)
  return buildAgain(dropFrom(counted, 0, 'no-verdict'), batch)
}

/** FAI-8: the runner's own trouble. Nobody is blamed, and it is built again after a back-off. */
function troubled(turn: Turn, runs: readonly RunNow[]): Turn {
  return setBack(dropFrom(turn, 0, 'no-verdict'), { kind: 'checks', said: noVerdictSaid(runs) })
}

/** The next batch is of these pulls alone; a half is anyhow. */
export function buildAgain(turn: Turn, { members }: Batch): Turn {
  return turn.memory.suspects === null ? remember(turn, { again: members.map(({ key }) => key) }) : turn
}

/** What makes a batch the same one when it is built again: its heads, in their order. */
export function headsOf({ members }: Batch): string {
  return members.map(({ head }) => head).join(' ')
}

function namesOf(runs: readonly RunNow[], which: (run: RunNow) => boolean): string[] {
  return runs.filter(which).map(({ workflow }) => workflow)
}
