/** How sentences reach a page: made by the words of `src/queue`, rendered here. */

/** A time in milliseconds since 1970, or as an ISO 8601 string, as XRPC answers carry it. */
export type Instant = number | string

/** How a time is said: since then, until then as a span, as clock time, as a day, as both. */
export type TimeForm = 'ago' | 'for' | 'clock' | 'day' | 'full'

export interface Account {
  did: string
  /** Absent when it does not resolve; the DID is shown then. */
  handle?: string | undefined
}

/** One part of a sentence. A string is shown as it is; everything else has markup of its own. */
export type PhrasePart =
  | string
  | { time: Instant; form: TimeForm }
  | { code: string }
  | { account: Account | string }
  | { title: string; pull: string }

export type Phrase = readonly PhrasePart[]

/** A sentence: in parts, or as plain text where no part has markup (the text of an XRPC answer is one). */
export type Words = string | Phrase

/** Names of `data-tone`; an unknown one is shown as neutral. */
export type Tone = 'success' | 'attention' | 'danger' | 'accent' | 'done' | 'neutral'

/** An expected refusal: the code for programs, the rest for people. */
export interface RefusalWords {
  code: string
  message: Words
  advice?: Words | undefined
  files?: readonly { path: string }[] | undefined
  moreFiles?: number | undefined
  workflows?: readonly { name: string }[] | undefined
}

export interface Permission {
  allowed: boolean
  refusal?: RefusalWords | undefined
}
