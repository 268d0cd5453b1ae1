/** Which one state the merge box shows: the first that is true, in the order of precedence of the pages. */
import { faultyRepoOf, headRepoOf, lacksBranch, peopleOf, repoOf } from './admission.ts'
import type { Asking } from './asking.ts'
import { failedAtHead, runsAtHead } from './at-head.ts'
import { lackingSince, lacksDelegation } from './delegated.ts'
import { landerLife } from './lander-life.ts'
import { batchOf, batchUnder, countRuns, placeOf } from './places.ts'
import { isGoing, millis, runState } from './runs.ts'
import { entryNotes, type Standing, standing } from './standing.ts'
import type { PullView, RepositoryView } from './view.ts'
import { nothingRanWords } from './words/batch.ts'
import { changesChecksWords, noReasonWords, nothingToLandWords } from './words/beside-box.ts'
import { type BoxKey, type BoxParts, boxTones, boxWords } from './words/box.ts'
import { landsWords } from './words/expected.ts'
import type { Tone } from './words/labels.ts'
import { join, type Phrase, say } from './words/phrase.ts'
import { whyWords } from './words/standing.ts'

export interface Box {
  key: BoxKey
  headline: Phrase
  says: Phrase
  tone: Tone
  /** In milliseconds since 1970. */
  since?: number | undefined
  /** What is to be said of its entry beside that: QUE-9, REC-9. */
  notes: Phrase
  /** Files that conflict, and how many are not listed. */
  files: readonly string[]
  moreFiles: number
}

/** The box of a pull for whoever asks. */
export function mergeBox(view: RepositoryView, pull: PullView, asking: Asking): Box {
  const stands = standing(view, pull, asking)
  const { parts, since, files, moreFiles, beside } = first(view, pull, asking, stands)
  const { key, headline, says } = boxWords(parts)
  return {
    key,
    headline,
    says: join(says, lands(key, stands), beside),
    tone: boxTones[key],
    since,
    notes: entryNotes(stands, pull),
    files: files ?? [],
    moreFiles: moreFiles ?? 0,
  }
}

/** Of what is in the queue and may land as it is: when it does, or why that cannot be said. */
function lands(key: BoxKey, { expected }: Standing): Phrase | undefined {
  const moves = key === 'in-batch' || key === 'in-ahead' || key === 'queued' || key === 'queued-flight'
  return expected === undefined || !moves ? undefined : landsWords(expected, key === 'in-ahead' ? 'so' : undefined)
}

interface Shown {
  parts: BoxParts
  since?: number | undefined
  files?: readonly string[] | undefined
  moreFiles?: number | undefined
  /** Sentences beside what the box says. */
  beside?: Phrase | undefined
}

/**
 * merged, closed, draft, landing, in a batch, queued, ejected; then what keeps an open pull out: conflict, what git cannot read, failed checks, no
 * delegation, no runners, not allowed or not logged in; then that it is being looked at, and ready. Being looked at comes late since it passes.
 */
function first(view: RepositoryView, pull: PullView, asking: Asking, stands: Standing): Shown {
  return ended(view, pull, stands) ?? queued(view, pull, asking, stands) ?? hindered(view, pull, asking) ?? ready(view, pull)
}

function ended(view: RepositoryView, pull: PullView, stands: Standing): Shown | undefined {
  const { branch } = pull
  const { since } = stands
  const by = stands.by ?? view.roles.owner
  const commit = pull.stateRecord?.value.commit
  switch (stands.kind) {
    case 'merged':
      return {
        parts: movedAfter(view, pull, by) ?? {
          key: 'merged',
          branch,
          commit,
          by,
          ...landedIn(view, pull),
          deleted: pull.headGone ? pull.pull.value.head.branch : undefined,
        },
        since,
        beside: pull.stateRecord?.value.nothingRan === true ? nothingRanWords() : undefined,
      }
    case 'merged-not-there':
      return { parts: { key: 'merged-not-there', branch, commit, by, owner: view.roles.owner }, since }
    case 'closed':
      return { parts: { key: 'closed', by: stands.by }, since }
    case 'draft': {
      const ejectedBy = pull.ejection?.value.kind === 'draft' ? pull.ejection.did : undefined
      return { parts: { key: 'draft', author: pull.pull.did, queuedBy: pull.heldEntry?.by, ejectedBy } }
    }
    case 'landing':
      return pull.state === 'merged' ? { parts: { key: 'landing-recorded', branch, commit, by }, since } : undefined
    default:
      return undefined
  }
}

/** LND-10: its head branch has gone on since the head that landed, so that something on it has not. */
function movedAfter(view: RepositoryView, pull: PullView, by: string): BoxParts | undefined {
  const landed = pull.stateRecord?.value
  if (landed?.commit === undefined || landed.head === undefined || pull.head === undefined || pull.head === landed.head) return undefined
  const { size, queuedBy } = landedIn(view, pull)
  return { key: 'merged-later', branch: pull.branch, commit: landed.commit, head: pull.pull.value.head.branch, by, size, queuedBy }
}

function landedIn(
  view: RepositoryView,
  pull: PullView,
): Pick<Extract<BoxParts, { key: 'merged' }>, 'size' | 'unqueued' | 'checked' | 'queuedBy'> {
  const record = pull.stateRecord
  const tip = record?.value.batch
  const before = pull.history.filter(({ rkey }) => record === undefined || rkey < record.rkey)
  const queuedBy = before.findLast(({ value }) => value.state === 'queued')?.did
  if (tip === undefined) return { checked: false, queuedBy }
  const shared = [...view.pulls.values()].filter(other => other.state === 'merged' && other.stateRecord?.value.batch === tip)
  const unqueued = shared.length === 1 && record?.did === view.roles.owner && before.at(-1)?.value.state !== 'queued'
  const runs =
    view.branches
      .get(pull.branch)
      ?.landed.find(batch => batch.tip === tip)
      ?.checks.map(({ value }) => runState(value)) ?? []
  const checked = runs.includes('passed') && runs.every(state => state === 'passed' || state === 'reused' || state === 'skipped')
  return { size: shared.length, unqueued, checked, queuedBy }
}

function queued(view: RepositoryView, pull: PullView, asking: Asking, stands: Standing): Shown | undefined {
  const { branch } = pull
  const { since } = stands
  const place = placeOf(view, pull)
  const beside = pull.merge?.changesChecks === true ? changesChecksWords() : undefined
  const batch = batchOf(view, pull)
  if (pull.entry === undefined || place === undefined) return ejected(pull, stands)
  if (batch === undefined) {
    const life = landerLife(view, view.branches.get(branch), asking)
    const { owner, name } = repoOf(view)
    if (!life.alive) {
      const stranded = {
        unnamed: life.did === undefined ? name : undefined,
        since: life.seenAt,
        now: asking.now,
        owner,
        isOwner: asking.caller === owner,
      }
      return { parts: { key: 'queued-stranded', ...place, ...stranded }, since: life.seenAt ?? since, beside }
    }
    return {
      parts: {
        key: 'queued',
        ...place,
        preflights: stands.preflights.map(flight => flight.name),
        why: stands.why ?? whyWords({ key: 'ready' }),
      },
      since,
      beside,
    }
  }
  const size = batch.members.length
  const still = join(stands.why, beside)
  switch (batch.state) {
    case 'landing': {
      const moved = view.branches.get(branch)?.tip === batch.tip
      return { parts: { key: 'landing', branch, size, by: batch.runner, tip: batch.tip, moved }, since, beside: still }
    }
    case 'ahead':
    case 'passed-waiting':
    case 'red-undecided': {
      const under = batchUnder(view, batch)?.members.length ?? 0
      const outcome = { ahead: undefined, 'passed-waiting': 'passed' as const, 'red-undecided': 'red' as const }[batch.state]
      return { parts: { key: 'in-ahead', size, under, outcome }, since, beside: still }
    }
    default: {
      const position = stands.batch?.position ?? 1
      return { parts: { key: 'in-batch', size, position, branch, base: batch.base, ...countRuns(batch) }, since, beside: still }
    }
  }
}

function ejected(pull: PullView, stands: Standing): Shown | undefined {
  if (pull.ejection === undefined || stands.reason === undefined) return undefined
  const says = (pull.ejection.value.reason ?? '').trim() === '' ? noReasonWords() : say`${stands.says ?? ''}`
  return { parts: { key: 'ejected', reason: stands.reason, says }, since: stands.since }
}

function hindered(view: RepositoryView, pull: PullView, asking: Asking): Shown | undefined {
  const { branch, merge, head } = pull
  const repo = repoOf(view)
  const isOwner = asking.caller === repo.owner
  const people = peopleOf(view)
  const branchView = view.branches.get(branch)
  if (pull.headGone) return { parts: { key: 'head-gone', head: pull.pull.value.head.branch, ...headRepoOf(view, pull) } }
  if (lacksBranch(view, branch)) return { parts: { key: 'branch-gone', branch, ...repo } }
  if (merge?.applies === false) {
    return {
      parts: { key: 'conflict', branch, tip: merge.tip, files: merge.conflicts.length },
      files: merge.conflicts,
      moreFiles: merge.moreConflicts,
    }
  }
  if (pull.fault !== undefined) return { parts: { key: 'unreadable', ...pull.fault, branch, ...faultyRepoOf(view, pull) } }
  const failed = failedAtHead(view, pull)
  if (failed.length > 0 && head !== undefined && branchView?.tip !== undefined) {
    const ends = failed.map(run => millis(run.value.finishedAt)).filter(time => time !== undefined)
    const names = failed.map(run => run.value.workflow)
    return {
      parts: { key: 'checks-failed', names, head, branch, tip: branchView.tip },
      since: ends.length > 0 ? Math.max(...ends) : undefined,
    }
  }
  const delegation = lacksDelegation(view, asking.gateway)
  if (delegation !== undefined) {
    const parts: BoxParts = isOwner
      ? { key: 'gateway-owner', branch, delegation }
      : { key: 'gateway-other', owner: repo.owner, delegation, settingsUrl: asking.gateway?.settingsUrl }
    return { parts, since: lackingSince(delegation) }
  }
  if (view.roles.runners.length === 0) {
    const queueOnlyBranch = branchView?.queueOnly === true ? branch : undefined
    return { parts: { key: 'no-runners', ...repo, people, isOwner, queueOnlyBranch } }
  }
  if (asking.caller === undefined) return { parts: { key: 'signed-out', people } }
  return view.roles.mayMerge(asking.caller) ? undefined : { parts: { key: 'not-allowed', people } }
}

function ready(view: RepositoryView, pull: PullView): Shown {
  const { branch, merge, head } = pull
  const branchView = view.branches.get(branch)
  const tip = branchView?.tip
  if (merge === undefined || head === undefined || tip === undefined) return { parts: { key: 'working', branch, head, tip } }
  const beside = join(merge.changesChecks ? changesChecksWords() : undefined, merge.empty ? nothingToLandWords(branch) : undefined)
  if (branchView?.unchecked === true) return { parts: { key: 'ready-unchecked', branch }, beside }
  const runs = runsAtHead(view, pull)
  const running = runs.filter(run => isGoing(run.value))
  if (running.length > 0) {
    const starts = running.map(run => millis(run.value.startedAt) ?? millis(run.value.createdAt)).filter(time => time !== undefined)
    return {
      parts: { key: 'ready-running', running: running.length, of: runs.length, head },
      since: starts.length > 0 ? Math.min(...starts) : undefined,
      beside,
    }
  }
  const good = runs.every(run => ['passed', 'reused', 'skipped'].includes(runState(run.value)))
  const checks = runs.length === 0 ? 'none' : good ? 'passed' : 'not-all'
  const ends = runs.map(run => millis(run.value.finishedAt)).filter(time => time !== undefined)
  const position = branchView === undefined ? 1 : branchView.queue.length + 1
  return {
    parts: { key: 'ready', branch, tip, head, checks, position, length: position },
    since: ends.length > 0 ? Math.max(...ends) : undefined,
    beside,
  }
}
