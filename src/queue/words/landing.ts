/** Why a push is not the batch of queued pulls that a lander may land (GWY-3, GWY-4, GWY-11). The first commit that is wrong is named. */
import { shortRef, type Titled } from './gateway.ts'
import { ago, code, commit, count, join, list, type Phrase, say } from './phrase.ts'
import { notABatch, type Refusal } from './refusals.ts'

/** What is wrong with the push or with one of its commits. Commits are whole ids; `ref` is a full name. */
export type BatchFault =
  | { what: 'not-moved' }
  | { what: 'makes-branch'; branch: string }
  | { what: 'too-long'; most: number }
  | { what: 'off-the-tip'; branch: string; tip: string }
  | { what: 'no-commits' }
  | { what: 'other-ref'; ref: string }
  | { what: 'not-one-parent'; commit: string; parents: number }
  | { what: 'out-of-line'; commit: string; parent: string }
  | { what: 'unclean'; commit: string }
  | { what: 'no-pull'; commit: string }
  | { what: 'other-repository'; commit: string }
  | { what: 'unknown-pull'; commit: string }
  | { what: 'twice'; commit: string; first: string }

/** GWY-4, of the form of the batch. */
export function batchRefused(fault: BatchFault): Refusal {
  return notABatch(batchWords(fault))
}

function batchWords(fault: BatchFault): Phrase {
  switch (fault.what) {
    case 'not-moved':
      return say`It moves no branch forward, and only with one that it lands on may it delete others.`
    case 'makes-branch':
      return say`It makes the branch ${fault.branch}, and a batch lands on one that is there.`
    case 'too-long':
      return say`It brings more than ${fault.most} commits, and a batch holds at most that many.`
    case 'off-the-tip':
      return say`Its commits do not lead back to ${fault.branch} at ${commit(fault.tip)} by first parents.`
    case 'no-commits':
      return say`It brings no commits.`
    case 'other-ref':
      return say`It also touches ${code(shortRef(fault.ref))}: beside the branch, only the spent head branches of its own pulls may be deleted.`
    case 'not-one-parent':
      return say`Commit ${commit(fault.commit)} has ${count(fault.parents, 'parent')}, and each commit of a batch has one.`
    case 'out-of-line':
      return say`Commit ${commit(fault.commit)} does not stand on ${commit(fault.parent)}, the one before it.`
    case 'unclean':
      return say`The message of commit ${commit(fault.commit)} is too long, or holds control characters.`
    case 'no-pull':
      return say`Commit ${commit(fault.commit)} names no pull: the last line of its message has to be the address of one.`
    case 'other-repository':
      return say`Commit ${commit(fault.commit)} names a pull of another repository.`
    case 'unknown-pull':
      return say`Commit ${commit(fault.commit)} names a pull that is not there: its author may have deleted it.`
    case 'twice':
      return say`Commit ${commit(fault.commit)} names the pull that ${commit(fault.first)} brings already.`
  }
}

/** Why one pull of a batch may not land. Commits are whole ids, times in milliseconds since 1970. */
export type MemberFault =
  | { what: 'closed' | 'merged'; at?: number | undefined }
  | { what: 'draft' }
  | { what: 'not-queued'; last?: { what: 'ejected' | 'left'; at: number } | undefined }
  | { what: 'other-branch'; queuedFor: string; branch: string }
  | { what: 'changed'; branch: string }
  | { what: 'head-moved'; head: string }
  | { what: 'head-gone' }
  | { what: 'unread'; message: string }
  | { what: 'conflict'; head: string; parent: string; files: readonly string[] }
  | { what: 'tree-differs'; commit: string; head: string; parent: string }
  | { what: 'empty'; commit: string; parent: string }

const builtAgain = say`Nothing is lost; the queue builds again without it.`

/** GWY-4, of a pull that a commit of the batch is said to be. */
export function memberRefused(pull: Titled, fault: MemberFault): Refusal {
  switch (fault.what) {
    case 'closed':
    case 'merged': {
      const was = fault.at === undefined ? say`is ${fault.what}` : say`was ${fault.what} ${ago(fault.at)}`
      return { code: 'pull-not-open', message: say`Not landed: ${pull} ${was}.`, advice: builtAgain }
    }
    case 'draft':
      return { code: 'draft', message: say`Not landed: ${pull} is a draft, and drafts are held.`, advice: builtAgain }
    case 'not-queued':
      return { code: 'not-queued', message: say`Not landed: ${pull} ${notQueuedWords(fault.last)}.`, advice: builtAgain }
    case 'other-branch':
      return {
        code: 'not-queued',
        message: say`Not landed: ${pull} is queued for ${fault.queuedFor} and not for ${fault.branch}.`,
        advice: builtAgain,
      }
    case 'changed':
      return {
        code: 'head-moved',
        message: say`Not landed: ${pull} changed after it was queued, and ${fault.branch} takes only what its queuer saw.`,
        advice: say`Look at it and queue it again.`,
      }
    case 'head-moved':
      return {
        code: 'head-moved',
        message: say`Not landed: ${pull} moved to ${commit(fault.head)} after it was squashed.`,
        advice: say`Nothing is lost; the queue builds again with the new head.`,
      }
    case 'head-gone':
      return {
        code: 'head-moved',
        message: say`Not landed: the head branch of ${pull} is gone.`,
        advice: say`Push it again, then add it again.`,
      }
    case 'unread':
      return {
        code: 'upstream-failed',
        message: say`Not landed: this server could not merge ${pull} itself, to compare.`,
        advice: join(say`${fault.message}`, say`Nothing was written. Try again in a minute.`),
      }
    case 'conflict':
      return {
        code: 'conflict',
        message: say`Not landed: at ${commit(fault.head)} ${pull} does not apply on ${commit(fault.parent)}.`,
        advice: fault.files.length === 0 ? undefined : say`These files conflict: ${list(fault.files.map(code))}.`,
        files: fault.files,
      }
    case 'tree-differs':
      return {
        code: 'tree-differs',
        message: say`Not landed: commit ${commit(fault.commit)} holds other files than this server gets by merging ${pull} at ${commit(fault.head)} onto ${commit(fault.parent)}.`,
        advice: say`Two versions of git can merge differently: compare the runner’s with this server’s. Nobody is turned away for it.`,
      }
    case 'empty':
      return {
        code: 'nothing-to-land',
        message: say`Not landed: commit ${commit(fault.commit)} of ${pull} changes nothing on ${commit(fault.parent)}.`,
        advice: say`No empty commit lands. Close the pull, or push what is missing.`,
      }
  }
}

function notQueuedWords(last: { what: 'ejected' | 'left'; at: number } | undefined): Phrase {
  if (last === undefined) return say`is not queued`
  return last.what === 'ejected' ? say`was ejected ${ago(last.at)}` : say`was taken out of the queue ${ago(last.at)}`
}

/** GWY-11. `missing` are the selected workflows without a pass at `tip`, each with what stands there instead. */
export function checksMissing(branch: string, tip: string, missing: readonly { workflow: string; status: string }[]): Refusal {
  return {
    code: 'checks-failed',
    message: say`Not landed: at ${commit(tip)} not every check for ${branch} has passed: ${list(missing.map(one => `${one.workflow} (${one.status})`))}.`,
    advice: say`The lander’s own run of each has to pass there, be skipped by its paths, or be reused from the same files.`,
    workflows: missing.map(one => one.workflow),
  }
}
