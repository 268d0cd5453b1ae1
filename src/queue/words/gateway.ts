/** What the gateway says: why it lets a move through, and why not. Batches have their own sentences, see landing.ts. */

import { code, commit, list, type Names, type Phrase, type PhrasePart, plain, repoName, say, who } from './phrase.ts'
import { branchMoved, LEADS, type Refusal, type WriteAct } from './refusals.ts'

interface Repo {
  /** The owner's DID. */
  owner: string
  /** The repository's key. */
  name: string
}

/** A pull's title and address. */
export type Titled = Extract<PhrasePart, { readonly title: string }>

/** GWY-12: the repository's record names another server, or none. */
export function wrongGateway(act: WriteAct, repo: Repo, gateway: string): Refusal {
  return {
    code: 'wrong-gateway',
    message: say`${LEADS[act]}: ${repoName(repo.owner, repo.name)} shares writing through another server, ${who(gateway)}.`,
    advice: say`Use that one, or ask ${who(repo.owner)} to name this server in the repository’s settings.`,
  }
}

/** The repository was handed over (HON-4): the record at the new address governs. */
export function repoMoved(act: WriteAct, from: Repo, to: Repo): Refusal {
  return {
    code: 'repo-not-found',
    message: say`${LEADS[act]}: ${repoName(from.owner, from.name)} moved to ${repoName(to.owner, to.name)}.`,
    advice: say`Use its new address.`,
  }
}

/** A ref that is no branch and no tag, or whose name git would not take. `ref` is its full name. */
export function notARef(act: WriteAct, ref: string): Refusal {
  return {
    code: 'not-allowed',
    message: say`${LEADS[act]}: only branches and tags are kept here, and ${code(ref)} is no name of either.`,
    advice: say`Use a name under refs/heads/ or refs/tags/.`,
  }
}

/** Two moves of one ref in one push. */
export function namedTwice(act: WriteAct, ref: string): Refusal {
  return {
    code: 'not-allowed',
    message: say`${LEADS[act]}: ${shortRef(ref)} is named twice, so which is meant cannot be told.`,
    advice: say`Name each branch and tag once.`,
  }
}

/** A merge was asked for, and the pull is onto another branch by now. */
export function retargeted(branch: string): Refusal {
  return {
    code: 'head-moved',
    message: say`${LEADS.merge}: this pull is onto ${branch} now.`,
    advice: say`Look at it as it is now. If it is still what you want, do it again.`,
  }
}

/** GWY-5: a ref is not where the asker saw it (`old`), but at `now`. Null: it is not there. */
export function refMoved(act: WriteAct, ref: string, at: { old: string | null; now: string | null }): Refusal {
  const name = shortRef(ref)
  if (act === 'land' && at.old !== null && at.now !== null) return branchMoved(name, at.now)
  const present = at.old === null ? 'is there already, at' : 'moved meanwhile, to'
  return {
    code: 'branch-moved',
    message:
      at.now === null ? say`${LEADS[act]}: there is no ${name} any more.` : say`${LEADS[act]}: ${name} ${present} ${commit(at.now)}.`,
    advice: say`Nothing is lost: fetch it and look, then do it again.`,
  }
}

/** What a move does beside going forward. */
export type Force = 'force' | 'delete'

/** Why a ref is neither forced nor deleted. `head` is an open pull of somebody else's whose head branch it is, `target` one that is onto it. */
export type ForceFault =
  | { why: 'default' }
  | { why: 'rule' }
  | { why: 'landing' }
  | { why: 'target'; pull: Titled; more: number }
  | { why: 'head'; pull: Titled }
  | { why: 'tag'; owner: string }

/** GWY-5. `ref` is the full name. */
export function forceRefused(act: WriteAct, ref: string, force: Force, fault: ForceFault): Refusal {
  const name = shortRef(ref)
  const done = force === 'force' ? 'forced' : 'deleted'
  const lead = LEADS[act]
  const stays = force === 'force' ? say`Put your commits on top of its tip instead.` : say`It stays as it is.`
  const refused = (message: Phrase, advice: Phrase): Refusal => ({ code: 'force-refused', message, advice })
  switch (fault.why) {
    case 'default':
      return refused(say`${lead}: ${name} is the default branch, which is never ${done} here.`, stays)
    case 'rule':
      return refused(say`${lead}: ${name} carries a rule, and such a branch is never ${done} here.`, stays)
    case 'landing':
      return refused(say`${lead}: a landing is never forced, and ${name} would lose commits by this one.`, stays)
    case 'target': {
      const others = fault.more === 0 ? say`${fault.pull}` : say`${fault.pull} and ${fault.more} more`
      return refused(
        say`${lead}: ${name} is the target of open pulls (${others}), and such a branch is never ${done} here.`,
        say`Close or retarget them first.`,
      )
    }
    case 'head':
      return refused(
        say`${lead}: ${name} is the head of somebody else’s open pull (${fault.pull}), which needs it.`,
        say`Close that pull first, or leave the branch to its author.`,
      )
    case 'tag':
      return refused(say`${lead}: only ${who(fault.owner)} may move or delete the tag ${name}.`, say`Make a new tag instead.`)
  }
}

/** BLD-8: a merge that would change nothing. */
export function nothingToLand(act: WriteAct, branch: string, tip: string): Refusal {
  return {
    code: 'nothing-to-land',
    message: say`${LEADS[act]}: its changes are already on ${branch} as of ${commit(tip)}.`,
    advice: say`Close it, or push what is missing.`,
  }
}

/** What the door that writes says when it cannot tell: a fact that the rules need was not had. */
export function notKnown(act: WriteAct, what: string): Refusal {
  return {
    code: 'upstream-failed',
    message: say`${LEADS[act]}: ${what} could not be read.`,
    advice: say`Nothing was written. Try again in a minute.`,
  }
}

/** As whom a move was let through, for the audit log (GWY-6, PRO-5): one line without a full stop. `size` counts a batch's pulls. */
export function writtenAs(as: 'owner' | 'collaborator' | 'lander' | 'batch' | 'spent', size = 0): Phrase {
  switch (as) {
    case 'owner':
      return say`as the owner`
    case 'collaborator':
      return say`as a collaborator`
    case 'lander':
      return say`as lander, not verified as a batch`
    case 'batch':
      return size === 1
        ? say`a batch of 1 queued pull, equal to what the gateway merged itself`
        : say`a batch of ${size} queued pulls, each equal to what the gateway merged itself`
    case 'spent':
      return say`the head branch of a pull that lands with it`
  }
}

/** GWY-13, for the audit log: what was not read at its source. Undefined when all was. */
export function takenFromIndex(what: readonly string[]): Phrase | undefined {
  return what.length === 0 ? undefined : say`taken from the index: ${list(what)}`
}

/** Why a move was refused, for the audit log: the refusal's sentence without its lead and full stop. */
export function refusedAs(refusal: Refusal): Phrase {
  const [first, ...rest] = refusal.message
  const lead = Object.values(LEADS).find(text => typeof first === 'string' && first.startsWith(`${text}: `))
  const parts = typeof first === 'string' && lead !== undefined ? [first.slice(lead.length + 2), ...rest] : refusal.message
  const last = parts.at(-1)
  return typeof last === 'string' ? say`${parts.slice(0, -1)}${last.replace(/\.$/, '')}` : parts
}

/** A phrase as the audit log keeps it: plain text on one line, times by the clock, since it is read long after. */
export function auditText(phrase: Phrase, names: Names): string {
  return oneLine(plain(byTheClock(phrase), 0, names), AUDIT_LENGTH)
}

const AUDIT_LENGTH = 1000
const REFUSAL_LENGTH = 2000

/**
 * A refusal as git's `ng` line and its `remote:` lines take it: sentence and advice on one line, no control characters, at most 2,000 characters; times
 * by the clock, since a lander puts it into the reason of an ejection, which is read long after.
 */
export function plainRefusal(refusal: Refusal, names: Names): string {
  const phrase = refusal.advice === undefined ? refusal.message : say`${refusal.message} ${refusal.advice}`
  return oneLine(plain(byTheClock(phrase), 0, names), REFUSAL_LENGTH)
}

/** What programs are told of a ref that a push may not move: why, by code, and whose fault it is. */
export interface RefusedRef {
  code: string
  /** Its full name. */
  ref: string
  /** The AT-URI of the pull that is to blame. */
  pull?: string | undefined
  /** The version of git here, where that is the question (GWY-14). */
  git?: string | undefined
}

/** A refusal as a `remote:` line that a program can read, beside the sentences for people (GWY-8). */
export function refusedLine({ code, ref, pull, git }: RefusedRef): string {
  return [`refused as ${code}: ${ref}`, pull, git === undefined ? undefined : `git ${git}`].filter(part => part !== undefined).join(' ')
}

/** Takes such a line apart, without what git prints before it; undefined for every other one. */
export function readRefusedLine(line: string): RefusedRef | undefined {
  const [, code, ref, pull, git] =
    /^refused as ([a-z-]{1,64}): (refs\/\S{1,500})(?: (at:\/\/\S{1,2000}))?(?: git (\S{1,64}))?$/.exec(line.trim()) ?? []
  return code === undefined || ref === undefined ? undefined : { code, ref, pull, git }
}

/** A ref as people say it: a branch or tag by its own name, anything else whole. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, '')
}

function byTheClock(phrase: Phrase): Phrase {
  return phrase.map(part => (typeof part === 'object' && 'time' in part ? { ...part, form: 'full' as const } : part))
}

/** Controls, format characters (such as those that turn the direction of text) and line ends become spaces. */
function oneLine(text: string, most: number): string {
  const clean = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  return clean.length > most ? `${clean.slice(0, most).toWellFormed()}…` : clean
}
