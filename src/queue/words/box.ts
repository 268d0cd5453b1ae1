/** What the merge box says: a headline, then why and what to do. */
import type { Tone } from './labels.ts'
import { clock, code, commit, count, join, list, ordinal, type Phrase, passedOf, place, repoName, say, who } from './phrase.ts'
import { type NoDelegation, whyNone } from './refusals.ts'
import { type StandingParts, standingWords } from './standing.ts'

/** Commits are whole ids, people are DIDs, times milliseconds since 1970. */
export type BoxParts =
  | {
      key: 'merged'
      branch: string
      commit?: string | undefined
      by: string
      /** Size of the batch it landed in; absent when it landed in none. */
      size?: number | undefined
      /** The owner’s account records it, and it was not queued: what a person merged through the gateway. */
      unqueued?: boolean | undefined
      /** Every check of that batch is known to have passed. */
      checked: boolean
      queuedBy?: string | undefined
      /** Its head branch, which is gone since. */
      deleted?: string | undefined
    }
  /** `later`: how many came, where that is known; `size` and `queuedBy` as of what is merged. */
  | {
      key: 'merged-later'
      branch: string
      commit: string
      by: string
      later?: number | undefined
      head: string
      size?: number | undefined
      queuedBy?: string | undefined
    }
  | { key: 'merged-not-there'; branch: string; commit?: string | undefined; by: string; owner: string }
  | { key: 'closed'; by?: string | undefined }
  | { key: 'draft'; queuedBy?: string | undefined; ejectedBy?: string | undefined; author: string }
  /** `moved`: the branch is at its tip, and its states are being recorded. */
  | { key: 'landing'; branch: string; size: number; by: string; tip: string; moved?: boolean | undefined }
  /** A merged record that the branch has not been read for yet (STA-5). */
  | { key: 'landing-recorded'; branch: string; commit?: string | undefined; by: string }
  | {
      key: 'in-batch'
      size: number
      position: number
      branch: string
      base: string
      passed: number
      of: number
      /** Passes that were taken over, beside those. */
      reused: number
      running: readonly string[]
    }
  | { key: 'in-ahead'; size: number; under: number; outcome?: 'passed' | 'red' | undefined }
  | { key: 'queued'; position: number; length: number; preflights: readonly string[]; why: Phrase }
  /** `unnamed`: the key of a repository that names no runner, so that there is none to wait for. */
  | {
      key: 'queued-stranded'
      unnamed?: string | undefined

      position: number
      length: number
      since?: number | undefined
      now: number
      owner: string
      isOwner: boolean
    }
  | { key: 'ejected'; reason: string; says: Phrase }
  /** `files` says how many are named. */
  | { key: 'conflict'; branch: string; tip: string; files: number }
  | { key: 'checks-failed'; names: readonly string[]; head: string; branch: string; tip: string }
  | { key: 'head-gone'; head: string; owner: string; name: string }
  | { key: 'branch-gone'; branch: string; owner: string; name: string }
  /** Git cannot tell what it comes to. `message` says why; `owner` and `name` are of the repository whose state it is. */
  | {
      key: 'unreadable'
      of: 'target' | 'head' | 'merge'
      code: string
      message: string
      passing: boolean
      branch: string
      owner: string
      name: string
    }
  | { key: 'gateway-owner'; branch: string; delegation: NoDelegation }
  /** `settingsUrl` is where the owner delegates. */
  | { key: 'gateway-other'; owner: string; delegation: NoDelegation; settingsUrl?: string | undefined }
  | { key: 'no-runners'; owner: string; name: string; people: readonly string[]; isOwner: boolean; queueOnlyBranch?: string | undefined }
  | { key: 'not-allowed'; people: readonly string[] }
  | { key: 'signed-out'; people: readonly string[] }
  | { key: 'working'; branch: string; head?: string | undefined; tip?: string | undefined }
  | { key: 'ready-unchecked'; branch: string }
  | { key: 'ready-running'; running: number; of: number; head: string }
  | {
      key: 'ready'
      branch: string
      tip: string
      head: string
      checks: 'passed' | 'none' | 'not-all'
      position: number
      length: number
    }

/** A key of the merge box (`dev.knotless.defs#box`); "landing-recorded" is shown as landing. */
export type BoxKey = Exclude<BoxParts['key'], 'landing-recorded'> | 'queued-flight'

export const boxTones: Readonly<Record<BoxKey, Tone>> = {
  merged: 'done',
  'merged-later': 'done',
  'merged-not-there': 'danger',
  closed: 'danger',
  draft: 'neutral',
  landing: 'accent',
  'in-batch': 'accent',
  'in-ahead': 'accent',
  queued: 'attention',
  'queued-flight': 'attention',
  'queued-stranded': 'danger',
  ejected: 'danger',
  conflict: 'danger',
  'checks-failed': 'danger',
  'head-gone': 'danger',
  'branch-gone': 'danger',
  unreadable: 'danger',
  'gateway-owner': 'danger',
  'gateway-other': 'neutral',
  'no-runners': 'neutral',
  'not-allowed': 'neutral',
  'signed-out': 'neutral',
  working: 'neutral',
  ready: 'success',
  'ready-running': 'success',
  'ready-unchecked': 'attention',
}

/** The key, headline and sentences of a box. Headlines have no full stop. */
export function boxWords(parts: BoxParts): { key: BoxKey; headline: Phrase; says: Phrase } {
  const box = (headline: Phrase, says: Phrase, key?: BoxKey) => ({
    key: key ?? (parts.key === 'landing-recorded' ? 'landing' : parts.key),
    headline,
    says,
  })
  const stands = (standing: StandingParts, says: Phrase, key?: BoxKey) => box(standingWords(standing), says, key)
  switch (parts.key) {
    case 'merged':
      return stands({ kind: 'merged', branch: parts.branch, commit: parts.commit }, mergedSays(parts))
    case 'merged-later':
      return stands({ kind: 'merged', branch: parts.branch, commit: parts.commit }, mergedLaterSays(parts))
    case 'merged-not-there': {
      const people = parts.by === parts.owner ? who(parts.by) : say`${who(parts.by)} or ${who(parts.owner)}`
      const what =
        parts.commit === undefined
          ? say`${who(parts.by)} recorded it as merged without naming a commit, so nothing shows that it landed.`
          : say`${who(parts.by)} recorded ${commit(parts.commit)} as the merged commit, and ${parts.branch} does not contain it. Nothing has landed.`
      return stands({ kind: 'merged-not-there', branch: parts.branch, commit: parts.commit }, say`${what} Ask ${people} to look at it.`)
    }
    case 'closed':
      return stands(
        { kind: 'closed' },
        parts.by === undefined ? say`Its record or its author’s account is gone.` : say`${who(parts.by)} closed it.`,
      )
    case 'draft':
      return stands({ kind: 'draft' }, draftSays(parts))
    case 'landing':
      return stands(
        { kind: 'landing' },
        parts.moved === true
          ? say`Every check of its batch of ${parts.size} passed. ${who(parts.by)} moved ${parts.branch} to ${commit(parts.tip)} and records that it landed. This takes a few seconds.`
          : say`Every check of its batch of ${parts.size} passed and ${who(parts.by)} is moving ${parts.branch} to ${commit(parts.tip)} now. This takes a few seconds.`,
      )
    case 'landing-recorded': {
      const what = parts.commit === undefined ? say`it` : commit(parts.commit)
      return stands(
        { kind: 'landing' },
        say`${who(parts.by)} recorded ${what} as merged. This page says so once it has read ${parts.branch} again; it is too late to leave.`,
      )
    }
    case 'in-batch':
      return stands({ kind: 'in-batch', size: parts.size }, inBatchSays(parts))
    case 'in-ahead':
      return stands({ kind: 'in-ahead', size: parts.size, outcome: parts.outcome }, aheadSays(parts))
    case 'queued':
      return stands(
        { kind: 'queued', position: parts.position, length: parts.length, preflights: parts.preflights },
        parts.why,
        parts.preflights.length === 0 ? 'queued' : 'queued-flight',
      )
    case 'queued-stranded': {
      if (parts.unnamed !== undefined) {
        const name = repoName(parts.owner, parts.unnamed)
        return box(
          say`Queued, ${place(parts.position, parts.length)}, but no runner is named`,
          say`${name} names no runner, so nothing lands it; it keeps its place. ${parts.isOwner ? say`Name a runner, and it goes on.` : say`Tell ${who(parts.owner)}.`}`,
        )
      }
      const seen = parts.since === undefined ? say`None yet.` : say`None since ${clock(parts.since, parts.now)}.`
      const advice = parts.isOwner ? say`Start a runner, and it goes on.` : say`Tell ${who(parts.owner)}.`
      return box(
        say`Queued, ${place(parts.position, parts.length)}, but no lander has been seen`,
        say`${seen} Nothing moves until one is ${parts.since === undefined ? 'there' : 'back'}; it keeps its place. ${advice}`,
      )
    }
    case 'ejected':
      return stands({ kind: 'ejected', reason: parts.reason }, parts.says)
    case 'conflict':
      return box(
        say`Conflicts with ${parts.branch}`,
        join(
          say`It does not apply on ${parts.branch} at ${commit(parts.tip)}. Merge or rebase ${parts.branch}, push, and add it.`,
          parts.files === 0 ? undefined : say`These files need a hand:`,
        ),
      )
    case 'checks-failed':
      return box(
        say`${list(parts.names)} failed at this head`,
        say`Run on ${commit(parts.head)} merged with ${parts.branch} at ${commit(parts.tip)}. Push a fix: a new head is checked afresh.`,
      )
    case 'head-gone':
      return box(
        say`Its branch is gone`,
        say`${code(parts.head)} no longer exists in ${repoName(parts.owner, parts.name)}, so there is nothing to land. Push it again.`,
      )
    case 'branch-gone':
      return box(
        say`There is no branch ${parts.branch}`,
        say`${repoName(parts.owner, parts.name)} has no branch ${parts.branch}, so there is nothing to land on.`,
      )
    case 'unreadable':
      return box(unreadableHeadline(parts), unreadableSays(parts))
    case 'gateway-owner':
      return box(
        say`This server may not land pulls for you${parts.delegation.state === 'never' ? ' yet' : ''}`,
        say`It may not write to your account, ${whyNone(parts.delegation)}, so its queue cannot move ${parts.branch}. Give the delegation in your settings; you can take it back at any time.`,
      )
    case 'gateway-other':
      return box(
        say`This server may not land pulls for ${who(parts.owner)}`,
        say`It may not write to their account, ${whyNone(parts.delegation)}. Ask ${who(parts.owner)} to give the delegation in their settings${parts.settingsUrl === undefined ? '' : say` (${code(parts.settingsUrl)})`}.`,
      )
    case 'no-runners':
      return box(say`No runner lands pulls here`, noRunnersSays(parts))
    case 'not-allowed':
      return box(
        say`You cannot queue pulls here`,
        parts.people.length === 1
          ? say`Only ${list(parts.people.map(who))} can. Ask them to look at it.`
          : say`${list(parts.people.map(who))} can. Ask one of them to look at it.`,
      )
    case 'signed-out':
      return box(say`Log in to queue this`, say`${list(parts.people.map(who))} can queue pulls here.`)
    case 'working':
      return box(say`Looking whether it applies`, workingSays(parts))
    case 'ready-unchecked':
      return box(
        say`Ready, and nothing checks ${parts.branch}`,
        say`No workflow on ${parts.branch} runs on a pull into it: a batch passes with nothing run.`,
      )
    case 'ready-running':
      return box(
        say`Ready to queue`,
        say`${parts.running} of ${count(parts.of, 'check')} ${parts.running === 1 ? 'is' : 'are'} still running at ${commit(parts.head)}. You need not wait: the queue checks it again with the others.`,
      )
    case 'ready': {
      const applies = say`It applies on ${parts.branch} at ${commit(parts.tip)}`
      const checks = {
        passed: say`${applies} and its checks at ${commit(parts.head)} passed.`,
        none: say`${applies}. No check has run at ${commit(parts.head)} yet; the queue checks it with the others.`,
        'not-all': say`${applies}. Not every check at ${commit(parts.head)} passed, but none failed on ${parts.branch} as it is now.`,
      }[parts.checks]
      const where =
        parts.length === 1 ? say`The queue is empty: it would be first.` : say`It would be ${place(parts.position, parts.length)}.`
      return box(say`Ready to land`, join(checks, where))
    }
  }
}

function mergedLaterSays({ later, head, size, by, queuedBy }: Extract<BoxParts, { key: 'merged-later' }>): Phrase {
  const one = later === 1
  const what =
    later === undefined
      ? say`What was pushed to ${code(head)} since did not land, and is still on that branch. Open a new pull for it.`
      : say`${count(later, 'later commit')} did not land. ${one ? 'It was' : 'They were'} pushed to ${code(head)} while it landed, and ${one ? 'is' : 'are'} still on that branch. Open a new pull for ${one ? 'it' : 'them'}.`
  return join(
    what,
    size === undefined ? undefined : say`It landed in a batch of ${size} by ${who(by)}.`,
    queuedBy === undefined ? undefined : say`Queued by ${who(queuedBy)}.`,
  )
}

function mergedSays(parts: Extract<BoxParts, { key: 'merged' }>): Phrase {
  if (parts.unqueued === true) {
    return say`Merged on its own, not through a queue. The commit names who merged it; ${who(parts.by)}’s account records it.`
  }
  const how =
    parts.size === undefined
      ? say`${who(parts.by)} merged it by hand.`
      : say`In a batch of ${parts.size} by ${who(parts.by)}${parts.checked ? ', after every check of it passed' : ''}.`
  return join(
    how,
    parts.queuedBy === undefined ? undefined : say`Queued by ${who(parts.queuedBy)}.`,
    parts.deleted === undefined ? undefined : say`Its branch ${code(parts.deleted)} was deleted.`,
  )
}

function draftSays(parts: Extract<BoxParts, { key: 'draft' }>): Phrase {
  if (parts.ejectedBy !== undefined) {
    return say`${who(parts.author)} made it a draft while it was queued, so ${who(parts.ejectedBy)} took it out. Leaving draft does not queue it again.`
  }
  if (parts.queuedBy !== undefined) {
    return say`A draft cannot be queued. ${who(parts.queuedBy)} had queued it, so it is held out of the queue until it is ready or a lander takes it out.`
  }
  return say`A draft cannot be queued. Nothing else is in the way.`
}

function inBatchSays(parts: Extract<BoxParts, { key: 'in-batch' }>): Phrase {
  const { size, passed, of, reused, running } = parts
  const which = size === 1 ? 'alone in its batch,' : `${ordinal(parts.position)} of ${size}`
  const where = say`It is ${which} on ${parts.branch} at ${commit(parts.base)}.`
  if (of === 0 && reused === 0) return say`${where} No workflow runs on it.`
  const over = reused === 0 ? undefined : say`${count(reused, 'pass was', 'passes were')} taken over from earlier runs of the same files.`
  if (of === 0) return join(where, over)
  if (running.length === 0) return join(where, say`${passedOf(passed, of)}.`, over)
  const one = running.length === 1
  const runs =
    passed === 0
      ? say`${list(running)} ${one ? 'is' : 'are'} being run.`
      : say`${passedOf(passed, of)}; ${list(running)} ${one ? 'is' : 'are'} still running.`
  return join(where, runs, over)
}

function aheadSays(parts: Extract<BoxParts, { key: 'in-ahead' }>): Phrase {
  const under = say`the batch of ${parts.under} being checked`
  if (parts.outcome === 'passed') return say`Every check of its batch passed. It stands on ${under} and lands once that one has.`
  if (parts.outcome === 'red') {
    return say`A check of its batch failed, which is decided only once ${under} has landed: if that one does not, neither verdict counts.`
  }
  return say`Its batch stands on ${under} and lands only if that one does.`
}

function noRunnersSays(parts: Extract<BoxParts, { key: 'no-runners' }>): Phrase {
  const name = repoName(parts.owner, parts.name)
  const advice = parts.isOwner ? say`Name a runner in its settings, and pulls can be queued.` : undefined
  if (parts.queueOnlyBranch !== undefined) {
    return join(
      say`${name} names no runner, and ${parts.queueOnlyBranch} takes pulls only through the queue, so nothing lands until a runner is named or the rule is lifted.`,
      parts.isOwner ? advice : say`Ask ${who(parts.owner)}.`,
    )
  }
  return join(say`${name} names no runner, so its pulls are merged by hand by ${list(parts.people.map(who))}.`, advice)
}

function unreadableHeadline({ of, code, branch }: Extract<BoxParts, { key: 'unreadable' }>): Phrase {
  if (of === 'target') return say`${branch} cannot be read`
  if (of === 'head') return say`Its head cannot be read`
  return code === 'unrelated' ? say`Nothing in common with ${branch}` : say`It cannot be merged`
}

function unreadableSays({ of, code, message, passing, branch, owner, name }: Extract<BoxParts, { key: 'unreadable' }>): Phrase {
  const whose = of === 'merge' ? undefined : say`The git state of ${repoName(owner, name)} could not be taken.`
  const mended = of === 'target' ? say`${who(owner)} can mend that by pushing again.` : say`A new push to its branch is looked at again.`
  const advice = code === 'unrelated' ? say`Rebase it onto ${branch} and push.` : mended
  return join(whose, say`${message}`, passing ? say`It is tried again by itself.` : advice)
}

function workingSays(parts: Extract<BoxParts, { key: 'working' }>): Phrase {
  if (parts.head === undefined) return say`Its head has not been read yet. This page fills in by itself.`
  if (parts.tip === undefined) return say`${parts.branch} has not been read yet. This page fills in by itself.`
  return say`Merging ${commit(parts.head)} with ${parts.branch} at ${commit(parts.tip)} to see. This page fills in by itself.`
}
