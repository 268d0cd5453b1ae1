import type { Frame, RepoHead } from './frame.ts'
import type { Account, Instant, RefusalWords, Words } from './words.ts'

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
}

export interface SessionLine {
  id: string
  /** Made from the User-Agent header, such as "Firefox on Linux". */
  name: string
  since: Instant
  usedAt: Instant
  current: boolean
}

/** The account: its sessions. */
export interface SettingsPage {
  frame: Frame & { viewer: Account }
  /** Host of the server that keeps the account. */
  host?: string | undefined
  sessions: readonly SessionLine[]
  refused?: RefusalWords | undefined
}

/** 404. `says` names what was looked for, when the address said it. */
export interface NotFoundPage {
  frame: Frame
  says?: Words | undefined
  advice?: Words | undefined
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
  refused: RefusalWords
  /** Where to go on. */
  back: { href: string; name: string }
}
