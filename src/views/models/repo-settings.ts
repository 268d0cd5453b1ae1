import type { Frame, RepoHead } from './frame.ts'
import type { Account, Instant, RefusalWords, Words } from './words.ts'

/** What a form carries of what it was made from, so that two editors do not undo each other. */
export interface FormBase {
  cid: string
  /** Hidden fields by name. */
  was: Readonly<Record<string, string>>
}

/** What was typed into a form that is shown again. */
export type Typed = Readonly<Record<string, string>>

/** Which part of the page a form belongs to. */
export type SettingsSection = 'general' | 'runners' | 'collaborators' | 'former' | 'protection' | 'gateway' | 'transfer'

export interface RuleRow {
  branch: string
  queueOnly: boolean
  pinned: boolean
  /** What the form shows, in two letters. */
  was: string
  /** More than one row of the record names it. */
  doubled: boolean
}

/** Repository settings, for its owner. */
export interface RepoSettingsPage {
  frame: Frame
  repo: RepoHead
  /** The owner's server does not answer: this is how the record was last seen. */
  old?: Words | undefined
  /** What the buttons beside names are made from. */
  now: { cid: string; runner: string; collaborator: string; to: string }
  /** The right to write the record is still to be granted. `href` leads to the account's server, and back here. */
  right?: { says: Words; host: string; href: string; refused?: RefusalWords | undefined } | undefined
  /** A form that was sent before there was a right to write: all of it, to be sent again by one button. */
  kept?: { form: string; verb: string; what: Words; sent: Typed } | undefined
  /** What came of the last form, shown in its section. */
  said?: { section: SettingsSection; refused?: RefusalWords | undefined; notice?: RefusalWords | undefined } | undefined
  sections: Readonly<Record<SettingsSection | 'queueOnly' | 'pinned', Words>>
  general: { base: FormBase; description: string; defaultBranch: string; branches: readonly string[] }
  runners: readonly {
    account: Account
    question: Words
    lands: boolean
    seen?: Instant | undefined
    /** How it runs, as far as its own record says. */
    how?: string | undefined
    above?: string | undefined
    below?: string | undefined
  }[]
  /** `question` is asked before one is taken out, where scripts run. */
  collaborators: readonly { account: Account; question: Words }[]
  /** For the forms that name and take out. */
  people: { runner: FormBase; collaborator: FormBase; typed: { runner: string; collaborator: string } }
  former: readonly {
    account: Account
    roles: readonly string[]
    until?: Instant | undefined
    isVoid: boolean
    again: boolean
    href: string
  }[]
  protection: {
    base: FormBase
    rows: readonly RuleRow[]
    added: { branch: string; queueOnly: boolean; pinned: boolean }
    warning?: Words | undefined
    doubled: Words
  }
  gateway: { base: FormBase; choice: 'this' | 'none' | 'other'; did: string; here: string; delegated: boolean }
  transfer: { base: FormBase; pending?: Words | undefined; typed: { handle: string; name: string } }
}

/** The question before a former account is made void (HON-5). */
export interface RepoSettingsVoidPage {
  frame: Frame
  repo: RepoHead
  account: Account
  says: Words
  base: FormBase
}

/** The new owner's half of a transfer (HON-4). */
export interface RepoSettingsAcceptPage {
  frame: Frame
  repo: RepoHead
  says: Words
  right?: RepoSettingsPage['right']
  refused?: RefusalWords | undefined
  /** Said where the delegation that copying the branches takes is not given. */
  delegate?: Words | undefined
}
