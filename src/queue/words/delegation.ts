/** What Settings say of a delegation and of the log of what was written (GWY-6, GWY-7). Each is a sentence or more, with its full stop. */
import type { DelegationState } from '../asking.ts'
import { ago, code, count, list, type Phrase, repoName, say } from './phrase.ts'

const day = (time: number): Phrase => say`${{ time, form: 'day' }}`

const idle = 'nothing can be pushed to your repositories or merged in them here, and only you yourself can land their queues'

/** Where a delegation stands, to the owner. `host` is the server that keeps the account. */
export function delegationWords(delegation: DelegationState, host: string | undefined): Phrase {
  const server = host === undefined ? say`your account’s server` : say`${code(host)}`
  switch (delegation.state) {
    case 'never':
      return say`This server writes nothing for you yet: ${idle}.`
    case 'given': {
      const until = delegation.until === undefined ? say`` : say`, until ${day(delegation.until)} at the latest, when ${server} ends it`
      return say`This server may write to your account. You gave it that right on ${day(delegation.since)}${until}.`
    }
    case 'withdrawn':
      return say`You took it back ${ago(delegation.at)}. This server writes nothing for you any more: ${idle}.`
    case 'lost':
      return say`${lostWords(delegation.why, delegation.at, server)} This server writes nothing for you any more: ${idle}.`
  }
}

function lostWords(why: 'revoked' | 'expired' | 'moved', at: number, server: Phrase): Phrase {
  switch (why) {
    case 'revoked':
      return say`It was revoked at ${server}, or that server ended it; this was noticed ${ago(at)}.`
    case 'expired':
      return say`It ran out ${ago(at)}. Give it again, and what waits goes on.`
    case 'moved':
      return say`Your account moved to another server, noticed ${ago(at)}, and a delegation does not move with it. Give it again there.`
  }
}

/** What a delegation is for, and what it covers. */
export const delegationSays = {
  what: say`Your account takes writes from you alone, so a runner cannot land queued pulls in your repositories, and collaborators cannot push or merge. With a delegation this server writes for them, as your gateway: only what the rules below let through, and each write is listed at the end of this page.`,
  covers: say`It covers all repositories of your account, those of today and those to come; a repository that names another gateway is left alone.`,
  may: [
    say`land queued pulls on your branches, in batches that passed their checks`,
    say`record those pulls as merged, and close the issues they name`,
    say`push, merge and commit what you or a collaborator ask for, where the branch allows it`,
    say`put a pull back into the queue when it was turned away for no fault of its own`,
  ],
  mayNot: [
    say`force or delete your default branch or one with a rule`,
    say`move a branch that takes pulls only through the queue for anybody but its lander, and for a named runner only to what it has merged itself and compared`,
    say`touch anything that is not a knotless record: posts, profile, follows`,
    say`read or change your password, or give this right to anyone else`,
  ],
  withdraw: say`Taking it back works at once: the next write is refused, and pulls that were about to land are ejected with that reason.`,
  confirm: 'Withdraw the delegation? From then on this server refuses merges, pushes and landings in all your repositories.',
  exactly: (host: string | undefined) =>
    say`You are sent to ${host === undefined ? say`your account’s server` : code(host)}, which shows exactly what you allow.`,
  asks: (host: string) =>
    say`Continue at ${code(host)}. It asks for your password and shows what you allow: to create and update ${code('dev.knotless.refs')}, to create ${code('dev.knotless.state')} and ${code('dev.knotless.queue')}, and to upload packs. You come back here.`,
} as const

/** Which repositories wait for a delegation: those whose queues are landed through this server. Undefined when none does. */
export function waitingWords(repos: readonly { owner: string; name: string; queued: number }[]): Phrase | undefined {
  if (repos.length === 0) return undefined
  const named = repos.map(repo => say`${repoName(repo.owner, repo.name)} with ${repo.queued} queued`)
  return say`${count(repos.length, 'repository waits', 'repositories wait')} for it: ${list(named)}.`
}

/** The log, where it says something of its own. */
export const auditWords = {
  what: say`Every write and every refusal; nothing here can be changed. Kept for 400 days.`,
  none: say`This server has written nothing for you yet.`,
  /** Of the line that counts what is not kept one by one. */
  summed: () => ({ code: 'summed', reason: 'more refusals of this account in the same hour, counted and not kept one by one' }),
  more: (n: number) => `${n} more`,
  /** After whoever asked: how. */
  by: { push: 'by push', merge: 'by merge', commit: 'by commit' },
  /** After the reason of a line that is not settled. */
  begun: 'begun, and not known yet whether it was written',
} as const
