/** How sentences reach a page: made by the words of `src/queue`, rendered here. */
import type { Phrase } from '../../queue/words/phrase.ts'

export type { Names, Phrase, PhrasePart, TimeForm } from '../../queue/words/phrase.ts'

/** A time in milliseconds since 1970, or as an ISO 8601 string, as XRPC answers carry it. */
export type Instant = number | string

export interface Account {
  did: string
  /** Absent when it does not resolve; the DID is shown then. */
  handle?: string | undefined
}

/** A sentence: in parts, or as plain text where no part has markup (the text of an XRPC answer is one). */
export type Words = string | Phrase

/** A label: a word, its octicon and its tone. */
export interface LabelLine {
  word: string
  icon: string
  tone: string
}

/** A right that has to be given first: what is asked, where the account's server is asked for it, and what came of asking. */
export interface RightLine {
  says: Words
  host: string
  href: string
  refused?: RefusalWords | undefined
}

/** An expected refusal, as `src/queue/words/refusals.ts` makes it or as an XRPC answer carries it. */
export interface RefusalWords {
  code: string
  message: Words
  advice?: Words | undefined
  files?: readonly (string | { path: string })[] | undefined
  /** Files that are not listed. */
  moreFiles?: number | undefined
  workflows?: readonly (string | { name: string })[] | undefined
}

export interface Permission {
  allowed: boolean
  refusal?: RefusalWords | undefined
}
