import type { BranchView } from '../../queue/view.ts'
import { dropWords } from '../../queue/words/runner.ts'
import { emptyLine, plan } from '../planner/plan.ts'
import type { Action, Line, Plan, Result, RunNow, StandBy, Wait } from '../planner/types.ts'
import type { Ground } from '../types.ts'
import { carryOut, type Doing, keep } from './carry-out.ts'
import type { Memory, Parts } from './parts.ts'
import { lookAt, type Seeing } from './snapshot.ts'

/** The planner is asked so often in one pass at most; what is left to do then is done by the next. */
const MOST_TURNS = 200

export interface BranchPass {
  ground: Ground
  branch: string
  stopping: boolean
  standBy: StandBy | undefined
  memory: Memory
  /** Queueings that a repair has landed (LND-8). */
  repaired: readonly string[]
}

export interface BranchDone {
  /** The repository as it is after what was done. */
  ground: Ground
  waits: readonly Wait[]
  wakeAt?: number | undefined
  /** What was done, by kind. */
  did: readonly Action['do'][]
  /** There was more to do than one pass does, or something was done whose end nothing rings for. */
  unfinished: boolean
}

/** One branch in one pass: looks, plans, does what the plan says, and again with what came of it, until nothing more is to be done. */
export async function passBranch(parts: Parts, pass: BranchPass): Promise<BranchDone> {
  const { memory, branch } = pass
  const kept = memory.lines.get(branch)
  const doing: Doing = { ground: pass.ground, branch, line: kept?.line ?? emptyLine(branch), memory, groups: new Map(kept?.groups) }
  await tidy(parts, doing)
  const did: Action['do'][] = []
  let silent = false
  let results: Result[] = pass.repaired.length === 0 ? [] : [{ of: 'repair', landed: pass.repaired }]
  try {
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      const planned = await nextPlan(parts, pass, doing, results)
      doing.line = planned.line
      results = []
      for (const action of planned.actions) {
        did.push(action.do)
        const { result, ground, rings } = await carryOut(parts, doing, action)
        silent ||= rings === false
        if (ground !== undefined) doing.ground = ground
        if (result !== undefined) results.push(result)
      }
      memory.lines.set(branch, keep(doing))
      if (results.length === 0) return { ground: doing.ground, waits: planned.waits, wakeAt: planned.wakeAt, did, unfinished: silent }
    }
    return { ground: doing.ground, waits: [], did, unfinished: true }
  } finally {
    // What was begun before it broke off is known to the next pass.
    memory.lines.set(branch, keep(doing))
  }
}

/** After a pass that broke off: runs of batches that the line has no more are ended, and the lowest batch has its class (AHD-5). */
async function tidy({ runs }: Parts, { line, groups }: Doing): Promise<void> {
  for (const [id, group] of groups) {
    if (line.batches.some(batch => batch.id === id)) continue
    groups.delete(id)
    await runs.cancel(group, dropWords('pull-moved-on'))
  }
  const lowest = line.batches[0]
  const group = lowest === undefined ? undefined : groups.get(lowest.id)
  if (group !== undefined && lowest?.ahead !== true) runs.promote(group, 'next')
}

async function nextPlan(parts: Parts, pass: BranchPass, doing: Doing, results: readonly Result[]): Promise<Plan> {
  const { stopping, standBy, memory } = pass
  const branch = branchOf(doing.ground, doing.branch)
  const seeing: Seeing = { ground: doing.ground, branch, stopping, standBy, memory, runs: runsOf(parts, doing.groups) }
  return plan(doing.line, await lookAt(parts, seeing), results)
}

function runsOf({ runs }: Parts, groups: ReadonlyMap<number, string>): Map<number, readonly RunNow[]> {
  return new Map([...groups].map(([id, group]) => [id, runs.of(group)]))
}

/** The branch as it was read; one that nobody queues for, and that is there no more, has an empty queue. */
function branchOf({ view }: Ground, branch: string): BranchView {
  const known = view.branches.get(branch)
  if (known !== undefined) return known
  return {
    branch,
    generation: 0,
    isDefault: false,
    queueOnly: false,
    pinned: false,
    queue: [],
    batches: [],
    ejected: [],
    landed: [],
    drops: [],
  }
}

/** Whether a line holds nothing that the next pass has to know. */
export function isIdle(line: Line): boolean {
  return line.batches.length === 0
}
