/** The pulls of a branch that wait in no batch: how many are before each, and which were passed over. */
import { goingPreflights } from './at-head.ts'
import { batchOf } from './places.ts'
import { tidMillis } from './tid.ts'
import type { BatchView, BranchView, PullView, RepositoryView } from './view.ts'

export interface WaitingPlace {
  /** How many wait before it, and how many of those are ready as far as is known. */
  all: number
  ready: number
  isReady: boolean
}

const lines = new WeakMap<BranchView, ReadonlyMap<string, WaitingPlace>>()

/** Where a pull stands among those that are in no batch; undefined for one that is in one, or not queued. Worked out once for each branch as it was read. */
export function waitingPlace(view: RepositoryView, branch: BranchView, pull: string): WaitingPlace | undefined {
  const known = lines.get(branch) ?? waitingLine(view, branch)
  lines.set(branch, known)
  return known.get(pull)
}

function waitingLine(view: RepositoryView, branch: BranchView): ReadonlyMap<string, WaitingPlace> {
  const found = new Map<string, WaitingPlace>()
  let ready = 0
  for (const pull of branch.queue) {
    if (batchOf(view, pull) !== undefined) continue
    const isReady = goingPreflights(view, pull).length === 0
    found.set(pull.pull.uri, { all: found.size, ready, isReady })
    if (isReady) ready++
  }
  return found
}

/** The batch in flight that was built without this pull although a later one is in it (AHD-4); undefined for none. */
export function passedOver(view: RepositoryView, branch: BranchView, pull: PullView): BatchView | undefined {
  const { entry } = pull
  if (entry === undefined) return undefined
  const isLater = (uri: string) => (view.pulls.get(uri)?.entry?.key ?? '') > entry.key
  return branch.batches.find(
    ({ since, members }) =>
      since > tidMillis(entry.key) &&
      !members.some(member => member.pull === pull.pull.uri) &&
      members.some(member => isLater(member.pull)),
  )
}
