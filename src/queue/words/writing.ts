/** What the gateway says of a write for an owner that git or an account server kept from being made. */
import { type Phrase, repoName, say, span } from './phrase.ts'
import { LEADS, type Refusal, type RefusalCode, type UpstreamFault, upstreamWords, type WriteAct } from './refusals.ts'

const asGitSays: ReadonlySet<string> = new Set<RefusalCode>([
  'too-large',
  'branch-moved',
  'force-refused',
  'not-allowed',
  'upstream-failed',
])

function isCode(code: string): code is RefusalCode {
  return asGitSays.has(code)
}

/** What git refuses of what was sent or asked for. `message` is git's sentence. */
export function gitRefused(act: WriteAct, fault: { code: string; message: string }): Refusal {
  const code = isCode(fault.code) ? fault.code : fault.code === 'bad-path' ? 'invalid-request' : 'not-allowed'
  return { code, message: say`${LEADS[act]}: git does not take it.`, advice: say`${fault.message}` }
}

/** The git state of the repository itself cannot be taken, so that nothing can be put on it. */
export function repositoryUnreadable(act: WriteAct, repo: { owner: string; name: string }, fault: { message: string }): Refusal {
  return {
    code: 'upstream-failed',
    message: say`${LEADS[act]}: the git state of ${repoName(repo.owner, repo.name)} could not be taken.`,
    advice: say`${fault.message}`,
  }
}

/** An account server that did not do its part. `settled`: reading has shown that nothing was written (STO-7); otherwise nothing is claimed. */
export function serverFailed(act: WriteAct, server: string, how: UpstreamFault, settled: boolean): Refusal {
  return settled
    ? {
        code: 'upstream-failed',
        message: say`${LEADS[act]}: ${server} ${upstreamWords(how)}.`,
        advice: say`Nothing was written. Try again in a minute.`,
      }
    : {
        code: 'upstream-failed',
        message: say`Not known yet: ${server} ${upstreamWords(how)}.`,
        advice: say`Whether it was written is not known; look at the branch before trying again.`,
      }
}

/** The owner's server takes no more writes for now. `wait` is in milliseconds. */
export function serverLimits(act: WriteAct, server: string, wait: number): Refusal {
  return {
    code: 'rate-limited',
    message: say`${LEADS[act]}: ${server} takes no more writes of this account just now.`,
    advice: say`Nothing was written. Try again in ${span(wait)}.`,
  }
}

/** REC-8. */
export function clocksApart(act: WriteAct, server: string): Refusal {
  return {
    code: 'clock',
    message: say`${LEADS[act]}: the clocks of this server and of ${server} are more than a minute apart.`,
    advice: say`Nothing was written. Tell whoever runs this server.`,
  }
}

/** The write lost to others again and again. */
export function tooBusy(act: WriteAct, repo: { owner: string; name: string }): Refusal {
  return {
    code: 'branch-moved',
    message: say`${LEADS[act]}: ${repoName(repo.owner, repo.name)} was changed by others each time.`,
    advice: say`Nothing was written. Try again in a minute.`,
  }
}

/** A push that is all or nothing, of which another ref was refused. */
export function notAlone(act: WriteAct): Refusal {
  return {
    code: 'not-allowed',
    message: say`${LEADS[act]}: another ref of the same push was refused.`,
    advice: say`It was asked to be all or nothing; nothing was written.`,
  }
}

/** What a crash left open turned out not to have been written, for the audit log. */
export function notWritten(): Phrase {
  return say`the server stopped in the middle, and nothing of it was written`
}

/** A commit has to say what it is. */
export function noMessage(act: WriteAct): Refusal {
  return { code: 'invalid-request', message: say`${LEADS[act]}: the message is empty.`, advice: say`Say in a line what the commit does.` }
}
