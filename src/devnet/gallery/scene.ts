/** What the gallery is made of: states of the merge box, each a pull whose records put it there. */
import type { DevAccount } from '../account.ts'

/** Who looks: by first name, or nobody who is logged in. */
export type Looker = 'alice' | 'bob' | 'ivy' | 'mallory' | 'dave' | 'erin' | 'nobody'

/** One state of the merge box, as one pull shows it. */
export interface Scene {
  /** Name of the state, of letters, digits and hyphens; one of a kind. */
  id: string
  /** Which part of the order of precedence it belongs to. */
  group: Group
  /** What is the case, for a person who looks for it in the list. */
  title: string
  /** The pull's AT-URI, and the repository that it is in. */
  pull: string
  repo: Repo
  as: Looker
  /** A button that brings it about, pressed on the pull's page. */
  press?: string
  /** What it is about cannot be read, so that the server never gets to know more of it. */
  unread?: boolean
}

/** A repository of the gallery. */
export interface Repo {
  uri: string
  name: string
  owner: DevAccount
}

/** The parts of the order of precedence, the first that is true first. */
export const groups = [
  'Merged',
  'Closed',
  'Draft',
  'Landing',
  'In a batch',
  'Queued',
  'Ejected',
  'What git says',
  'Checks failed',
  'No delegation',
  'No runners',
  'Not allowed',
  'Ready',
  'When it says no',
] as const

export type Group = (typeof groups)[number]
