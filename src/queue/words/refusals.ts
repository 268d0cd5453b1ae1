/** Refusals: a code for programs, that it did not happen and why, then what to do. The same object in pages, XRPC and the command line. */
import { ago, code, commit, join, list, type Phrase, place, repoName, say, span, who } from './phrase.ts'

export type RefusalCode =
  | 'repo-not-found'
  | 'pull-not-found'
  | 'branch-not-found'
  | 'not-allowed'
  | 'signed-out'
  | 'no-runners'
  | 'pull-not-open'
  | 'draft'
  | 'already-queued'
  | 'not-queued'
  | 'conflict'
  | 'checks-failed'
  | 'queue-only'
  | 'not-delegated'
  | 'wrong-gateway'
  | 'not-lander'
  | 'force-refused'
  | 'tree-differs'
  | 'nothing-to-land'
  | 'clock'
  | 'branch-moved'
  | 'head-moved'
  | 'not-a-batch'
  | 'requeue-limit'
  | 'spaces-unsupported'
  | 'upstream-failed'
  | 'too-large'
  | 'rate-limited'
  | 'invalid-request'

/** A refusal as a value. Files, workflows and people (DIDs) are whole where a sentence names only the first. */
export interface Refusal {
  code: RefusalCode
  message: Phrase
  advice?: Phrase | undefined
  files?: readonly string[] | undefined
  /** Files that are not listed. */
  moreFiles?: number | undefined
  workflows?: readonly string[] | undefined
  people?: readonly string[] | undefined
}

/** What was asked for. */
export type Act = 'queue' | 'leave' | 'merge' | 'rerun' | ChangeAct

/** What was asked of the pull itself: to change its state or whether it is a draft. */
export type ChangeAct = 'close' | 'reopen' | 'ready' | 'draft'

/** What was asked of the gateway: a push, a landing, a merge, a commit. */
export type WriteAct = 'push' | 'land' | 'merge' | 'commit'

/** What else can be refused: a runner's report. */
export type OtherAct = 'report'

/** How a refusal of an act starts. */
export const LEADS: Readonly<Record<Act | WriteAct | OtherAct, string>> = {
  queue: 'Not queued',
  leave: 'Nothing done',
  merge: 'Not merged',
  push: 'Not pushed',
  land: 'Not landed',
  commit: 'Not committed',
  report: 'Not taken',
  rerun: 'Not run again',
  close: 'Not closed',
  reopen: 'Not reopened',
  ready: 'Not marked as ready',
  draft: 'Not made a draft',
}

/** How a delegation stands that does not let this server write. Times in milliseconds since 1970. */
export type NoDelegation =
  | { state: 'never' }
  | { state: 'withdrawn'; at: number }
  | { state: 'lost'; at: number; why: 'revoked' | 'expired' | 'moved' }

interface Repo {
  /** The owner's DID. */
  owner: string
  /** The repository's key. */
  name: string
}

export function repoNotFound(name: string): Refusal {
  return {
    code: 'repo-not-found',
    message: say`There is no repository ${name} here.`,
    advice: say`Check the spelling, or ask its owner whether it moved.`,
  }
}

export function pullNotFound(): Refusal {
  return { code: 'pull-not-found', message: say`There is no such pull.`, advice: say`Its author may have deleted it.` }
}

export function branchNotFound(repo: Repo, branch: string, branches: readonly string[]): Refusal {
  return {
    code: 'branch-not-found',
    message: say`${repoName(repo.owner, repo.name)} has no branch ${branch}.`,
    advice: branches.length === 0 ? say`It has no branches yet.` : say`Pick one of: ${list(branches)}.`,
  }
}

/** The pull's head branch is gone: there is nothing to land. */
export function headGone(act: Act, head: string, repo: Repo): Refusal {
  return {
    code: 'branch-not-found',
    message: say`${LEADS[act]}: its branch ${code(head)} no longer exists in ${repoName(repo.owner, repo.name)}.`,
    advice: act === 'merge' ? say`Push it again, then merge it.` : say`Push it again, then add it.`,
  }
}

/** ADM-1. `people` are the DIDs of owner and collaborators. */
export function notAllowed(act: Act | WriteAct | OtherAct, people: readonly string[]): Refusal {
  return {
    code: 'not-allowed',
    message: say`${LEADS[act]}: only ${list(people.map(who))} can do that here.`,
    advice: people.length === 1 ? say`Ask them.` : say`Ask one of them.`,
    people,
  }
}

export function signedOut(act: Act, people: readonly string[]): Refusal {
  return {
    code: 'signed-out',
    message: say`${LEADS[act]}: you are not logged in.`,
    advice: say`Log in first; ${list(people.map(who))} can do that here.`,
    people,
  }
}

/** ADM-2; with `mergeInto` PRO-4: a merge (or another `act`) into a branch whose queue nothing lands. */
export function noRunners(repo: Repo, mergeInto?: string, act: WriteAct = 'merge'): Refusal {
  const name = repoName(repo.owner, repo.name)
  if (mergeInto !== undefined) {
    return {
      code: 'no-runners',
      message: say`${LEADS[act]}: ${mergeInto} takes pulls only through the queue, and ${name} names no runner that would land one.`,
      advice: say`The owner can name a runner, or take the rule off ${mergeInto}.`,
    }
  }
  return {
    code: 'no-runners',
    message: say`Not queued: ${name} names no runner, so nothing would land it.`,
    advice: say`Its pulls are merged by hand; the owner can name a runner.`,
  }
}

/** ADM-3. Without a time the pull's record or its author's account is gone. */
export function pullNotOpen(act: Act, state: 'closed' | 'merged', at?: number): Refusal {
  const what = at === undefined ? say`this pull is ${state}` : say`this pull was ${state} ${ago(at)}`
  return {
    code: 'pull-not-open',
    message: say`${LEADS[act]}: ${what}.`,
    advice: state === 'merged' || at === undefined ? say`Open a new one.` : say`Reopen it first, or open a new one.`,
  }
}

export function isDraft(act: Act): Refusal {
  return {
    code: 'draft',
    message: say`${LEADS[act]}: this pull is a draft.`,
    advice: act === 'merge' ? say`Mark it as ready, then merge it.` : say`Mark it as ready, then add it.`,
  }
}

/** ADM-4: an answer rather than an error. */
export function alreadyQueued(position: number, length: number): Refusal {
  return {
    code: 'already-queued',
    message: say`It is already queued, ${place(position, length)}.`,
    advice: say`It keeps its place; nothing was written.`,
  }
}

/** ADM-8. `what` ended its last place in the queue; without it there never was one. */
export function notQueued(last?: { what: 'ejected' | 'left' | 'closed' | 'landed'; at?: number | undefined }): Refusal {
  const advice = say`Nothing was written.`
  if (last === undefined) return { code: 'not-queued', message: say`It is not in the queue.`, advice }
  const what = { ejected: 'ejected', left: 'taken out', closed: 'closed', landed: 'landed' }[last.what]
  const since = last.at === undefined ? say`${what}` : say`${what} ${ago(last.at)}`
  return { code: 'not-queued', message: say`It is not in the queue any more: ${since}.`, advice }
}

/**
 * Git cannot tell whether it applies (ADM-5): the state of the repository that it is onto or of its head's could not be taken (`repo`), or the two
 * cannot be merged. `message` is git's sentence.
 */
export function notMergeable(
  act: Act,
  fault: { of: 'target' | 'head' | 'merge'; code: string; message: string; passing: boolean },
  at: { branch: string; repo: Repo },
): Refusal {
  const whose = say`the git state of ${repoName(at.repo.owner, at.repo.name)} could not be taken`
  const why = fault.of === 'merge' ? say`it cannot be merged with ${at.branch}` : whose
  const code = fault.of === 'merge' ? 'conflict' : 'upstream-failed'
  const push = fault.of === 'target' ? say`${who(at.repo.owner)} can mend that by pushing again.` : say`Push it again, then add it.`
  const mended = fault.code === 'unrelated' ? say`Rebase it onto ${at.branch}, push, and add it.` : push
  return {
    code: fault.code === 'too-large' ? 'too-large' : code,
    message: say`${LEADS[act]}: ${why}.`,
    advice: join(say`${fault.message}`, fault.passing ? say`Try again in a minute.` : mended),
  }
}

/** ADM-5. `more` files conflict beside those listed. */
export function conflict(act: Act, parts: { branch: string; tip: string; files: readonly string[]; more: number }): Refusal {
  const { branch, tip, files, more } = parts
  const named = files.length === 0 ? undefined : say`These files conflict: ${list(files.map(code), more)}.`
  const again = act === 'merge' ? say`Merge or rebase ${branch} and push.` : say`Merge or rebase ${branch}, push, and add it again.`
  return {
    code: 'conflict',
    message: say`${LEADS[act]}: it does not apply on ${branch} at ${commit(tip)}.`,
    advice: join(named, again),
    files,
    moreFiles: more,
  }
}

/** ADM-6. */
export function checksFailed(parts: { workflows: readonly string[]; head: string; branch: string }): Refusal {
  return {
    code: 'checks-failed',
    message: say`Not queued: ${list(parts.workflows)} failed at ${commit(parts.head)} merged with ${parts.branch}.`,
    advice: say`Push a fix, or read the log.`,
    workflows: parts.workflows,
  }
}

/** PRO-3, GWY-2. */
export function queueOnly(branch: string, act: WriteAct = 'merge'): Refusal {
  return {
    code: 'queue-only',
    message: say`${LEADS[act]}: ${branch} takes pulls only through the queue.`,
    advice: act === 'merge' ? say`Add it to the merge queue instead.` : say`Open a pull onto ${branch} and add it to the merge queue.`,
  }
}

/**
 * GWY-1, ADM-10. Without `delegation` nothing is said of why. `settingsUrl` is where the owner gives it.
 */
export function notDelegated(
  act: Act | WriteAct,
  owner: string,
  isOwner: boolean,
  more: { delegation?: NoDelegation | undefined; settingsUrl?: string | undefined } = {},
): Refusal {
  const whom = isOwner ? say`you` : say`${who(owner)}`
  const why = more.delegation === undefined ? [] : say`, ${whyNone(more.delegation)}`
  const where = more.settingsUrl === undefined ? [] : say` (${code(more.settingsUrl)})`
  return {
    code: 'not-delegated',
    message: say`${LEADS[act]}: this server may not write for ${whom}${why}.`,
    advice: isOwner
      ? say`Give the delegation in your settings${where}.`
      : say`Ask ${whom} to give the delegation in their settings${where}.`,
  }
}

/** Why there is none, after what cannot be done without: "…, as no delegation was given". */
export function whyNone(delegation: NoDelegation): Phrase {
  if (delegation.state === 'never') return say`as no delegation was given`
  if (delegation.state === 'withdrawn') return say`as the delegation was withdrawn ${ago(delegation.at)}`
  switch (delegation.why) {
    case 'revoked':
      return say`as the delegation was revoked at the account’s server ${ago(delegation.at)}`
    case 'expired':
      return say`as the delegation ran out ${ago(delegation.at)}`
    case 'moved':
      return say`as the account moved to another server ${ago(delegation.at)} and the delegation does not move with it`
  }
}

export function notLander(asker: string, lander: string | undefined): Refusal {
  return {
    code: 'not-lander',
    message:
      lander === undefined
        ? say`Not landed: ${who(asker)} does not land this repository’s queues.`
        : say`Not landed: ${who(asker)} does not land this repository’s queues; ${who(lander)} does.`,
  }
}

/** REC-8: clocks more than a minute apart. `apart` is in milliseconds. */
export function clockApart(act: Act, server: string, apart: number): Refusal {
  return {
    code: 'clock',
    message: say`${LEADS[act]}: the clocks of this server and of ${server} are ${span(Math.abs(apart))} apart.`,
    advice: say`Nothing was written. Order in a queue is by clock, so this has to be mended first; tell whoever runs this server.`,
  }
}

export function branchMoved(branch: string, tip: string): Refusal {
  return {
    code: 'branch-moved',
    message: say`Not landed: ${branch} moved to ${commit(tip)} meanwhile.`,
    advice: say`Nothing is lost; the queue builds again on the new tip.`,
  }
}

export function headMoved(act: Act, head: string): Refusal {
  return {
    code: 'head-moved',
    message: say`${LEADS[act]}: this pull moved to ${commit(head)} while you looked.`,
    advice: say`The page shows the new head now. If it is still what you want, do it again.`,
  }
}

export function notABatch(detail: string | Phrase): Refusal {
  return { code: 'not-a-batch', message: say`Not landed: the push is not a batch of queued pulls.`, advice: say`${detail}` }
}

export function requeueLimit(): Refusal {
  return {
    code: 'requeue-limit',
    message: say`Not requeued: twice at this head is the limit.`,
    advice: say`Push a new head, or let a person add it again.`,
  }
}

export function spacesUnsupported(server: string): Refusal {
  return {
    code: 'spaces-unsupported',
    message: say`Not made: private repositories need an account server that keeps private spaces, and ${server} does not yet.`,
    advice: say`It is not made public instead.`,
  }
}

const upstreamFaults = {
  silent: 'did not answer in time',
  unreachable: 'could not be reached',
  garbage: 'answered with something that cannot be used',
  /** Silence, a broken connection or garbage: after a write it makes no difference which. */
  unclear: 'gave no answer that can be used',
  refused: 'refused the write',
}

/** What was wrong with an account server. */
export type UpstreamFault = keyof typeof upstreamFaults

/** The same as the end of a sentence about the server. */
export function upstreamWords(how: UpstreamFault): string {
  return upstreamFaults[how]
}

/**
 * An account server that was silent, refused, or answered with what cannot be used. `settled` says that reading has shown that nothing was
 * written (STO-7); otherwise nothing is claimed.
 */
export function upstreamFailed(act: Act, server: string, how: UpstreamFault, settled: boolean): Refusal {
  const what = upstreamWords(how)
  return settled
    ? { code: 'upstream-failed', message: say`${LEADS[act]}: ${server} ${what}.`, advice: say`Nothing was written. Try again in a minute.` }
    : {
        code: 'upstream-failed',
        message: say`Not known yet: ${server} ${what}.`,
        advice: say`Whether it was written is not known; this page shows it as soon as it is.`,
      }
}

export function tooLarge(what: string, size: string, limit: string): Refusal {
  return { code: 'too-large', message: say`Not taken: ${what} is ${size}, and ${limit} is the limit.` }
}

/** `wait` is in milliseconds. */
export function rateLimited(wait: number): Refusal {
  return { code: 'rate-limited', message: say`Too many requests from you just now.`, advice: say`Try again in ${span(wait)}.` }
}
