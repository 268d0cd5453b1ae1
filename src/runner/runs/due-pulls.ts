/** Pulls that are to run by themselves (RUN-1, RUN-2). Pure. */
import type { PullView } from '../../queue/view.ts'
import type { RunnerSettings } from '../context.ts'
import type { Ground } from '../types.ts'

/** A pull whose head is to be merged with its branch's tip and checked. */
export interface DuePull {
  pull: string
  head: string
  branch: string
  generation: number
  tip: string
  /** CHK-2: its author and whoever holds its head may merge. */
  trusted: boolean
}

export interface PullRunsAsked {
  /** Whose pulls run by themselves; absent: nobody's. */
  setting: RunnerSettings['pulls']
  /** This runner. */
  did: string
  /** Whether it has run a pull at this head, pre-flights aside, as it remembers. */
  ran: (pull: string, head: string) => boolean
  /** Pulls in one pass at most. */
  most: number
}

/**
 * Open pulls outside the queue whose head was not run yet, oldest first: when a head moves they are due again, when a base does they are not. A queued
 * pull runs by a rerun only (RUN-1).
 */
export function duePullRuns({ view }: Ground, asked: PullRunsAsked): DuePull[] {
  if (asked.setting === undefined) return []
  const due: DuePull[] = []
  const pulls = [...view.pulls.values()].sort((a, b) => (a.pull.rkey < b.pull.rkey ? -1 : 1))
  for (const pull of pulls) {
    if (due.length >= asked.most) break
    if (pull.entry !== undefined || !covers(view.roles, pull, asked.setting)) continue
    const at = runnable(view, pull)
    if (at !== undefined && !hasRun(view, pull, at.head, asked)) due.push(at)
  }
  return due
}

/** An open pull with a head and a branch to merge it with; undefined for any other. */
export function runnable(view: Ground['view'], pull: PullView): DuePull | undefined {
  const branch = view.branches.get(pull.branch)
  if (pull.state !== 'open' || pull.head === undefined || pull.headGone || branch?.tip === undefined) return undefined
  const { uri } = pull.pull
  return {
    pull: uri,
    head: pull.head,
    branch: branch.branch,
    generation: branch.generation,
    tip: branch.tip,
    trusted: isTrusted(view.roles, pull),
  }
}

/** Whether a runner that runs these people's pulls runs this one: its author, and whoever holds its head, are of them. */
export function covers(roles: Ground['view']['roles'], pull: PullView, setting: RunnerSettings['pulls']): boolean {
  switch (setting) {
    case undefined:
      return false
    case 'all':
      return true
    case 'owner':
      return writersOf(pull).every(did => did === roles.owner)
    case 'collaborators':
      return isTrusted(roles, pull)
  }
}

function isTrusted(roles: Ground['view']['roles'], pull: PullView): boolean {
  return writersOf(pull).every(did => roles.mayMerge(did))
}

function writersOf({ pull }: PullView): string[] {
  return [pull.did, /^at:\/\/([^/]+)\//.exec(pull.value.head.repo)?.[1] ?? '']
}

function hasRun(view: Ground['view'], pull: PullView, head: string, { did, ran }: PullRunsAsked): boolean {
  const { uri } = pull.pull
  if (ran(uri, head)) return true
  return view.checksOf(uri).some(check => {
    const { commit, queue, status, verdict } = check.value
    return check.did === did && commit === head && queue !== 'first' && !(status === 'error' && verdict === 'restart')
  })
}
