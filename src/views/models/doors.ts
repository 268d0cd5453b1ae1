import type { Frame, RepoHead } from './frame.ts'
import type { Account, Instant, LabelLine, RefusalWords, Words } from './words.ts'

/** The way in. */
export interface LoginPage {
  frame: Frame
  /** Where it goes afterwards: a path on this server. */
  next: string
  /** What `next` is, in a few words, such as "alice.test/orchard, the queue for main". */
  nextName?: string | undefined
  /** What was typed, when it led nowhere. */
  handle?: string | undefined
  refused?: RefusalWords | undefined
}

/** The step before the account's own server: a link, as a form may not redirect there. */
export interface LoginContinuePage {
  frame: Frame
  account: Account
  /** Host of the server that keeps the account, as its own sign-in page shows it. */
  host: string
  /** The authorization address. */
  href: string
  next: string
  /** Of what is allowed there beside a log-in, and where else to go. */
  asks?: { says: Words; back: { href: string; name: string } } | undefined
}

export interface SessionLine {
  id: string
  /** Made from the User-Agent header, such as "Firefox on Linux". */
  name: string
  since: Instant
  usedAt: Instant
  current: boolean
}

/** A delegation as its sheet shows it. */
export interface DelegationSheet {
  state: 'never' | 'given' | 'withdrawn' | 'lost'
  label: LabelLine
  says: Words
  what: Words
  covers: Words
  may: readonly Words[]
  mayNot: readonly Words[]
  /** Which repositories wait for it. */
  waiting?: Words | undefined
  /** What withdrawing does, and the question before it; or what giving leads to. */
  next: Words
  confirm: string
}

/** A line of what was written for an owner. */
export interface AuditRow {
  id: number
  at: Instant
  caller: Account
  /** How they asked. */
  by: string
  /** The repository, and the branch or tag in it; of a line that sums there is no ref. */
  repo: { owner: Account; name: string }
  ref?: string | undefined
  /** Commits; absent where there was nothing before, or is nothing after. */
  from?: string | undefined
  to?: string | undefined
  verdict: LabelLine
  why: string
}

/** The account: its delegation, its sessions, and what was written for it. */
export interface SettingsPage {
  frame: Frame & { viewer: Account }
  /** Host of the server that keeps the account. */
  host?: string | undefined
  delegation: DelegationSheet
  sessions: readonly SessionLine[]
  audit: {
    rows: readonly AuditRow[]
    says: Words
    none: Words
    /** Rows `from` to `to` of `of`. */
    paging: { from: number; to: number; of: number; newest?: string | undefined; older?: string | undefined }
  }
  refused?: RefusalWords | undefined
  notice?: RefusalWords | undefined
}

/** 404. `says` names what was looked for, when the address said it. */
export interface NotFoundPage {
  frame: Frame
  says?: Words | undefined
  advice?: Words | undefined
  /** The repository that the address begins with. */
  repo?: RepoHead | undefined
  /** Repositories that may be meant. */
  near?: readonly { owner: Account; name: string }[] | undefined
}

/** How a queue works and what the labels mean. */
export interface HelpPage {
  frame: Frame
  meanings: readonly { of: string; rows: readonly { label: LabelLine; says: string }[] }[]
}

/** 500. */
export interface ErrorPage {
  frame: Frame
  /** The number that is in the log. */
  id: string
}

/** A refusal that has no box to come back into: a form sent from elsewhere, too many requests, a lost token. */
export interface RefusedPage {
  frame: Frame
  repo?: RepoHead | undefined
  /** Instead of "Not done", where nothing was to be done. */
  headline?: string | undefined
  refused: RefusalWords
  /** Where to go on. */
  back: { href: string; name: string }
}
