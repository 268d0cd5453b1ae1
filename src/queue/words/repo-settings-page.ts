/** What Repository settings says beside its forms: what each is for, what was done, and what an edit would bring about. */
import { clock, code, count, list, type Phrase, repoName, say, who } from './phrase.ts'

export function settingsTitle(repo: string): string {
  return `Settings · ${repo}`
}

export const settingsDescription = 'Runners, collaborators, protection and gateway.'

export const sections = {
  general: say`What the repository is, and the branch that pulls go onto unless they say otherwise.`,
  runners: say`Who checks pulls and lands the queue. A runner that is also the owner or a collaborator lands; if none is, the first one named does.`,
  collaborators: say`They may queue pulls, take them out, merge, push and close. When you remove one, what they queued drops out at once; what they took out stays out.`,
  former: say`Accounts that were taken out. What they took out of the queue or closed still counts, up to the day they left. Make one void if it should not.`,
  protection: say`A rule is for one branch, by its exact name. It does not bind your own pushes.`,
  queueOnly: say`nobody merges a pull or pushes past it, not even a collaborator.`,
  pinned: say`when a pull by somebody who may not queue changes after it was queued, it is taken out until somebody who may looks and queues it again.`,
  gateway: say`The server that writes to your account for a runner that is not you, and for collaborators who push or merge. It lands nothing that breaks the rules.`,
  transfer: say`Both owners have to say it: you offer the repository here, and the new owner accepts it on this same page. Until then nothing changes.`,
} as const

/** PRO-4. */
export function noRunnerWarning(branches: readonly string[]): Phrase {
  const takes = branches.length === 1 ? 'takes' : 'take'
  return say`${list(branches.map(code))} ${takes} pulls only through the queue, and no runner is named that would land one: nothing lands there until you name one.`
}

/** Before somebody is taken out; `last` of a runner that no other stands beside. */
export function removeQuestion(role: 'collaborator' | 'runner', did: string, last = false): Phrase {
  if (role === 'collaborator') {
    return say`Remove ${who(did)}? What they queued drops out at once, and queueing it again puts it at the back.`
  }
  const nobody = last ? say` No runner is left then: pulls are merged by hand.` : ''
  return say`Remove ${who(did)}? Its checks are shown no more; what it turned away stays out.${nobody}`
}

/** Of two rows for one branch. */
export const doubled: Phrase = say`More than one rule names it; the stricter holds. Saving a change makes one of them.`

/** How a runner runs, as far as its own record says; empty where it says nothing. */
export function runsAs({ executor, version }: { executor?: string | undefined; version?: string | undefined }): string {
  const isolation = executor === undefined ? [] : [executor === 'host' ? 'runs not isolated' : 'isolated runs']
  return [...isolation, ...(version === undefined ? [] : [`knotless ${version}`])].join(', ')
}

/** Before the right to write the record is granted. `host` is the account's server. */
export function rightWords(host: string): Phrase {
  return say`To change anything here, let this server write your ${code('dev.knotless.repo')} records. ${host} asks you once; you come back to this page.`
}

/** What a form does, on its button. */
const verbs: Readonly<Record<string, string>> = {
  general: 'Save',
  'add-runner': 'Add runner',
  'remove-runner': 'Remove runner',
  'move-runner': 'Move runner',
  'add-collaborator': 'Add collaborator',
  'remove-collaborator': 'Remove collaborator',
  void: 'Make void',
  protection: 'Save protection',
  gateway: 'Save gateway',
  offer: 'Offer it',
  'take-back': 'Take it back',
}

export function verbOf(form: string): string {
  return (Object.hasOwn(verbs, form) ? verbs[form] : undefined) ?? 'Save'
}

/** Of a form that was sent before there was a right to write. */
export function keptWords(verb: string): Phrase {
  return say`What you sent is kept, and nothing is written yet: “${verb}”.`
}

/** After a form, what it did. */
const done = {
  general: say`Saved.`,
  add: say`Added.`,
  remove: say`Removed.`,
  move: say`Moved.`,
  void: say`Made void: nothing of it counts any more.`,
  gateway: say`Saved.`,
  protection: say`Saved.`,
  offer: say`Offered.`,
  'take-back': say`Taken back.`,
  accept: say`Accepted: the repository is yours now.`,
  already: say`It is so already; nothing was written.`,
} satisfies Record<string, Phrase>

export type DoneKey = keyof typeof done

/** Undefined for a word that no form is answered with. */
export function doneWords(key: string): Phrase | undefined {
  return isDone(key) ? done[key] : undefined
}

function isDone(key: string): key is DoneKey {
  return Object.hasOwn(done, key)
}

export function pendingWords(to: { owner: string; name: string }, since: number | undefined, now: number): Phrase {
  const at = since === undefined ? '' : say` since ${clock(since, now)}`
  return say`Offered to ${repoName(to.owner, to.name)}${at}. It goes on as yours until ${who(to.owner)} accepts it on this page.`
}

/** On the repository’s page, to the one that it is offered to. */
export function offerWords(owner: string): Phrase {
  return say`${who(owner)} offers you this repository.`
}

export function offeredWords(from: { owner: string; name: string }, to: { owner: string; name: string }): Phrase {
  return say`${who(from.owner)} offers you ${code(from.name)}. If you accept, it goes on as ${repoName(to.owner, to.name)} with the settings it has now; the branches are copied into your account, and pulls keep their places.`
}

/** STO-8: said before they try. */
export const delegateWords: Phrase = say`The branches are copied by this server, which you have to let write for you first.`

/** In the new owner's audit log. */
export function copiedWords(from: string): string {
  return `Copied from ${from}, which you accepted.`
}

/** Said before a former account is made void (HON-5); `pulls` are what would come back. */
export function voidWords(did: string, pulls: readonly { title: string; pull: string }[], more: number): Phrase {
  if (pulls.length === 0) return say`What ${who(did)} took out or closed counts no more. No pull comes back by that.`
  const all = pulls.length + more
  return say`What ${who(did)} took out or closed counts no more, so ${count(all, 'pull comes', 'pulls come')} back: ${list(pulls, more)}.`
}

export const unreadNow: Phrase = say`Your server does not answer, so this is how it was last seen. A form writes only what is still so.`
