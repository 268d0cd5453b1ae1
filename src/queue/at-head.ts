/** A pull's own runs at its present head: what admission, merge box and standing read from them. */
import type { CheckRecord, Stored } from './facts.ts'
import { isGoing, newestRuns, type Run, runState } from './runs.ts'
import type { BranchView, PullView, RepositoryView } from './view.ts'

/** The newest run of each workflow at the head, on any tip, by named runners (STA-7). Runs of an older generation of the branch count for nothing (CHK-9). */
export function runsAtHead(view: RepositoryView, pull: PullView): Run[] {
  return newestRuns(view.checksOf(pull.pull.uri).filter(run => isAtHead(run, pull, view.branches.get(pull.branch))))
}

/**
 * ADM-6: workflows that failed at the head merged with the branch's present tip, by the newest run of each by a named runner or the lander.
 * `beside` are checks that the view does not show, such as those of a lander that is not named.
 */
export function failedAtHead(view: RepositoryView, pull: PullView, beside: readonly Stored<CheckRecord>[] = []): Run[] {
  const branch = view.branches.get(pull.branch)
  if (branch?.tip === undefined || pull.head === undefined) return []
  const counts = (run: Run) =>
    (view.roles.namedRunner(run.did) || run.did === view.lander?.did) &&
    run.value.pull === pull.pull.uri &&
    run.value.batch === undefined &&
    run.value.baseCommit === branch.tip &&
    isAtHead(run, pull, branch)
  const runs = new Map([...view.checksOf(pull.pull.uri), ...beside].filter(counts).map(run => [run.uri, run]))
  return newestRuns([...runs.values()]).filter(run => runState(run.value) === 'failed')
}

/** PRE-10: pre-flights whose newest run at the head goes on; one that is only queued counts for nobody but the lander (PRE-2). */
export function goingPreflights(view: RepositoryView, pull: PullView): Run[] {
  return runsAtHead(view, pull).filter(
    run => run.value.queue === 'first' && isGoing(run.value) && (run.value.status === 'running' || run.did === view.lander?.did),
  )
}

function isAtHead(run: Run, pull: PullView, branch: BranchView | undefined): boolean {
  return run.value.commit === pull.head && (branch === undefined || branch.tip === undefined || run.value.generation === branch.generation)
}
