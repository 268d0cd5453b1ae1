/** Refusals of the forms on Repository settings: that nothing was written and why, then what to do. */
import { code, count, type Phrase, type PhrasePart, repoName, say, who } from './phrase.ts'

export interface SettingsRefusal {
  code: string
  message: Phrase
  advice?: Phrase | undefined
}

type Role = 'collaborator' | 'runner'

const again = say`The page shows how it is now. If you still want your change, make it again.`

const SHOWN = 80

/** What somebody typed, on one line and no longer than can be read at a glance. */
function typed(text: string): PhrasePart {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return code([...clean].length > SHOWN ? `${[...clean].slice(0, SHOWN).join('')}…` : clean)
}

/** The repository of an AT-URI, by its owner and name; another text as it is. */
function offeredTo(uri: string): PhrasePart {
  const [, owner, name] = /^at:\/\/(did:[^/]+)\/[^/]+\/([^/]+)$/.exec(uri) ?? []
  return owner === undefined || name === undefined ? typed(uri) : repoName(owner, name)
}

function changed(message: Phrase): SettingsRefusal {
  return { code: 'record-changed', message, advice: again }
}

/** Headline of the page that somebody else asked for. */
export const ownersPage = 'For the owner alone'

export const notYours = 'Only the owner sees and changes the settings of a repository.'

/** `owner` is a DID. */
export function notOwner(owner: string): SettingsRefusal {
  return {
    code: 'not-owner',
    message: say`These settings are ${who(owner)}’s: the owner alone sees and changes them.`,
    advice: say`Ask them for what you need.`,
  }
}

export function descriptionChanged(now: string): SettingsRefusal {
  return changed(
    now === ''
      ? say`Not saved: the description was taken away meanwhile.`
      : say`Not saved: the description was changed meanwhile, to “${now}”.`,
  )
}

export function defaultChanged(now: string): SettingsRefusal {
  return changed(say`Not saved: the default branch was changed meanwhile, to ${code(now)}.`)
}

export function gatewayChanged(now: string | undefined): SettingsRefusal {
  return changed(
    now === undefined
      ? say`Not saved: the gateway was taken away meanwhile.`
      : say`Not saved: the gateway was changed meanwhile, to ${code(now)}.`,
  )
}

export function transferChanged(now: string | undefined): SettingsRefusal {
  return changed(
    now === undefined
      ? say`Not done: the transfer was taken back meanwhile.`
      : say`Not done: the repository was offered to ${offeredTo(now)} meanwhile.`,
  )
}

export function takenOutMeanwhile(did: string, role: Role): SettingsRefusal {
  return changed(say`Not added: ${who(did)} was taken out as ${role} meanwhile.`)
}

export function namedMeanwhile(did: string, role: Role): SettingsRefusal {
  return changed(say`Not removed: ${who(did)} was named as ${role} meanwhile.`)
}

export function orderChanged(): SettingsRefusal {
  return changed(say`Not moved: the runners were put in another order meanwhile.`)
}

export function formerChanged(did: string): SettingsRefusal {
  return changed(say`Not done: what is remembered of ${who(did)} was changed meanwhile.`)
}

export function ruleChanged(branch: string, now: { queueOnly: boolean; pinned: boolean }): SettingsRefusal {
  const rule = [now.queueOnly ? 'takes pulls only through the queue' : 'takes pulls by any way', ...(now.pinned ? ['is pinned'] : [])].join(
    ' and ',
  )
  return changed(say`Not saved: the rule of ${code(branch)} was changed meanwhile. It now ${rule}.`)
}

export function ownAccount(did: string): SettingsRefusal {
  return { code: 'own-account', message: say`Not added: ${who(did)} owns this repository, and may do all that a collaborator may.` }
}

export function namedAlready(did: string, role: Role): SettingsRefusal {
  return { code: 'already-named', message: say`Not added: ${who(did)} is named as ${role} already.` }
}

export function tooMany(role: Role, most: number): SettingsRefusal {
  return { code: 'too-many', message: say`Not added: a repository names at most ${count(most, role)}.`, advice: say`Remove one first.` }
}

export function tooManyFormer(most: number): SettingsRefusal {
  return { code: 'too-many', message: say`Not removed: a repository remembers at most ${count(most, 'former account')}.` }
}

export function tooManyRules(most: number): SettingsRefusal {
  return {
    code: 'too-many',
    message: say`Not saved: a repository has rules for at most ${count(most, 'branch', 'branches')}.`,
    advice: say`Take one away first.`,
  }
}

/** `found` says why nobody was found, as the log-in says it. */
export function notFound(lead: string, found: { code: string; message: string; advice?: string | undefined }): SettingsRefusal {
  const { code: kind, message, advice } = found
  return { code: kind, message: say`${lead}: ${message}`, ...(advice === undefined ? {} : { advice: say`${advice}` }) }
}

export function badBranch(branch: string): SettingsRefusal {
  return {
    code: 'bad-ref',
    message: say`Not saved: ${typed(branch)} is no name of a branch.`,
    advice: say`Write it as git does, without refs/heads/. Patterns such as release/* are not taken: a rule is for one branch.`,
  }
}

export function noSuchBranch(branch: string): SettingsRefusal {
  return {
    code: 'branch-not-found',
    message: say`Not saved: there is no branch ${typed(branch)}.`,
    advice: say`Push it first, or pick another.`,
  }
}

export function tooLong(bytes: number, most: number): SettingsRefusal {
  return {
    code: 'too-large',
    message: say`Not saved: the description has ${bytes} bytes, and ${most} is the most.`,
    advice: say`Shorten it.`,
  }
}

export function badGateway(text: string): SettingsRefusal {
  return {
    code: 'bad-request',
    message:
      text === ''
        ? say`Not saved: another server is named by its DID, and none was given.`
        : say`Not saved: ${typed(text)} is no DID of a server.`,
    advice: say`It begins with did:web: or did:plc:.`,
  }
}

export function badName(name: string): SettingsRefusal {
  return {
    code: 'bad-request',
    message:
      name.trim() === ''
        ? say`Not offered: it needs a name in the other account, and none was given.`
        : say`Not offered: ${typed(name)} is no name of a repository.`,
    advice: say`Letters, digits, dots, hyphens, colons and underscores.`,
  }
}

export function toOneself(): SettingsRefusal {
  return { code: 'own-account', message: say`Not offered: that is your own account.` }
}

export function nothingAsked(): SettingsRefusal {
  return {
    code: 'bad-request',
    message: say`Nothing was written: the form lacks what it is about.`,
    advice: say`Reload the page and try again.`,
  }
}

/** The record cannot be read at its source: a form would be made from what may be old. */
export function unread(server: string): SettingsRefusal {
  return {
    code: 'upstream-failed',
    message: say`Nothing was written: ${server} does not answer, so how it is now cannot be told.`,
    advice: say`Try again in a minute.`,
  }
}

export function recordGone(): SettingsRefusal {
  return { code: 'repo-not-found', message: say`Nothing was written: the repository’s record is not there any more, or does not hold.` }
}

export function unclear(server: string): SettingsRefusal {
  return {
    code: 'upstream-failed',
    message: say`It is not known whether this was written: ${server} did not answer in time.`,
    advice: say`Try again: what was written already is not written twice.`,
  }
}

export function notWritten(server: string, saidNo: boolean): SettingsRefusal {
  return {
    code: 'upstream-failed',
    message: saidNo ? say`Nothing was written: ${server} does not take it.` : say`Nothing was written: ${server} did not answer in time.`,
    advice: saidNo ? say`Its owner may know why.` : say`Try again in a minute.`,
  }
}

export function clocks(server: string): SettingsRefusal {
  return {
    code: 'clock',
    message: say`Nothing was written: this server’s clock and that of ${server} lie more than a minute apart.`,
    advice: say`Whoever runs this server has to set its clock.`,
  }
}

/** Others wrote at every try. */
export function busy(): SettingsRefusal {
  return {
    code: 'record-changed',
    message: say`Nothing was written: the record was changed by somebody else at each try.`,
    advice: say`Try again in a moment.`,
  }
}

/** HON-4: once both records say it, it cannot be taken back. */
export function holdsAlready(to: string): SettingsRefusal {
  return {
    code: 'transfer-holds',
    message: say`Not taken back: ${who(to)} accepted it, and the repository is theirs now.`,
    advice: say`They can offer it to you in turn.`,
  }
}

export function notOffered(): SettingsRefusal {
  return {
    code: 'not-offered',
    message: say`Not accepted: the repository is not offered to you any more.`,
    advice: say`Ask its owner whether they took it back.`,
  }
}

export function nameTaken(name: string): SettingsRefusal {
  return {
    code: 'name-taken',
    message: say`Not accepted: you have a repository called ${name} already.`,
    advice: say`Ask the owner to offer it under another name.`,
  }
}

/** STO-8: the git state is copied into the new owner's account, which takes their delegation. */
export function delegateFirst(): SettingsRefusal {
  return {
    code: 'not-delegated',
    message: say`Not accepted: this server may not yet write git states to your account, and the branches have to be copied there.`,
    advice: say`Let it write for you in your settings, then come back here.`,
  }
}

/** `why` is a sentence of git's words. */
export function notCopied(why: string): SettingsRefusal {
  return { code: 'upstream-failed', message: say`Not accepted: the branches could not be copied into your account.`, advice: say`${why}` }
}

/** `why` the right to write was not granted, as the log-in says it. */
export function rightRefused(why: string): SettingsRefusal {
  if (why === 'denied') {
    return {
      code: 'denied',
      message: say`You denied the right to write this record, so nothing was written.`,
      advice: say`Continue again when you want to.`,
    }
  }
  if (why === 'too-little') {
    return {
      code: 'scope-missing',
      message: say`Your server did not grant the right to write your repository records, so nothing was written.`,
      advice: say`Continue again and leave it ticked.`,
    }
  }
  return {
    code: 'upstream-failed',
    message: say`It did not work out at your server, so there is no right to write yet.`,
    advice: say`Continue again.`,
  }
}
